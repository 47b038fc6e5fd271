//go:build !amd64

package crc32c

const fast = false

func update(crc uint32, _ []byte) uint32 { return crc }
