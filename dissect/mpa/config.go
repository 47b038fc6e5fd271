package mpa

// Use says whether a direction of a stream uses Markers, or CRCs.
type Use uint8

const (
	Unknown Use = iota // to be found from the data
	On
	Off
)

// A Protocol judges what is in a ULPDU, for a Framer that has to tell an FPDU
// from any other octets. Package rdmap has one for DDP.
type Protocol interface {
	// Control tells the bits that are the same in the first two octets of
	// every ULPDU: those of mask, and their value.
	Control() (mask, value uint16)
	// Evidence weighs a candidate: ulpdu is the start of its ULPDU, two octets
	// or more, and length its ULPDU_Length. It returns 0 where this is none,
	// else in how many bits it differs from random octets.
	Evidence(ulpdu []byte, length int) int
	// Follows weighs b as the FPDU directly behind a, in bits; less than 0
	// where it can't be.
	Follows(a []byte, alen int, b []byte, blen int) int
}

// A Keeper is a Protocol that wants more of some ULPDUs than Config.Keep.
type Keeper interface {
	// Keep says how many octets of the ULPDU that starts with first, two
	// octets, are to be handed out at least, where captured.
	Keep(first []byte) int
}

// A Handler takes what a Framer finds. What it is given is valid during the
// call.
type Handler interface {
	FPDU(*FPDU)
	Notice(*Notice)
}

// NoticeKind says what a Notice is about.
type NoticeKind uint8

const (
	// NoticeLost: the chain of FPDUs is broken at Off.
	NoticeLost NoticeKind = iota
	// NoticeResync: it goes on at Off, behind Len octets that could not be
	// framed (or were not captured). It comes in front of the FPDU at Off.
	NoticeResync
	// NoticeSkipped: Len captured octets from Off could not be framed.
	NoticeSkipped
	// NoticeMarker: the Marker at Off says Got where Want is right.
	NoticeMarker
)

// A Notice is what a Framer has to tell besides FPDUs.
type Notice struct {
	Kind      NoticeKind
	Off       uint64
	Seq       uint32
	Len       uint64
	Stamp     Stamp
	Found     Found  // NoticeResync
	Want, Got uint16 // NoticeMarker
	// Header is, of NoticeLost, the octets found where a header must be; nil
	// where they were not captured.
	Header []byte
}

// A Chunk is a run of octets of one direction, in order.
type Chunk struct {
	Data []byte
	Stamp
	Retrans bool // some of it had been sent before
	// Doubt tells whether the receiver threw the octets away; nil where it
	// took them.
	Doubt Doubt
}

// A Doubt tells of a chunk whether its receiver threw it away since its TCP
// checksum is wrong. It is asked only where the octets look damaged.
type Doubt interface{ Damaged() bool }

// Config says what is known of a direction.
type Config struct {
	Protocol Protocol
	Markers  Use
	CRC      Use
	// Start says that an FPDU (or the Marker in front of it) starts at the
	// first octet. Without it the Framer searches.
	Start bool
	// IWARP says that the stream is iWARP for certain, though its startup was
	// not seen: less proof is asked for.
	IWARP bool
	// Keep is how many octets of each ULPDU are handed out at least, where
	// captured. 0 is 72: all headers of RFC 5040, 5041 and 7306.
	Keep int
	// Off and Seq are the offset and the sequence number of the first octet.
	Off uint64
	Seq uint32
	// Budget limits what is held while the Framer searches, together with
	// other Framers. nil is a limit of its own.
	Budget *Budget
}

const defaultKeep = 72

// Counts says what became of the octets of a direction.
type Counts struct {
	Framed  uint64 // captured, part of an FPDU
	Skipped uint64 // captured, not part of an FPDU
	Missing uint64 // not captured
}
