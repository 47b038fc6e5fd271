package capture_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// A file that grows by a record, and by half of one, each time its end is met.
func TestFollow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	record := capture.AppendPcapRecord(nil, &capture.Frame{Data: []byte("0123456789"), Len: 10, Time: 1e18})
	parts := [][]byte{capture.AppendPcapHeader(nil, capture.LinkEthernet, 100), record, record[:7], record[7:], record}
	src := capture.Open([]string{name}, nil, capture.Options{Follow: func() bool {
		if len(parts) == 0 {
			return false
		}
		file.Write(parts[0])
		parts = parts[1:]
		return true
	}})
	defer src.Close()
	frames := 0
	for {
		b, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		frames += len(b.Frames)
		b.Release()
	}
	if frames != 3 {
		t.Errorf("%d frames, want 3", frames)
	}
}
