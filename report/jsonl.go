package report

import (
	"io"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// EventFields are the fields that events have besides those of all events, and
// whether they are numbers.
var EventFields = map[string]bool{"tcp_seq": true, "length": true, "cause": false, "found": false, "skipped": true, "fpduptr": true,
	"expected": true, "crc_wire": false, "crc_calculated": false, "closed_ns": true, "stalled_ns": true, "waiting": true, "after_ns": true, "depth": true, "limit": true, "request_n": true,
	"age_ns": true, "layer": true, "etype": true, "code": true, "blames_n": true, "stag": false,
	"command": false, "value": true, "most": true, "wait_ns": true, "frames": true, "capture_drops": true}

// JSON writes records as JSON Lines.
type JSON struct {
	w      *Writer
	o      object
	clock  clock
	counts map[string]uint64 // events by kind
}

// NewJSON returns a JSON that writes to w.
func NewJSON(w io.Writer) *JSON {
	return &JSON{w: NewWriter(w), counts: map[string]uint64{}}
}

// Err returns the first error of writing.
func (j *JSON) Err() error { return j.w.Err() }

// Flush writes what is buffered.
func (j *JSON) Flush() error { return j.w.Flush() }

func (j *JSON) begin(record string) *object {
	j.o.b = j.o.b[:0]
	j.o.open()
	j.o.word("record", record)
	return &j.o
}

func (j *JSON) end() {
	j.o.close()
	j.o.b = append(j.o.b, '\n')
	j.w.Write(j.o.b)
}

func (j *JSON) time(name string, ns int64) {
	j.o.key(name)
	j.o.b = append(j.o.b, '"')
	j.o.b = j.clock.append(j.o.b, ns)
	j.o.b = append(j.o.b, '"')
}

func (j *JSON) conn(c *qp.Conn) { j.o.int("qp", int64(c.Number)) }

// Capture writes the first record: the names of the files, and the link types
// of their first frames.
func (j *JSON) Capture(files []string, links []capture.LinkType) {
	o := j.begin("capture")
	o.word("schema", Schema)
	o.key("files")
	o.b = append(o.b, '[')
	for i, f := range files {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, f)
	}
	o.b = append(o.b, ']')
	j.links(links)
	j.end()
}

func (j *JSON) links(links []capture.LinkType) {
	j.o.key("link_types")
	j.o.b = append(j.o.b, '[')
	for i, l := range links {
		if i > 0 {
			j.o.b = append(j.o.b, ',')
		}
		j.o.b = appendString(j.o.b, l.String())
	}
	j.o.b = append(j.o.b, ']')
}

// Message writes a message.
func (j *JSON) Message(m *qp.Message) {
	o := j.begin("message")
	j.conn(m.Conn)
	o.int("n", int64(m.N))
	j.time("time", m.First.Time)
	j.time("end_time", m.Last.Time)
	o.uint("frame", m.First.Frame)
	o.uint("end_frame", m.Last.Frame)
	o.word("from", m.From.String())
	o.word("src", m.Conn.Text[m.Side])
	o.word("dst", m.Conn.Text[m.Side.Other()])
	o.word("op", m.Op.String())
	o.uint("size", m.Size)
	if m.HasCRC {
		o.int("fpdus", int64(m.FPDUs))
	}
	o.bool("complete", m.Complete)
	if m.HasCRC {
		o.word("crc", m.CRC.String())
	}
	if m.Retrans {
		o.bool("retransmitted", true)
	}
	switch {
	case m.Startup != nil:
		startup(o, m.Startup)
	case m.Header.Tagged:
		o.stag("stag", m.Header.STag)
		o.to("to", m.Header.TO)
	default:
		o.uint("queue", uint64(m.Header.QN))
		o.uint("msn", uint64(m.Header.MSN))
		if m.Op.Invalidates() {
			o.stag("invalidate_stag", m.Header.ULPWord)
		}
	}
	if m.RTR {
		o.bool("rtr", true)
	}
	if m.Read != nil {
		readRequest(o, m.Read)
	}
	if m.Terminate != nil {
		terminate(o, m.Terminate)
	}
	if m.AtomicReq != nil {
		a := m.AtomicReq
		o.nested("atomic")
		o.word("op", a.Op.String())
		o.stag("request_id", a.ID)
		o.stag("stag", a.STag)
		o.to("to", a.TO)
		o.to("data", a.Data)
		o.to("mask", a.Mask)
		o.to("compare", a.Compare)
		o.to("compare_mask", a.CompareMask)
		o.close()
	}
	if m.AtomicRsp != nil {
		o.nested("atomic")
		o.stag("request_id", m.AtomicRsp.ID)
		o.to("original", m.AtomicRsp.Original)
		o.close()
	}
	if m.Immediate != nil {
		o.hex("immediate", m.Immediate.Data[:])
	}
	if m.Answers > 0 {
		o.int("answers_n", int64(m.Answers))
		o.int("latency_ns", m.Latency)
	}
	if m.ULP != nil {
		description(o, m.ULP)
	}
	j.end()
}

func startup(o *object, s *mpa.Startup) {
	o.nested("mpa")
	o.uint("revision", uint64(s.Revision))
	o.bool("markers", s.Markers)
	o.bool("crc", s.CRC)
	o.bool("reject", s.Reject)
	o.bool("enhanced", s.Enhanced)
	if s.Reserved != 0 {
		o.uint("reserved", uint64(s.Reserved))
	}
	if s.HasEnhanced() {
		o.bool("peer_to_peer", s.PeerToPeer)
		o.key("rtr")
		o.b = append(o.b, '[')
		n := len(o.b)
		for _, r := range [...]struct {
			on   bool
			name string
		}{{s.SendRTR, `"send"`}, {s.WriteRTR, `"write"`}, {s.ReadRTR, `"read"`}} {
			if r.on {
				if len(o.b) > n {
					o.b = append(o.b, ',')
				}
				o.b = append(o.b, r.name...)
			}
		}
		o.b = append(o.b, ']')
		o.uint("ird", uint64(s.IRD))
		o.uint("ord", uint64(s.ORD))
	}
	if len(s.Private) > 0 {
		o.hex("private_data", s.Private)
	}
	o.close()
}

func readRequest(o *object, r *rdmap.ReadRequest) {
	o.stag("sink_stag", r.SinkSTag)
	o.to("sink_to", r.SinkTO)
	o.stag("src_stag", r.SrcSTag)
	o.to("src_to", r.SrcTO)
	o.uint("read_size", uint64(r.Size))
}

func terminate(o *object, t *rdmap.Terminate) {
	layer, etype, code := t.Names()
	o.nested("terminate")
	o.uint("layer", uint64(t.Layer))
	o.uint("etype", uint64(t.EType))
	o.uint("code", uint64(t.Code))
	o.text("layer_name", layer)
	o.text("etype_name", etype)
	o.text("code_name", code)
	if t.Swapped {
		o.bool("swapped", true)
	}
	if t.M || t.D {
		o.int("ddp_segment_length", int64(t.SegmentLength))
	}
	if t.HasHeader {
		o.nested("header")
		o.word("op", rdmap.OpOf(&t.Header).String())
		if t.Header.Tagged {
			o.stag("stag", t.Header.STag)
			o.to("to", t.Header.TO)
		} else {
			o.uint("queue", uint64(t.Header.QN))
			o.uint("msn", uint64(t.Header.MSN))
			o.uint("mo", uint64(t.Header.MO))
		}
		if t.HasRead {
			readRequest(o, &t.Read)
		}
		o.close()
	}
	o.close()
}

// FPDU writes an FPDU.
func (j *JSON) FPDU(f *qp.FPDU) {
	o := j.begin("fpdu")
	j.conn(f.Conn)
	o.word("from", f.From.String())
	o.word("src", f.Conn.Text[f.Side])
	o.word("dst", f.Conn.Text[f.Side.Other()])
	j.time("time", f.First.Time)
	o.uint("frame", f.First.Frame)
	o.uint("end_frame", f.Last.Frame)
	o.uint("tcp_seq", uint64(f.Seq))
	o.int("ulpdu_length", int64(f.Length))
	o.int("markers", int64(f.Markers))
	o.word("crc", f.CRC.String())
	o.bool("complete", f.Complete)
	o.word("found", f.Found.String())
	if f.Retrans {
		o.bool("retransmitted", true)
	}
	o.word("op", f.Op.String())
	o.bool("last", f.Header.Last)
	if f.Header.Tagged {
		o.stag("stag", f.Header.STag)
		o.to("to", f.Header.TO)
	} else {
		o.uint("queue", uint64(f.Header.QN))
		o.uint("msn", uint64(f.Header.MSN))
		o.uint("mo", uint64(f.Header.MO))
	}
	j.end()
}

// Operation writes an operation.
func (j *JSON) Operation(x *qp.Operation) {
	o := j.begin("operation")
	j.conn(x.Conn)
	o.word("op", x.Name())
	o.word("from", x.From.String())
	j.time("time", x.Start.Time)
	o.uint("frame", x.Start.Frame)
	o.uint("end_frame", x.End.Frame)
	o.int("latency_ns", x.Latency)
	o.word("measure", x.Measure.String())
	for _, d := range [...]struct {
		name string
		ns   int64
	}{{"first_ns", x.First}, {"request_spread_ns", x.RequestSpread}, {"service_ns", x.Service}, {"response_spread_ns", x.ResponseSpread}} {
		if d.ns >= 0 {
			o.int(d.name, d.ns)
		}
	}
	o.uint("size", x.Size)
	if x.Request > 0 {
		o.int("request_n", int64(x.Request))
	}
	if x.Answer > 0 {
		o.int("response_n", int64(x.Answer))
	}
	o.word("status", x.Status.String())
	if x.Depth > 0 {
		o.int("depth", int64(x.Depth))
	}
	if x.AnnouncedBy > 0 {
		o.int("announced_by", int64(x.AnnouncedBy))
	}
	if x.Retrans {
		o.bool("retransmitted", true)
	}
	if x.Guess {
		o.bool("guess", true)
	}
	if x.Command != nil {
		j.command(x)
	}
	j.end()
}

// Event writes an event.
func (j *JSON) Event(e *qp.Event) {
	j.counts[e.Kind]++
	o := j.begin("event")
	o.word("severity", e.Severity.String())
	o.word("kind", e.Kind)
	if e.Conn != nil {
		j.conn(e.Conn)
	}
	if e.HasSide {
		o.word("from", e.From.String())
	}
	if e.At.Frame > 0 {
		j.time("time", e.At.Time)
		o.uint("frame", e.At.Frame)
	}
	o.text("detail", e.Detail)
	if e.N > 0 {
		o.int("n", int64(e.N))
	}
	for i := range e.Fields {
		if f := &e.Fields[i]; f.Text != "" {
			o.text(f.Name, f.Text)
		} else {
			o.int(f.Name, f.Num)
		}
	}
	j.end()
}

// QP writes the summary of a QP.
func (j *JSON) QP(s *qp.Summary) {
	o := j.begin("qp")
	j.conn(s.Conn)
	for side, r := range s.Roles {
		o.word(r.String(), s.Conn.Text[side])
	}
	j.time("start", s.Start.Time)
	j.time("end", s.End.Time)
	o.word("state", s.State.String())
	if s.HasEnded {
		o.word("ended_by", s.EndedBy.String())
	}
	o.bool("handshake", s.Handshake)
	j.agreed(s)
	o.nested("messages")
	for op, n := range s.Messages {
		if n > 0 {
			o.uint(rdmap.Op(op).String(), n)
		}
	}
	o.close()
	o.nested("payload")
	for side, r := range s.Roles {
		o.uint(r.String(), s.Payload[side])
	}
	o.close()
	o.nested("fpdus")
	for _, c := range [...]mpa.CRC{mpa.CRCOK, mpa.CRCBad, mpa.CRCUnchecked, mpa.CRCOff} {
		o.uint(c.String(), s.FPDUs[c])
	}
	o.close()
	o.nested("stream")
	for side, r := range s.Roles {
		t := &s.Stream[side]
		o.nested(r.String())
		o.uint("octets", t.Octets)
		o.uint("framed", t.Framed)
		o.uint("skipped", t.Skipped)
		o.uint("missing", t.Missing)
		o.uint("retransmitted", t.Retransmitted)
		o.close()
	}
	o.close()
	o.nested("max_depth")
	for side, r := range s.Roles {
		o.int(r.String(), int64(s.MaxDepth[side]))
	}
	o.close()
	if s.Guessed > 0 {
		o.uint("guessed", s.Guessed)
	}
	if s.Unknown > 0 {
		o.uint("unknown", s.Unknown)
	}
	o.nested("latency")
	for i := range s.Latency {
		l := &s.Latency[i]
		o.nested(l.Kind.String())
		distribution(o, l.Dist)
		o.close()
	}
	if s.ULP != nil {
		commandLatencies(o, s.ULP)
	}
	o.close()
	if s.ULP != nil {
		upperLayer(o, s.ULP)
	}
	j.end()
}

// agreed writes what the two sides of a QP agreed at startup, or what was found
// of it.
func (j *JSON) agreed(s *qp.Summary) {
	o := &j.o
	o.nested("mpa")
	first := s.Request
	if first == nil {
		first = s.Reply
	}
	if first != nil {
		o.uint("revision", uint64(first.Revision))
	}
	if s.CRC != mpa.Unknown {
		o.bool("crc", s.CRC == mpa.On)
	}
	o.nested("markers")
	for side, r := range s.Roles {
		if s.Markers[side] != mpa.Unknown {
			o.bool(r.String(), s.Markers[side] == mpa.On)
		}
	}
	o.close()
	if s.Inferred {
		o.bool("inferred", true)
	}
	for _, d := range [...]struct {
		name string
		get  func(*mpa.Startup) uint16
	}{{"ird", func(s *mpa.Startup) uint16 { return s.IRD }}, {"ord", func(s *mpa.Startup) uint16 { return s.ORD }}} {
		req, rep := s.Request != nil && s.Request.HasEnhanced(), s.Reply != nil && s.Reply.HasEnhanced()
		if !req && !rep {
			continue
		}
		o.nested(d.name)
		if req {
			o.uint("initiator", uint64(d.get(s.Request)))
		}
		if rep {
			o.uint("responder", uint64(d.get(s.Reply)))
		}
		o.close()
	}
	if s.RTR != "" {
		o.word("rtr", s.RTR)
	}
	o.close()
}

// Summary writes the last record.
func (j *JSON) Summary(s *decode.Stats) {
	o := j.begin("summary")
	o.uint("frames", s.Frames)
	o.uint("octets", s.Octets)
	if s.Frames > 0 {
		j.time("first_time", s.FirstTime)
		j.time("last_time", s.LastTime)
	}
	j.links(s.LinkTypes)
	o.uint("qps", s.QPs)
	o.uint("messages", s.Messages)
	o.uint("fpdus", s.FPDUs)
	o.uint("crc_bad", s.CRCBad)
	o.nested("events")
	for _, kind := range sortedKeys(j.counts) {
		o.uint(kind, j.counts[kind])
	}
	o.close()
	o.uint("tcp_connections", s.TCPConnections)
	o.uint("other_frames", s.OtherFrames)
	j.leftOut(s)
	o.bool("cut_short", CutShort(s.Damage))
	j.end()
}

// CutShort says that an input ended in the middle of something.
func CutShort(damage []*capture.Error) bool {
	for _, d := range damage {
		if d.Cut {
			return true
		}
	}
	return false
}
