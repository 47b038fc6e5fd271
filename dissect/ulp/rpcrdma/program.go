package rpcrdma

// Numbers of RPC programs (RFC 5531, section 8.3, and the registry that it
// sets up).
const (
	ProgramRPCBind = 100000
	ProgramNFS     = 100003
	ProgramMount   = 100005
	ProgramNLM     = 100021
	ProgramNSM     = 100024
	ProgramNFSACL  = 100227
	// Callbacks of NFSv4 use a number that the client picks from the transient
	// range (RFC 5531, section 8.3; RFC 8881, section 18.36).
	ProgramTransient     = 0x40000000
	ProgramTransientLast = 0x5fffffff
)

// Numbers of the procedures of NFSv4 and of its callbacks that are not NULL
// (RFC 7531; RFC 5662).
const procCompound = 1

// A procedure is a procedure of an RPC program, or an operation of COMPOUND.
// args and res are layouts, see walk.go. res stands behind the status, where
// there is one.
type procedure struct {
	op     string // "nfs3.read"
	title  string // as in its RFC
	args   string
	res    string // on success
	status status // what the results begin with
	failed string // what stands behind another status than success
}

// find returns the procedures of a version of a program, nil where it is not
// known.
func find(program, version uint32) []procedure {
	switch program {
	case ProgramRPCBind:
		if version == 2 {
			return portmap2
		}
		if version == 3 || version == 4 {
			return rpcbind4
		}
	case ProgramNFS:
		switch version {
		case 2:
			return nfs2
		case 3:
			return nfs3
		case 4:
			return nfs4
		}
	case ProgramMount:
		if version >= 1 && version <= 3 {
			return mount
		}
	case ProgramNLM:
		if version >= 1 && version <= 4 {
			return nlm
		}
	case ProgramNSM:
		return nsm
	case ProgramNFSACL:
		if version == 2 {
			return nfsacl2
		}
		if version == 3 {
			return nfsacl3
		}
	default:
		if program >= ProgramTransient && program <= ProgramTransientLast {
			return nfs4cb
		}
	}
	return nil
}

// OpUnknown names a call of a program or procedure that is not known, and one
// that is conveyed in a chunk and so not seen.
const OpUnknown = "rpc.call"

// Name is a procedure as one lower-case word with its protocol: "nfs3.read",
// "mount.mnt". Of NFSv4's COMPOUND it is "nfs4.compound", see
// [Compound.Subject].
func Name(program, version, proc uint32) string {
	if p := lookup(program, version, proc); p != nil {
		return p.op
	}
	return OpUnknown
}

// ProgramName is a program as one lower-case word: "nfs", "mount", "nlm",
// "nsm", "nfsacl", "rpcbind", "nfs4cb" for the transient numbers, and "" for
// what is not known.
func ProgramName(program uint32) string {
	switch program {
	case ProgramRPCBind:
		return "rpcbind"
	case ProgramNFS:
		return "nfs"
	case ProgramMount:
		return "mount"
	case ProgramNLM:
		return "nlm"
	case ProgramNSM:
		return "nsm"
	case ProgramNFSACL:
		return "nfsacl"
	}
	if program >= ProgramTransient && program <= ProgramTransientLast {
		return "nfs4cb"
	}
	return ""
}

func lookup(program, version, proc uint32) *procedure {
	t := find(program, version)
	if uint64(proc) < uint64(len(t)) && t[proc].op != "" {
		return &t[proc]
	}
	return nil
}

// isCompound says that a procedure is COMPOUND of NFSv4, or CB_COMPOUND.
func isCompound(program, version, proc uint32) bool {
	if proc != procCompound {
		return false
	}
	return program == ProgramNFS && version == 4 || program >= ProgramTransient && program <= ProgramTransientLast
}

var nfs4 = []procedure{
	{op: "nfs4.null", title: "NULL"},
	{op: "nfs4.compound", title: "COMPOUND"},
}

var nfs4cb = []procedure{
	{op: "nfs4cb.null", title: "CB_NULL"},
	{op: "nfs4cb.compound", title: "CB_COMPOUND"},
}
