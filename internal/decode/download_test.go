package decode_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/internal/decode"
)

// TestDownloads sends each shipped capture of iWARP as a file over TCP, and
// captures that from the middle. Whole FPDUs with right CRCs are in it, and yet
// it is not iWARP.
func TestDownloads(t *testing.T) {
	for _, name := range captures(t) {
		if strings.Contains(name, "send-bw-s1-t64") {
			continue // packets of nothing but FPDUs, 60 KB each: the limit that package mpa states
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			file := contents(t, name)
			r := rand.New(rand.NewPCG(1, uint64(len(file))))
			for _, mss := range []int{536, 1448, 8948, 60000} {
				for range 3 {
					at := r.IntN(max(1, len(file)-100))
					if part := file[at:min(len(file), at+1<<20)]; claimed(t, part, mss) {
						t.Errorf("from octet %d of the file on, in segments of %d, it is iWARP", at, mss)
					}
				}
			}
		})
	}
}

// claimed says whether octets that one side sends, captured without the start
// of the connection, are taken for iWARP.
func claimed(t *testing.T, octets []byte, mss int) bool {
	w := &world{r: rand.New(rand.NewPCG(1, 2))}
	w.side[0].stream, w.side[0].known = octets, make([]bool, len(octets))
	for at := 0; at < len(octets); at += mss {
		w.frame(segment{off: uint64(at), end: uint64(min(len(octets), at+mss))}, 0x10, 0)
	}
	got := &records{}
	if _, err := decode.Run(&source{frames: w.frames}, got, decode.Options{Workers: 1, FPDUs: true}); err != nil {
		t.Fatal(err)
	}
	return len(got.qps) > 0
}

// contents returns what a file holds, decompressed.
func contents(t *testing.T, name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		b, err = io.ReadAll(z)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
