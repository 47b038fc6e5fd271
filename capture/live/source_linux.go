//go:build !libpcap

package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/iwdump/iwdump/capture"
)

// A Source captures. It is a capture.Source; Stop and Counts may be called by
// any goroutine.
type Source struct {
	names   []string
	indices []int // of the interfaces, empty for Any
	ring    *ring
	parser  parser
	pool    pool
	stop    int // eventfd

	stopping atomic.Bool
	closed   bool
	quiet    time.Time // since when nothing came after the end
	ticked   time.Time // when the time was told
	watched  time.Time // when interfaces were looked at
	down     bool      // an interface is
	gone     []bool    // by interface
	notice   error     // an interface is gone, and others are left
	err      error     // what ends it

	received, dropped, skipped, read atomic.Uint64
}

// Open opens the interfaces of the given names, or Any, and starts to capture.
func Open(names []string, o Options) (*Source, error) {
	if err := o.prepare(names); err != nil {
		return nil, err
	}
	r, err := newRing()
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		program, _ := os.Executable()
		return nil, &PermissionError{Program: program, Err: err}
	case err != nil:
		return nil, fmt.Errorf("opening a packet socket: %w", err)
	}
	s := &Source{names: names, ring: r, stop: -1, gone: make([]bool, len(names))}
	if err := s.open(o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open(o Options) error {
	p := &s.parser
	p.link, p.ifaces = capture.LinkEthernet, map[uint32]uint32{}
	for i, name := range s.names {
		if name == Any {
			p.link = capture.LinkSLL2
			if q, err := s.ring.request(unix.SIOCGIFINDEX, "lo", 0); err == nil {
				p.loopback = q.Uint32()
			}
			break
		}
		q, err := s.ring.request(unix.SIOCGIFINDEX, name, 0)
		if err != nil {
			return fmt.Errorf("interface %s: %w (see 'iwdump interfaces')", name, err)
		}
		index := q.Uint32()
		s.indices = append(s.indices, int(index))
		p.ifaces[index] = uint32(i)
		if q, err = s.ring.request(unix.SIOCGIFFLAGS, name, 0); err == nil && q.Uint16()&unix.IFF_UP == 0 {
			return fmt.Errorf("interface %s is down (ip link set %s up)", name, name)
		}
		if q, err = s.ring.request(unix.SIOCGIFHWADDR, name, 0); err != nil {
			return fmt.Errorf("interface %s: %w", name, err)
		}
		switch q.Uint16() {
		case unix.ARPHRD_LOOPBACK:
			p.loopback = index
		case unix.ARPHRD_ETHER:
		default:
			p.link = capture.LinkSLL2
		}
	}
	if p.link == capture.LinkSLL2 {
		if err := s.ring.cooked(); err != nil {
			return fmt.Errorf("opening a packet socket: %w", err)
		}
	}
	bound, only := 0, []uint32(nil)
	if len(s.indices) == 1 {
		bound = s.indices[0]
	} else {
		for _, index := range s.indices {
			only = append(only, uint32(index))
		}
	}
	prog, err := program(o.Filter, p.link, o.Snaplen, only)
	if err != nil {
		return err
	}
	if err := s.ring.filter(prog); err != nil {
		return fmt.Errorf("attaching the filter: %w", err)
	}
	if err := s.ring.share(o.Ring); err != nil {
		return err
	}
	if !o.NoPromisc {
		for i, index := range s.indices {
			if err := s.ring.promiscuous(index); err != nil {
				return fmt.Errorf("promiscuous mode of %s (--no-promisc does without): %w", s.names[i], err)
			}
		}
	}
	if s.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("opening an eventfd: %w", err)
	}
	if err := s.ring.bind(bound); err != nil {
		return fmt.Errorf("binding to %s: %w", s.names[0], err)
	}
	return nil
}

// Names returns the interfaces as they were given. Iface of a Frame is an
// index of it.
func (s *Source) Names() []string { return s.names }

// Link returns what frames begin with.
func (s *Source) Link() capture.LinkType { return s.parser.link }

// Counts returns what became of the frames so far.
func (s *Source) Counts() Counts {
	// The kernel is asked now and then.
	c := Counts{Received: s.received.Load(), Dropped: s.dropped.Load()}
	c.Received -= min(c.Received, s.skipped.Load())
	c.Received = max(c.Received, s.read.Load()+c.Dropped)
	return c
}

// Stop ends the capture: Next hands out what has come so far, then io.EOF.
func (s *Source) Stop() {
	if !s.stopping.Swap(true) {
		unix.Write(s.stop, []byte{1, 0, 0, 0, 0, 0, 0, 1})
	}
}

// Close ends the capture at once. Blocks that were handed out stay valid. Stop
// must not be called at the same time or later.
func (s *Source) Close() error {
	if !s.closed {
		s.closed = true
		s.count()
		s.ring.close()
		if s.stop >= 0 {
			unix.Close(s.stop)
		}
	}
	return nil
}

const (
	second = time.Second
	// settled is how long nothing must come after the end for all to have come.
	settled = 3 * retire * time.Millisecond
)

// Next returns the next block. At least once a second that is one that tells
// the time, without frames. Behind the last frame it returns io.EOF after
// Stop, and a *GoneError where all interfaces have vanished.
func (s *Source) Next() (*capture.Block, error) {
	for {
		now := time.Now()
		if s.ticked.IsZero() {
			s.ticked, s.watched = now, now
		}
		b, losing := s.ring.block()
		if now.Sub(s.ticked) >= second {
			s.ticked = now
			return s.tick(now, b == nil), nil
		}
		if b != nil {
			s.quiet = time.Time{}
			if blk := s.take(b, losing); blk != nil {
				return blk, nil
			}
			continue
		}
		if err := s.notice; err != nil {
			s.notice = nil
			return nil, err
		}
		if s.err == nil && !s.stopping.Load() {
			s.wait()
			s.watch(now)
			continue
		}
		// What has come is still to be handed over by the kernel.
		switch {
		case s.quiet.IsZero():
			s.quiet = now
			// Nothing new gets in.
			if err := s.ring.filter([]bpf.Instruction{bpf.RetConstant{Val: 0}}); err != nil && s.err == nil {
				s.err = fmt.Errorf("stopping the capture: %w", err)
			}
		case now.Sub(s.quiet) >= settled:
			return s.end()
		}
		time.Sleep(retire * time.Millisecond / 2)
	}
}

// take copies a block of the ring, and gives it back.
func (s *Source) take(b []byte, losing bool) *capture.Block {
	n := s.parser.size(b)
	buf := s.pool.room(n)
	blk := s.pool.block(buf)
	buf.data = s.parser.copy(b, buf.data, blk)
	s.ring.done()
	s.skipped.Store(s.parser.skipped)
	s.read.Store(s.parser.number)
	if losing {
		blk.Lost = s.count()
	}
	if len(blk.Frames) == 0 && blk.Lost == 0 {
		blk.Release()
		return nil
	}
	return blk
}

// count reads the kernel's counters, which that clears, and returns what was
// lost since.
func (s *Source) count() uint64 {
	received, dropped := s.ring.statistics()
	s.received.Add(received)
	s.dropped.Add(dropped)
	return dropped
}

// tick returns a block that tells the time: that of the last frame or, where
// nothing waits in the ring, that of the clock when the kernel must have
// handed over what had come.
func (s *Source) tick(now time.Time, idle bool) *capture.Block {
	b := capture.NewBlock(nil)
	b.Now = s.parser.last
	if idle {
		b.Now = max(b.Now, now.Add(-second).UnixNano())
		b.Lost = s.count()
	}
	return b
}

// end returns what ends the capture, after what was lost last.
func (s *Source) end() (*capture.Block, error) {
	if lost := s.count(); lost > 0 {
		b := capture.NewBlock(nil)
		b.Lost = lost
		return b, nil
	}
	if s.err == nil {
		return nil, io.EOF
	}
	return nil, s.err
}

// wait waits for a block, for Stop, for trouble with the interface, or until
// the time is to be told.
func (s *Source) wait() {
	timeout := second / time.Millisecond
	if s.down {
		timeout = 2 * retire
	}
	fds := []unix.PollFd{{Fd: int32(s.ring.fd), Events: unix.POLLIN}, {Fd: int32(s.stop), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(timeout))
	if err != nil && err != unix.EINTR {
		s.err = fmt.Errorf("waiting for packets: %w", err)
		return
	}
	if n > 0 && fds[0].Revents&^unix.POLLIN != 0 {
		code, err := unix.GetsockoptInt(s.ring.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		switch {
		case err != nil:
			s.err = fmt.Errorf("waiting for packets: %w", err)
		case unix.Errno(code) == unix.ENETDOWN || code == 0:
			s.down = true
		default:
			s.err = fmt.Errorf("waiting for packets: %w", unix.Errno(code))
		}
	}
}

// watch sees whether the interfaces are still there.
func (s *Source) watch(now time.Time) {
	if len(s.indices) == 0 || !s.down && now.Sub(s.watched) < second {
		return
	}
	s.watched = now
	left := 0
	for i, index := range s.indices {
		if !s.gone[i] && !s.ring.exists(index) {
			s.gone[i] = true
			s.notice = &capture.Error{File: s.names[i], Msg: "the interface has vanished"}
		}
		if !s.gone[i] {
			left++
		}
	}
	if left == 0 {
		s.notice = nil
		s.err = &GoneError{Interface: s.names[len(s.names)-1]}
	}
}
