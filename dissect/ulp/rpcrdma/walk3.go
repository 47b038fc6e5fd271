package rpcrdma

// Structures of NFSv3 (RFC 1813, section 2.5 and 2.6), in octets.
const (
	fattr3Len    = 84
	fattr3Size   = 20 // where its size stands
	wccAttrLen   = 24
	nfstime3Len  = 8
	setToClient  = 2 // SET_TO_CLIENT_TIME
	createExcl3  = 2 // EXCLUSIVE
	verifier3Len = 8
)

// value3 reads a structure of NFSv3; false where the kind is not one.
func (w *walker) value3(name string, kind byte) bool {
	switch kind {
	case 'F': // fattr3
		w.fattr3()
	case 'P': // post_op_attr
		if w.word() != 0 {
			w.fattr3()
		}
	case 'W': // wcc_data
		if w.word() != 0 {
			w.skip(wccAttrLen)
		}
		if w.word() != 0 {
			w.fattr3()
		}
	case 'H': // post_op_fh3
		if w.word() != 0 {
			w.octets("fh", w.opaque())
		}
	case 'S': // sattr3, with the guard of SETATTR left unread
		w.sattr3()
	case 'C': // createhow3
		mode := w.word()
		w.number(name, uint64(mode))
		if mode == createExcl3 {
			w.skip(verifier3Len)
		} else {
			w.sattr3()
		}
	default:
		return false
	}
	return true
}

func (w *walker) fattr3() {
	c := cursor{b: w.skip(fattr3Len), off: fattr3Size}
	w.number("file_size", c.double())
}

func (w *walker) sattr3() {
	for range 3 { // mode, uid, gid
		if w.word() != 0 {
			w.skip(4)
		}
	}
	if w.word() != 0 {
		w.number("set_size", w.double())
	}
	for range 2 { // atime, mtime
		if w.word() == setToClient {
			w.skip(nfstime3Len)
		}
	}
}
