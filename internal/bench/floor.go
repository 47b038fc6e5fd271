package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// floor is what any honest decoder must do: read the file once, and run CRC32c
// over what the frames carry. Without sum it touches one octet of each header.
func floor(path string, sum bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, 512<<10)
	var header [24]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return err
	}
	have, total := 0, uint32(0)
	for {
		n, err := f.Read(buf[have:])
		have += n
		at := 0
		for have-at >= 16 {
			k := int(binary.LittleEndian.Uint32(buf[at+8:]))
			if have-at < 16+k {
				break
			}
			b := buf[at+16 : at+16+k]
			if !sum {
				total += uint32(b[12]) + uint32(b[23]) + uint32(b[46])
			} else if len(b) > 54 {
				total ^= crc32.Update(0, table, b[54:])
			}
			at += 16 + k
		}
		have = copy(buf, buf[at:have])
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	fmt.Println(total)
	return nil
}
