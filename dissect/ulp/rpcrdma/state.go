package rpcrdma

// A state is what a decoder keeps of a call until it is answered, in the 64 bits
// that a ulp.Pending has for it:
//
//	 0-3  program, as an index of programs, from 1; 0: not known
//	 4-7  version
//	 8-15 procedure
//	16-17 service of RPCSEC_GSS, 0 for none
//	   18 there is a Reply chunk
//	   19 its beginning was seen
//	   20 and says that the call failed
//	21-22 what its status is: see outcomeKind
//	24-31 how often messages were lost before it
//	32-63 its status
type state uint64

const (
	stateGSS      = 16
	stateReply    = 1 << 18
	stateAnswered = 1 << 19
	stateFailed   = 1 << 20
	stateKind     = 21
	stateLosses   = 24
	stateLossMask = 0xFF
	stateStatus   = 32
)

var programs = [...]uint32{0, ProgramNFS, ProgramMount, ProgramNLM, ProgramNSM, ProgramNFSACL, ProgramRPCBind, ProgramTransient}

func newState(losses uint8, reply bool) state {
	s := state(losses) << stateLosses
	if reply {
		s |= stateReply
	}
	return s
}

// set notes the procedure that is called, where it is known.
func (s *state) set(program, version, proc uint32) {
	if program >= ProgramTransient && program <= ProgramTransientLast {
		program = ProgramTransient
	}
	if lookup(program, version, proc) == nil {
		return
	}
	for i, p := range programs {
		if p == program {
			*s |= state(i) | state(version&0xF)<<4 | state(proc&0xFF)<<8
		}
	}
}

func (s state) known() bool { return s&0xF != 0 }
func (s state) program() (program, version, p uint32) {
	return programs[s&7], uint32(s>>4) & 0xF, uint32(s>>8) & 0xFF
}
func (s state) callback() bool  { return programs[s&7] == ProgramTransient }
func (s state) hasReply() bool  { return s&stateReply != 0 }
func (s state) answered() bool  { return s&stateAnswered != 0 }
func (s state) failed() bool    { return s&stateFailed != 0 }
func (s state) losses() uint8   { return uint8(s >> stateLosses) }
func (s state) service() uint32 { return uint32(s>>stateGSS) & 3 }

// unwrap finds the arguments of a call in what RPCSEC_GSS makes of them (RFC
// 2203, section 5.3): ok is false where they are encrypted, or the call is of
// RPCSEC_GSS itself.
func (s *state) unwrap(rpc *Call, args []byte, base int) (ok bool, _ []byte, _ int) {
	if rpc.Cred.Flavor != AuthGSS {
		return true, args, base
	}
	g, ok := rpc.Cred.GSS()
	if !ok || g.Proc != 0 {
		*s |= GSSPrivacy << stateGSS // there is nothing to read in the reply either
		return false, nil, 0
	}
	*s |= state(g.Service&3) << stateGSS
	return skipGSS(g.Service, args, base)
}

// skipGSS passes over the length and sequence number in front of arguments and
// results whose integrity is protected.
func skipGSS(service uint32, b []byte, base int) (ok bool, _ []byte, _ int) {
	switch service {
	case GSSPrivacy:
		return false, nil, 0
	case GSSIntegrity:
		if len(b) < 8 {
			return false, nil, 0
		}
		return true, b[8:], base + 8
	}
	return true, b, base
}

// An outcome is what a reply says.
type outcome struct {
	op       string
	known    bool // the reply could be read
	failed   bool
	result   string // the status in words, "" for success
	kind     uint32 // what status is
	status   uint32
	data     uint64 // octets read or written, where hasData
	hasData  bool
	whole    bool
	compound bool // the decoder's compound is of it
}

// Kinds of status of an outcome.
const (
	kindNone     = iota // success
	kindStatus          // of the procedure
	kindAccepted        // AcceptStat
	kindDenied          // AuthStat, or deniedMismatch
)

// deniedMismatch is RPC_MISMATCH.
const deniedMismatch = 1<<32 - 1

// answer notes what a reply said that was seen ahead of its header.
func (s *state) answer(o *outcome) {
	if !o.known {
		return
	}
	*s |= stateAnswered | state(o.kind)<<stateKind | state(o.status)<<stateStatus
	if o.failed {
		*s |= stateFailed
	}
}

// outcome is what answer noted.
func (s state) outcome() (result string, ok bool) {
	if !s.answered() {
		return "", false
	}
	return s.words(uint32(s>>stateKind)&3, uint32(s>>stateStatus)), true
}

// words is a status in words, "" for success.
func (s state) words(kind, status uint32) string {
	name := ""
	switch kind {
	case kindNone:
		return ""
	case kindAccepted:
		name = (&Reply{Stat: status}).Status()
	case kindDenied:
		r := Reply{Denied: true, Stat: RejectAuthError, AuthStat: status}
		if status == deniedMismatch {
			r.Stat = RejectMismatch
		}
		name = r.Status()
	case kindStatus:
		program, version, proc := s.program()
		if isCompound(program, version, proc) {
			name = StatusName4(status)
		} else if p := lookup(program, version, proc); p != nil {
			name = p.status.name(status)
		}
	}
	if name == "" {
		return "status " + utoa(status)
	}
	return name
}
