package capture_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// Reading 64 MiB from memory, so that what is measured is the copy into the
// block and the taking apart.
func BenchmarkRead(b *testing.B) {
	for _, format := range []string{"pcap", "pcapng"} {
		for _, size := range []int{64, 1500, 9000} {
			b.Run(fmt.Sprintf("%s/%d", format, size), func(b *testing.B) {
				data := benchFile(format, size, 64<<20)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				frames := 0
				for b.Loop() {
					frames = 0
					f := capture.Open([]string{"-"}, bytes.NewReader(data), capture.Options{})
					for {
						blk, err := f.Next()
						if err == io.EOF {
							break
						}
						if err != nil {
							b.Fatal(err)
						}
						frames += len(blk.Frames)
						blk.Release()
					}
					f.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*frames), "ns/frame")
			})
		}
	}
}

// benchFile is a file of about total octets with frames of the given size.
func benchFile(format string, size, total int) []byte {
	f := capture.Frame{Data: make([]byte, size), Len: size}
	var b []byte
	if format == "pcap" {
		b = capture.AppendPcapHeader(b, capture.LinkEthernet, 0)
	} else {
		b = capture.AppendSectionHeader(b, "")
		b = capture.AppendInterface(b, capture.LinkEthernet, 0, "")
	}
	for len(b) < total {
		f.Time += 1000
		if format == "pcap" {
			b = capture.AppendPcapRecord(b, &f)
		} else {
			b = capture.AppendEnhancedPacket(b, 0, &f)
		}
	}
	return b
}
