package live

import (
	"errors"
	"fmt"
	"strings"
)

// Any is the name that stands for all interfaces.
const Any = "any"

// Defaults, and limits, of Options.
const (
	DefaultRing    = 16 << 20
	DefaultSnaplen = 262144 // that of tcpdump
	MinRing        = 512 << 10
	MaxRing        = 1 << 30
)

// Options say how to capture. The zero value is the ordinary case.
type Options struct {
	Snaplen   int    // octets of each frame that are kept; 0 is DefaultSnaplen
	Ring      int    // octets of the ring that the kernel fills; 0 is DefaultRing
	NoPromisc bool   // see only what is for this host anyway
	Filter    string // which frames to capture, in the syntax of tcpdump; empty is all
}

// prepare sets the defaults and checks.
func (o *Options) prepare(names []string) error {
	if o.Snaplen == 0 {
		o.Snaplen = DefaultSnaplen
	}
	if o.Ring == 0 {
		o.Ring = DefaultRing
	}
	switch {
	case len(names) == 0:
		return errors.New("no interface is given")
	case o.Snaplen < 1 || o.Snaplen > DefaultSnaplen:
		return fmt.Errorf("a snaplen of %d octets is not within 1 and %d", o.Snaplen, DefaultSnaplen)
	case o.Ring < MinRing || o.Ring > MaxRing:
		return fmt.Errorf("a ring of %d KiB is not within %d and %d KiB", o.Ring>>10, MinRing>>10, MaxRing>>10)
	}
	for i, n := range names {
		for _, m := range names[:i] {
			if n == m {
				return fmt.Errorf("interface %s is given twice", n)
			}
		}
		if n == Any && len(names) > 1 {
			return errors.New(`"any" is all interfaces: give it alone`)
		}
	}
	return nil
}

// Counts is what became of the frames so far.
type Counts struct {
	Received uint64 // that passed the filter, dropped ones included
	Dropped  uint64 // by the kernel, for want of room in the ring
}

// A GoneError says that an interface vanished while it was captured on.
type GoneError struct{ Interface string }

func (e *GoneError) Error() string { return "interface " + e.Interface + " has vanished" }

// A PermissionError says that the right to capture is missing.
type PermissionError struct {
	Program string // that lacks it
	Err     error
}

func (e *PermissionError) Error() string {
	return fmt.Sprintf(`no permission to capture (%v): it needs CAP_NET_RAW. Run it as root, or give the program that right:
  sudo setcap cap_net_raw=eip %s`, e.Err, quote(e.Program))
}

func (e *PermissionError) Unwrap() error { return e.Err }

// quote makes a path one word of a shell.
func quote(path string) string {
	if path != "" && !strings.ContainsAny(path, " \t\n'\"\\$&;|<>()*?[]#~`!{}") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
