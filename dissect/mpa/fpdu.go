package mpa

// A Stamp says which captured frame brought an octet, and when.
type Stamp struct {
	Frame uint64
	Time  int64 // nanoseconds since 1970-01-01 UTC
}

// CRC is the verdict on the CRC32c of an FPDU (RFC 5044, section 4.4).
type CRC uint8

const (
	CRCUnchecked CRC = iota // not every octet was captured
	CRCOK
	CRCBad
	CRCOff // not in use: neither end asked for it (RFC 5044, section 7.1.1)
)

var crcNames = [...]string{"unchecked", "ok", "bad", "off"}

// String is the verdict as one lower-case word.
func (c CRC) String() string { return crcNames[c] }

// Found says how the start of an FPDU was found.
type Found uint8

const (
	FoundStart  Found = iota // by an unbroken chain from the startup frame
	FoundChain               // by the chain of lengths from an FPDU that was found
	FoundMarker              // by a Marker
	FoundCRC                 // by a plausible header with the right CRC
	FoundGuess               // by a chain of plausible headers alone
)

var foundNames = [...]string{"start", "chain", "marker", "crc", "guess"}

// String is the way as one lower-case word.
func (f Found) String() string { return foundNames[f] }

// An FPDU is one framed PDU as it was found in a stream (RFC 5044, section
// 4.1). ULPDU aliases memory that is valid during the call that hands it out.
type FPDU struct {
	Off      uint64 // of ULPDU_Length, octets from the start of the direction
	Seq      uint32 // the same as a TCP sequence number
	Length   int    // ULPDU_Length
	ULPDU    []byte // the first octets of the ULPDU, Markers taken out: as many as were asked for and captured without a hole
	Wire     int    // octets in the stream from Off on, with Markers, PAD and CRC
	Lead     int    // octets of the Marker directly in front, which belongs to it: 0 or MarkerLen
	Markers  int    // all of its Markers
	First    Stamp  // of the first octet
	Last     Stamp  // of the last octet
	Complete bool   // every octet was captured
	EndLost  bool   // the packet with its last octet was not: Last is when that was noticed
	Retrans  bool   // some of it had been sent before
	CRC      CRC
	CRCWire  uint32 // the CRC field, where it was captured
	CRCCalc  uint32 // what it should be, where CRC is CRCOK, CRCBad or CRCOff and the FPDU is complete
	Found    Found
}
