package capture

import (
	"io"
	"time"
)

// A follower reads a file that grows: at its end it waits for more.
type follower struct {
	io.Reader
	wait func() bool
}

// followEvery is how often a file is looked at for more.
const followEvery = 100 * time.Millisecond

func (f *follower) Read(p []byte) (int, error) {
	for {
		n, err := f.Reader.Read(p)
		if n > 0 || err != io.EOF || !f.wait() {
			return n, err
		}
		time.Sleep(followEvery)
	}
}
