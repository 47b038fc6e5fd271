//go:build !libpcap

package live

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	// blockSize is what the kernel hands over at once. It is a multiple of the
	// page size of all machines, and larger than any frame, those that GRO
	// makes included.
	blockSize = 256 << 10
	// retire is after how many ms a block is handed over that is not full.
	retire = 50
)

// A ring is an AF_PACKET socket and the memory that it shares with the kernel.
type ring struct {
	fd   int
	mem  []byte
	next int // block that the kernel hands over next
}

// newRing opens a socket that receives nothing yet.
func newRing() (*ring, error) {
	// raw: the type does not matter before the socket is bound.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &ring{fd: fd}, nil
}

// cooked replaces the socket by one whose frames begin with the network header.
func (r *ring) cooked() error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	unix.Close(r.fd)
	r.fd = fd
	return nil
}

func (r *ring) filter(program []bpf.Instruction) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	if len(raw) > 0xffff {
		return fmt.Errorf("%d instructions are too many", len(raw))
	}
	code := make([]unix.SockFilter, len(raw))
	for i, ins := range raw {
		code[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	return unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

// share makes the ring, of at least size octets.
func (r *ring) share(size int) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return fmt.Errorf("TPACKET_V3: %w", err)
	}
	blocks := (size + blockSize - 1) / blockSize
	req := unix.TpacketReq3{
		Block_size:       blockSize,
		Block_nr:         uint32(blocks),
		Frame_size:       2048, // frames lie one behind the other all the same
		Frame_nr:         uint32(blocks * (blockSize / 2048)),
		Retire_blk_tov:   retire,
		Feature_req_word: 0,
	}
	if err := unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("a ring of %d KiB: %w", blocks*blockSize>>10, err)
	}
	mem, err := unix.Mmap(r.fd, 0, blocks*blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping a ring of %d KiB: %w", blocks*blockSize>>10, err)
	}
	r.mem = mem
	return nil
}

// promiscuous lets an interface receive what is for others. The kernel ends it
// when the socket is closed.
func (r *ring) promiscuous(index int) error {
	return unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC})
}

// bind starts the capture, on one interface or, for 0, on all.
func (r *ring) bind(index int) error {
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in network byte order
	proto := uint16(all)
	if isBigEndian {
		proto = unix.ETH_P_ALL
	}
	return unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: index})
}

var isBigEndian = *(*byte)(unsafe.Pointer(&[]uint16{1}[0])) == 0

// status is where the kernel and we say whose the next block is.
func (r *ring) status() *uint32 {
	return (*uint32)(unsafe.Pointer(&r.mem[r.next*blockSize+blockStatus]))
}

// block returns the next block, nil while the kernel has it.
func (r *ring) block() (b []byte, losing bool) {
	s := atomic.LoadUint32(r.status())
	if s&statusUser == 0 {
		return nil, false
	}
	return r.mem[r.next*blockSize : (r.next+1)*blockSize], s&statusLosing != 0
}

// done gives the block back.
func (r *ring) done() {
	atomic.StoreUint32(r.status(), statusKernel)
	if r.next++; r.next == len(r.mem)/blockSize {
		r.next = 0
	}
}

// statistics returns what the kernel counted since the last call.
func (r *ring) statistics() (received, dropped uint64) {
	st, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, 0
	}
	return uint64(st.Packets), uint64(st.Drops)
}

func (r *ring) close() {
	if r.mem != nil {
		unix.Munmap(r.mem)
	}
	unix.Close(r.fd)
}

// request asks the kernel about an interface, by its name or its index.
func (r *ring) request(what uint, name string, index int) (*unix.Ifreq, error) {
	q, err := unix.NewIfreq(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no name of an interface", name)
	}
	if index > 0 {
		q.SetUint32(uint32(index))
	}
	return q, unix.IoctlIfreq(r.fd, what, q)
}

// exists says whether there is an interface of that index.
func (r *ring) exists(index int) bool {
	_, err := r.request(unix.SIOCGIFNAME, "-", index)
	return err == nil
}
