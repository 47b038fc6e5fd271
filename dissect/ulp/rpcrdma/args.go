package rpcrdma

// Args reads the arguments of a procedure at the start of b as far as they are
// known and there, and appends them to out; whole is false where that is not to
// their end. Those of COMPOUND are for [Compound.Parse].
func Args(out []Value, program, version, proc uint32, b []byte, at Chunks) (values []Value, whole bool) {
	p := lookup(program, version, proc)
	if p == nil {
		return out, false
	}
	w := walker{cursor: cursor{b: b}, reads: at.Reads, moved: uint64(at.Base), out: out}
	w.walk(p.args)
	return w.out, w.ok()
}

// A Status is the status that the results of a procedure begin with.
type Status struct {
	Code uint32
	Name string // in its RFC; "" where it is not known
	OK   bool   // success, or a lock that is waited for
}

// Results reads the results of a procedure at the start of b as far as they are
// known and there, and appends them to out. has is false where the procedure has
// no status, or b ends before it; whole is false where the results were not read
// to their end. Those of COMPOUND are for [Compound.Parse].
func Results(out []Value, program, version, proc uint32, b []byte, at Chunks) (s Status, has bool, values []Value, whole bool) {
	p := lookup(program, version, proc)
	if p == nil {
		return Status{}, false, out, false
	}
	w := walker{cursor: cursor{b: b}, writes: at.Writes, reply: true, moved: uint64(at.Base), out: out}
	if p.status == statusNone {
		w.walk(p.res)
		return Status{}, false, w.out, w.ok()
	}
	if p.status == statusNLM {
		w.opaque() // the cookie
	}
	w.status = w.word()
	if w.short {
		return Status{}, false, out, false
	}
	s = Status{Code: w.status, Name: p.status.name(w.status), OK: w.status == 0 || p.status == statusNLM && w.status == nlmBlocked}
	if w.status == 0 {
		w.walk(p.res)
	} else {
		w.walk(p.failed)
	}
	return s, true, w.out, w.ok()
}
