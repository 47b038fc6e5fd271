package decode_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// captures returns all shipped captures.
func captures(t testing.TB) []string {
	var names []string
	for _, pattern := range []string{"*.pcap", "*/*.pcap.gz"} {
		found, err := filepath.Glob(filepath.Join(pcaps, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) < 55 {
		t.Fatalf("only %d captures", len(names))
	}
	return names
}

// printed returns what is printed of captures as JSON.
func printed(t testing.TB, o decode.Options, blockSize int, names ...string) string {
	src := capture.Open(names, nil, capture.Options{BlockSize: blockSize})
	defer src.Close()
	var out bytes.Buffer
	j := report.NewJSON(&out)
	o.Messages, o.FPDUs, o.Operations = true, true, true
	stats, err := decode.Run(src, j, o)
	if err != nil {
		t.Fatal(err)
	}
	j.Summary(&stats)
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The output is the same, octet for octet, for any number of workers and any
// size of block.
func TestWorkersAndBlocks(t *testing.T) {
	names := captures(t)
	compare := func(t *testing.T, names ...string) {
		want := printed(t, decode.Options{Upper: decode.AutoUpper(), Workers: 1}, 0, names...)
		for _, tt := range []struct{ workers, block int }{{2, 0}, {3, 4096}, {8, 65536}, {1, 4096}} {
			got := printed(t, decode.Options{Upper: decode.AutoUpper(), Workers: tt.workers}, tt.block, names...)
			if got != want {
				g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
				for i := range w {
					if i >= len(g) || g[i] != w[i] {
						t.Fatalf("%d workers, blocks of %d: line %d is\n%s, want\n%s", tt.workers, tt.block, i+1, g[min(i, len(g)-1)], w[i])
					}
				}
				t.Fatalf("%d workers, blocks of %d: %d lines, want %d", tt.workers, tt.block, len(g), len(w))
			}
		}
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) { compare(t, name) })
	}
	t.Run("all", func(t *testing.T) { compare(t, names...) })
}

// both is two sinks.
type both struct{ a, b qp.Sink }

func (s both) Message(m *qp.Message)     { s.a.Message(m); s.b.Message(m) }
func (s both) FPDU(f *qp.FPDU)           { s.a.FPDU(f); s.b.FPDU(f) }
func (s both) Operation(o *qp.Operation) { s.a.Operation(o); s.b.Operation(o) }
func (s both) Event(e *qp.Event)         { s.a.Event(e); s.b.Event(e) }
func (s both) QP(q *qp.Summary)          { s.a.QP(q); s.b.QP(q) }
