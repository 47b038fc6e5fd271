package rpcrdma

import (
	"encoding/binary"
	"fmt"
)

// RPCVersion is the rpcvers of RFC 5531, section 9.
const RPCVersion = 2

// Message types (RFC 5531, section 9).
const (
	msgCall  = 0
	msgReply = 1
)

const (
	maxAuth = 400 // octets of opaque_auth (RFC 5531, section 8.2)
	callMin = 40  // octets of a call with no credentials
)

// Authentication flavors (RFC 5531, section 8.1).
const (
	AuthNone = 0
	AuthSys  = 1
	AuthGSS  = 6 // RPCSEC_GSS, RFC 2203
	AuthTLS  = 7 // RFC 9289
)

// An Auth is the opaque_auth of RFC 5531, section 8.2.
type Auth struct {
	Flavor uint32
	Body   []byte // at most 400 octets
}

// FlavorName is the name of an authentication flavor.
func FlavorName(f uint32) string {
	switch f {
	case AuthNone:
		return "AUTH_NONE"
	case AuthSys:
		return "AUTH_SYS"
	case AuthGSS:
		return "RPCSEC_GSS"
	case AuthTLS:
		return "AUTH_TLS"
	}
	return "unknown"
}

// GSS says what an RPCSEC_GSS credential (RFC 2203, section 5) is for.
type GSS struct {
	Proc    uint32 // 0: data; else the setup or end of a context
	Seq     uint32
	Service uint32 // one of GSSNone, GSSIntegrity and GSSPrivacy
}

// Services of RPCSEC_GSS (RFC 2203, section 5).
const (
	GSSNone      = 1
	GSSIntegrity = 2
	GSSPrivacy   = 3
)

// GSS returns what a credential of RPCSEC_GSS is for; ok is false where it is
// of another flavor, or too short.
func (a *Auth) GSS() (g GSS, ok bool) {
	if a.Flavor != AuthGSS || len(a.Body) < 16 {
		return GSS{}, false
	}
	return GSS{
		Proc:    binary.BigEndian.Uint32(a.Body[4:]),
		Seq:     binary.BigEndian.Uint32(a.Body[8:]),
		Service: binary.BigEndian.Uint32(a.Body[12:]),
	}, true
}

func (a *Auth) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, a.Flavor)
	return appendOpaque(b, a.Body)
}

func appendOpaque(b, s []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	b = append(b, s...)
	return append(b, make([]byte, -len(s)&3)...)
}

// A Call is the header of an RPC call (RFC 5531, section 9): what stands in
// front of the arguments of the procedure.
type Call struct {
	XID       uint32
	Program   uint32
	Version   uint32
	Procedure uint32
	Cred      Auth
	Verf      Auth
}

// A Reply is the header of an RPC reply (RFC 5531, section 9): what stands in
// front of the results of the procedure.
type Reply struct {
	XID    uint32
	Denied bool
	Verf   Auth   // where not Denied
	Stat   uint32 // AcceptStat; where Denied, RejectStat

	Low, High uint32 // of PROG_MISMATCH and RPC_MISMATCH
	AuthStat  uint32 // of AUTH_ERROR
}

// IsCall says whether the RPC message at the start of b is a call. ok is false
// where it is neither call nor reply, or b is too short to tell.
func IsCall(b []byte) (call, ok bool) {
	if len(b) < 8 {
		return false, false
	}
	t := binary.BigEndian.Uint32(b[4:])
	return t == msgCall, t == msgCall || t == msgReply
}

func (c *cursor) auth() (a Auth, err error) {
	a.Flavor = c.word()
	at := c.off
	n := c.word()
	if n > maxAuth && !c.short {
		return a, &FormatError{Off: at, Msg: fmt.Sprintf("%d octets of authentication are above %d", n, maxAuth)}
	}
	a.Body = c.padded(n)
	return a, nil
}

// ParseCall parses the call header at the start of b and returns its length.
// With ErrShort, what stands in front of the end of b is in m.
func ParseCall(b []byte) (m Call, n int, err error) {
	c := cursor{b: b}
	m.XID = c.word()
	if t := c.word(); t != msgCall && !c.short {
		return m, 0, &FormatError{Off: 4, Msg: fmt.Sprintf("message type %d is not CALL", t)}
	}
	if v := c.word(); v != RPCVersion && !c.short {
		return m, 0, &FormatError{Off: 8, Msg: fmt.Sprintf("RPC version %d is not 2", v)}
	}
	m.Program, m.Version, m.Procedure = c.word(), c.word(), c.word()
	if m.Cred, err = c.auth(); err != nil {
		return m, 0, err
	}
	if m.Verf, err = c.auth(); err != nil {
		return m, 0, err
	}
	if c.short {
		return m, 0, ErrShort
	}
	return m, c.off, nil
}

// Append appends the call header to b.
func (m *Call) Append(b []byte) []byte {
	for _, w := range [...]uint32{m.XID, msgCall, RPCVersion, m.Program, m.Version, m.Procedure} {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	b = m.Cred.append(b)
	return m.Verf.append(b)
}

// States of an accepted reply, and of a denied one (RFC 5531, section 9).
const (
	AcceptSuccess      = 0
	AcceptProgMismatch = 2

	RejectMismatch  = 0
	RejectAuthError = 1
)

// ParseReply parses the reply header at the start of b and returns its length.
// With ErrShort, what stands in front of the end of b is in m.
func ParseReply(b []byte) (m Reply, n int, err error) {
	c := cursor{b: b}
	m.XID = c.word()
	if t := c.word(); t != msgReply && !c.short {
		return m, 0, &FormatError{Off: 4, Msg: fmt.Sprintf("message type %d is not REPLY", t)}
	}
	switch v := c.word(); v {
	case 0:
		if m.Verf, err = c.auth(); err != nil {
			return m, 0, err
		}
		m.Stat = c.word()
		if m.Stat == AcceptProgMismatch {
			m.Low, m.High = c.word(), c.word()
		}
	case 1:
		m.Denied = true
		m.Stat = c.word()
		switch m.Stat {
		case RejectMismatch:
			m.Low, m.High = c.word(), c.word()
		case RejectAuthError:
			m.AuthStat = c.word()
		}
	default:
		return m, 0, &FormatError{Off: 8, Msg: fmt.Sprintf("reply state %d is neither accepted nor denied", v)}
	}
	if c.short {
		return m, 0, ErrShort
	}
	return m, c.off, nil
}

// Append appends the reply header to b.
func (m *Reply) Append(b []byte) []byte {
	word := binary.BigEndian.AppendUint32
	b = word(b, m.XID)
	b = word(b, msgReply)
	if !m.Denied {
		b = word(b, 0)
		b = m.Verf.append(b)
		b = word(b, m.Stat)
		if m.Stat == AcceptProgMismatch {
			b = word(b, m.Low)
			b = word(b, m.High)
		}
		return b
	}
	b = word(b, 1)
	b = word(b, m.Stat)
	switch m.Stat {
	case RejectMismatch:
		b = word(b, m.Low)
		b = word(b, m.High)
	case RejectAuthError:
		b = word(b, m.AuthStat)
	}
	return b
}

var acceptNames = [...]string{"SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR"}

var rejectNames = [...]string{"RPC_MISMATCH", "AUTH_ERROR"}

var authNames = [...]string{"AUTH_OK", "AUTH_BADCRED", "AUTH_REJECTEDCRED", "AUTH_BADVERF", "AUTH_REJECTEDVERF", "AUTH_TOOWEAK", "AUTH_INVALIDRESP", "AUTH_FAILED",
	"AUTH_KERB_GENERIC", "AUTH_TIMEEXPIRE", "AUTH_TKT_FILE", "AUTH_DECODE", "AUTH_NET_ADDR", "RPCSEC_GSS_CREDPROBLEM", "RPCSEC_GSS_CTXPROBLEM"}

// Status is the accept_stat, reject_stat or auth_stat by its name in RFC 5531,
// section 9: why the procedure was not run, or SUCCESS.
func (m *Reply) Status() string {
	names, v := acceptNames[:], m.Stat
	switch {
	case m.Denied && m.Stat == RejectAuthError:
		names, v = authNames[:], m.AuthStat
	case m.Denied:
		names = rejectNames[:]
	}
	if int64(v) < int64(len(names)) {
		return names[v]
	}
	return "unknown"
}
