//go:build libpcap

package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/gopacket/pcap"

	"github.com/iwdump/iwdump/capture"
)

// A Source captures through libpcap. It is a capture.Source; Stop and Counts
// may be called by any goroutine. Several interfaces are one handle each, and
// the order of their frames is that in which libpcap hands them over.
type Source struct {
	names   []string
	handles []*pcap.Handle
	batches chan batch
	readers sync.WaitGroup
	stop    chan struct{}
	once    sync.Once

	number   uint64
	last     int64
	lost     uint64 // told
	left     int    // interfaces that are there
	received atomic.Uint64
	dropped  atomic.Uint64
}

// A batch is what a handle had at once, or why it has no more.
type batch struct {
	iface  uint32
	frames []capture.Frame
	err    error
}

const (
	// timeout is how long libpcap gathers frames.
	timeout = 50 * time.Millisecond
	// maxBatch is how many frames are handed on at once.
	maxBatch = 1024
)

// Open opens the interfaces of the given names, or Any, and starts to capture.
func Open(names []string, o Options) (*Source, error) {
	if err := o.prepare(names); err != nil {
		return nil, err
	}
	s := &Source{names: names, batches: make(chan batch, 4), stop: make(chan struct{}), left: len(names)}
	for _, name := range names {
		h, err := activate(name, o)
		if err != nil {
			s.Close()
			if strings.Contains(strings.ToLower(err.Error()), "perm") { // it has no type
				program, _ := os.Executable()
				return nil, &PermissionError{Program: program, Err: err}
			}
			return nil, fmt.Errorf("interface %s: %w", name, err)
		}
		s.handles = append(s.handles, h)
		if h.LinkType() != s.handles[0].LinkType() {
			s.Close()
			return nil, fmt.Errorf("frames of %s begin with other headers than those of %s: capture them one by one", name, names[0])
		}
	}
	for i := range s.handles {
		s.readers.Go(func() { s.read(i) })
	}
	return s, nil
}

func activate(name string, o Options) (*pcap.Handle, error) {
	in, err := pcap.NewInactiveHandle(name)
	if err != nil {
		return nil, err
	}
	defer in.CleanUp()
	err = errors.Join(in.SetSnapLen(o.Snaplen), in.SetPromisc(!o.NoPromisc && name != Any), in.SetTimeout(timeout), in.SetBufferSize(o.Ring))
	if err != nil {
		return nil, err
	}
	h, err := in.Activate()
	if err != nil {
		return nil, err
	}
	if o.Filter != "" {
		if err := h.SetBPFFilter(o.Filter); err != nil {
			h.Close()
			return nil, fmt.Errorf("filter %q: %w", o.Filter, err)
		}
	}
	return h, nil
}

// read reads from a handle until Stop, or until it has no more.
func (s *Source) read(i int) {
	h := s.handles[i]
	link := capture.LinkType(h.LinkType())
	var b batch
	hand := func() {
		b.iface = uint32(i)
		s.batches <- b
		b = batch{}
	}
	for {
		data, info, err := h.ReadPacketData()
		if err == nil {
			b.frames = append(b.frames, capture.Frame{Data: data, Len: max(info.Length, len(data)), Time: info.Timestamp.UnixNano(), Link: link, Iface: uint32(i)})
			if len(b.frames) < maxBatch {
				continue
			}
		}
		idle := err == pcap.NextErrorTimeoutExpired
		if err != nil && !idle {
			b.err = err
			hand()
			return
		}
		hand()
		select {
		case <-s.stop:
			if idle {
				b.err = io.EOF
				hand()
				return
			}
		default:
		}
	}
}

// Names returns the interfaces as they were given. Iface of a Frame is an
// index of it.
func (s *Source) Names() []string { return s.names }

// Link returns what frames begin with.
func (s *Source) Link() capture.LinkType { return capture.LinkType(s.handles[0].LinkType()) }

// Counts returns what became of the frames so far.
func (s *Source) Counts() Counts {
	return Counts{Received: s.received.Load(), Dropped: s.dropped.Load()}
}

// Stop ends the capture: Next hands out what has come so far, then io.EOF.
func (s *Source) Stop() { s.once.Do(func() { close(s.stop) }) }

// Next returns the next block; one without frames tells the time. Behind the
// last frame it returns io.EOF after Stop, and a *GoneError where all
// interfaces have vanished.
func (s *Source) Next() (*capture.Block, error) {
	for s.left > 0 {
		in := <-s.batches
		if in.err != nil {
			s.left--
		}
		s.count()
		if len(in.frames) == 0 && in.err != nil {
			if s.left == 0 && in.err != io.EOF {
				return nil, fmt.Errorf("%w: %w", &GoneError{Interface: s.names[in.iface]}, in.err)
			}
			continue
		}
		b := capture.NewBlock(nil)
		b.Frames = in.frames
		for i := range b.Frames {
			s.number++
			b.Frames[i].Number = s.number
			s.last = max(s.last, b.Frames[i].Time)
		}
		dropped := s.dropped.Load()
		b.Lost, s.lost = dropped-s.lost, dropped
		if len(b.Frames) == 0 {
			b.Now = max(s.last, time.Now().Add(-time.Second).UnixNano())
		}
		return b, nil
	}
	return nil, io.EOF
}

// count asks libpcap what it received and dropped; unlike the kernel's, its
// counters run on.
func (s *Source) count() {
	var received, dropped uint64
	for _, h := range s.handles {
		if st, err := h.Stats(); err == nil {
			received += uint64(st.PacketsReceived)
			dropped += uint64(st.PacketsDropped) + uint64(st.PacketsIfDropped)
		}
	}
	s.received.Store(max(received, s.number+dropped))
	s.dropped.Store(max(dropped, s.lost))
}

// Close ends the capture. Blocks that were handed out stay valid.
func (s *Source) Close() error {
	s.Stop()
	done := make(chan struct{})
	go func() {
		s.readers.Wait()
		close(done)
	}()
	for {
		select {
		case <-s.batches:
			continue
		case <-done:
		}
		break
	}
	for _, h := range s.handles {
		h.Close()
	}
	s.handles = nil
	return nil
}
