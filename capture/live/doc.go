// Package live captures frames from network interfaces, as a capture.Source.
//
// On Linux that is an AF_PACKET socket with a TPACKET_V3 ring
// (Documentation/networking/packet_mmap.rst of the kernel), in pure Go. The
// socket is opened for no protocol, filtered, given its ring and only then
// bound, so that no frame gets in that the filter does not want. On other
// systems, and on Linux where it is preferred, the build tag libpcap captures
// through libpcap; it needs cgo.
//
// # Interfaces
//
// Several interfaces share one socket and one ring, so that their frames come
// in the order of the kernel; a prefix of the filter leaves out the others.
// Frames begin with an Ethernet header where all interfaces have one. Where
// one has not, and for "any", they are cooked: they begin with an SLL2 header
// (https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html). VLAN tags that
// the kernel keeps beside the frame are put back into it.
//
// # Copies
//
// Frames are copied out of the ring, and a block of the ring goes back to the
// kernel at once. Handing them out in place would save the copy, but the user
// of a Source may hold a block for as long as little traffic comes (what is
// compared with retransmissions is bounded by octets, not by time), while the
// kernel fills its blocks in turn and drops all that comes when the next one
// is not free; and memory that is unmapped at Close must not be in use. The
// copy is where a VLAN tag or an SLL2 header is put in, and costs a tenth of
// what the checks of CRCs cost.
//
// # Loss
//
// The kernel counts what it had to drop when the ring was full. The count
// stands in the Block behind the loss (capture.Block.Lost), and the sum in
// Counts.
package live
