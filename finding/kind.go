package finding

import "github.com/iwdump/iwdump/qp"

// A Kind is one sort of finding: what it means, and what to look at next.
// docs/findings.md has the same for readers.
type Kind struct {
	ID       string
	Severity qp.Severity
	Meaning  string
	Next     string
}

// Kinds are all kinds of findings, by id.
var Kinds = byID(append([]Kind{
	// Startup.
	{"connection-rejected", qp.Error, "The responder refused the connection, so no RDMA took place on it.",
		"Look at the private data of the Reply, and at the log of the responder for the reason."},
	{"no-reply", qp.Error, "The TCP connection was open, but the responder never answered the MPA Request.",
		"See whether a listener runs at that address, knows this MPA revision, and accepts in time."},
	{"startup-mismatch", qp.Warning, "The two startup frames contradict each other.",
		"Compare the MPA settings of both adapters; read -v shows the frames flag by flag."},
	{"crc-one-sided", qp.Info, "Only one end asked for CRCs; they are used in both directions all the same (RFC 5044, section 7.1).",
		"Nothing, unless CRCs were to be off."},
	{"reserved-flags", qp.Info, "A startup frame has reserved flag bits set: an extension of one vendor (0x8 is the GSO flag of siw).",
		"Nothing, unless the peer is of another make and the connection does not come up."},
	{"slow-reply", qp.Warning, "The responder took long to answer the MPA Request.",
		"Look at what the responder does when it accepts: name resolution, memory registration, a busy thread."},
	{"missing-rtr", qp.Warning, "The peer-to-peer model was agreed, but the initiator's first message is no ready-to-receive message (RFC 6581, section 5).",
		"Look at the first FPDU of the initiator, and at its peer-to-peer setting."},
	{"depth-zero", qp.Warning, "Reads are sent though the IRD and ORD agreed on allow none.",
		"Compare IRD and ORD of both startup frames; a strict adapter ends the connection for this."},
	{"smbd-private-depth", qp.Info, "The private data of a revision 1 startup frame has the form in which SMB Direct passes IRD and ORD (MS-SMBD).",
		"Nothing: the depths apply though RFC 6581 is not used."},
	{"smbd-private-order", qp.Warning, "The private data of a revision 1 startup frame looks like the IRD and ORD of SMB Direct in the wrong byte order.",
		"The peer will read huge depths: update the provider that sent it."},
	// Ends.
	{"terminated", qp.Error, "RDMAP ended the stream with a Terminate; all that was outstanding failed.",
		"Look at the message that is blamed, and at the registration (STag, bounds, rights) or the receive buffers that it needs."},
	{"reset", qp.Warning, "TCP was reset: what was under way is lost, and the peer learns no reason.",
		"See what the side that reset it did before: a crash, a kill, a timeout, or data that nobody read."},
	{"silent-end", qp.Warning, "The capture ends while requests of this connection wait for an answer, and long after its last segment.",
		"See whether the peer is alive, and whether a firewall or a switch drops its packets."},
	// Protocol.
	{"crc-mismatch", qp.Error, "The CRC32c of an FPDU is wrong though TCP's checksum is not: it was damaged before TCP took it, or by memory or a switch that makes checksums anew.",
		"If the application writes to a buffer while it is being sent (zero copy), that is the cause; else suspect the host's memory or adapter."},
	{"marker-mismatch", qp.Error, "A Marker does not point to the FPDU that contains it.",
		"Suspect the sender's MPA implementation, or a length that was damaged."},
	{"framing-lost", qp.Error, "What stands where an FPDU must begin cannot be one.",
		"Look at the FPDU in front of it: its length was wrong, or the sender lost count."},
	{"ddp-violation", qp.Error, "A segment breaks a rule of DDP (RFC 5041).",
		"Look at the sender's MSN, MO, STag and TO around this frame; read --fpdus shows them."},
	{"rdmap-violation", qp.Error, "A message breaks a rule of RDMAP (RFC 5040, RFC 7306).",
		"Look at the messages around this frame; the peer may end the stream for it."},
	{"depth-exceeded", qp.Warning, "More reads and atomics are outstanding than the IRD and ORD agreed on allow.",
		"A strict responder ends the connection for this; limit the requester's depth."},
	{"use-after-invalidate", qp.Warning, "An STag is used after a Send with Invalidate had taken it back.",
		"See whether it was registered again in between; if not, the requester holds on to a key for too long."},
	{"unanswered", qp.Warning, "A request was never answered in the capture.",
		"See what the responder did meanwhile: other answers, silence, the end of the connection."},
	// TCP, as RDMA feels it.
	{"retransmission-timeout", qp.Warning, "Octets were sent again only after a timeout; the operations behind them waited as long.",
		"Look for loss on the path, and at who dropped: PFC or ECN of the switches, ring sizes of the hosts."},
	{"retransmission", qp.Info, "Octets were sent again.",
		"A few do no harm; see the share, and whether they come in bursts."},
	{"bad-checksum", qp.Warning, "Segments with a wrong TCP checksum: they were damaged on the way and thrown away by the receiver.",
		"Look at the error counters of cables, optics and ports between the sender and the capture."},
	{"stall", qp.Warning, "Nothing was sent or acknowledged on a connection for 200 ms or more while operations waited.",
		"See what ends the stall: a retransmission (loss), a window that opens (a slow receiver), or an answer (a busy responder)."},
	{"overlap-conflict", qp.Warning, "Octets were sent twice with different content.",
		"A middlebox, an attack, or a capture that joins two connections: look at both copies."},
	{"syn-retry", qp.Info, "The SYN had to be sent again.",
		"The listener was not there yet, its backlog was full, or packets were lost."},
	{"zero-window", qp.Warning, "The receive window was closed for long: the peer had to wait.",
		"The receiver does not keep up: look at its CPU, and at how many receive buffers are posted."},
	{"delayed-ack", qp.Info, "ACKs came 40 ms or more after small messages: the receiver delays them.",
		"It does not slow RDMA down, unless the sender waits for window; do not take these for latencies of the network."},
	// Performance.
	{"slow-operations", qp.Info, "Some operations took far longer than most of their kind.",
		"List them with latency --slowest, and look at what their QP did at that time."},
	{"reads-serialised", qp.Info, "Reads go one at a time since the depth agreed on is 1.",
		"Raise IRD and ORD of both ends, if reads are what takes time."},
	{"unaligned", qp.Info, "FPDUs start within TCP segments more often than at their start.",
		"Adapters place FPDUs that start a segment fastest. Small messages in a train look so, and senders that lost alignment; see read --fpdus."},
	{"fpdu-above-mss", qp.Info, "FPDUs are larger than a TCP segment, so that none can be placed before several segments have come.",
		"Adapters expect an FPDU a segment: some crawl, some refuse. See the sender's GSO settings."},
	// The capture.
	{"capture-holes", qp.Warning, "The capture lacks segments that the receiver had.",
		"Findings about this QP are less certain. Capture with larger buffers (tcpdump -B), or fewer octets a packet (-s)."},
	{"not-framed", qp.Warning, "Octets could not be framed.",
		"They are next to a hole in the capture, or the stream is damaged there."},
	{"started-late", qp.Info, "The capture started after the connection: what was agreed at startup is not known.",
		"Capture from before the connection, if it matters who is the initiator, or which IRD and ORD were agreed."},
	{"headers-only", qp.Info, "The capture holds only the heads of packets: CRCs cannot be checked.",
		"Nothing, unless CRCs matter."},
	{"only-startup", qp.Info, "After the startup nothing more was captured: the adapter took the connection over (offload), or nothing was sent.",
		"If data should flow, mirror the switch port or use the adapter's own tracer: a capture on the host does not see it."},
	{"cut-short", qp.Warning, "An input could not be read to its end.",
		"Findings about its last part are missing."},
}, upperKinds...))

func byID(kinds []Kind) map[string]*Kind {
	m := make(map[string]*Kind, len(kinds))
	for i := range kinds {
		m[kinds[i].ID] = &kinds[i]
	}
	return m
}
