package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/iwdump/iwdump/capture"
)

// A capture is read to its end, past any damage.
func Example() {
	file := capture.AppendPcapHeader(nil, capture.LinkEthernet, 0)
	for n := range 3 {
		file = capture.AppendPcapRecord(file, &capture.Frame{
			Data: make([]byte, 60),
			Len:  1514,
			Time: 1_700_000_000_000000000 + int64(n)*1000,
		})
	}
	file = file[:len(file)-10] // the disk was full

	src := capture.Open([]string{"-"}, bytes.NewReader(file), capture.Options{})
	defer src.Close()
	for {
		block, err := src.Next()
		if err == io.EOF {
			break
		}
		if damage, ok := errors.AsType[*capture.Error](err); ok {
			fmt.Println(damage)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		for i := range block.Frames {
			f := &block.Frames[i]
			fmt.Println(f.Number, f.Time, len(f.Data), f.Len, f.Link)
		}
		block.Release()
	}
	// Output:
	// 1 1700000000000000000 60 1514 ETHERNET
	// 2 1700000000000001000 60 1514 ETHERNET
	// standard input: frame 3 at offset 176: the file ends inside a record, 66 octets into it
}
