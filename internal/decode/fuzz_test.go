package decode_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/report"
)

// FuzzRun reads any octets as a capture, prints all that can be printed of it,
// and demands that octets add up, and that workers and blocks do not matter.
func FuzzRun(f *testing.F) {
	for _, name := range captures(f) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				f.Fatal(err)
			}
			if b, err = io.ReadAll(z); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(b[:min(len(b), 6000)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		once := func(workers, block int) string {
			src := capture.Open([]string{"-"}, bytes.NewReader(b), capture.Options{BlockSize: block})
			defer src.Close()
			var out bytes.Buffer
			j := report.NewJSON(&out)
			r := &records{}
			o := decode.Options{Upper: decode.AutoUpper(), Workers: workers, Messages: true, FPDUs: true, Operations: true, KeepPayload: 100}
			stats, err := decode.Run(src, both{j, r}, o)
			if err != nil {
				t.Fatal(err)
			}
			j.Summary(&stats)
			j.Flush()
			for i := range r.qps {
				for side, c := range r.qps[i].Stream {
					if c.Octets != c.Framed+c.Skipped+c.Missing {
						t.Fatalf("QP %d side %d: %+v does not add up", i, side, c)
					}
				}
			}
			return out.String()
		}
		if a, b := once(1, 0), once(3, 512); a != b {
			t.Fatalf("one worker prints\n%s\nthree\n%s", a, b)
		}
		src := capture.Open([]string{"-"}, bytes.NewReader(b), capture.Options{})
		defer src.Close()
		text := report.NewText(io.Discard, report.TextOptions{Tree: true, Dump: true, FPDUs: true})
		if _, err := decode.Run(src, text, decode.Options{Upper: decode.AutoUpper(), Workers: 1, Messages: true, FPDUs: true, KeepPayload: 100}); err != nil {
			t.Fatal(err)
		}
	})
}
