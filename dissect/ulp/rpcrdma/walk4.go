package rpcrdma

// Values of the unions of NFSv4 (RFC 7531, RFC 5662) that decide what follows.
const (
	nf4Block, nf4Char, nf4Link = 3, 4, 5

	open4Create                 = 1
	exclusive4, exclusive4v1    = 2, 3
	claimNull, claimPrevious    = 0, 1
	claimDelegCur, claimDelPrev = 2, 3
	claimFH, claimDelegCurFH    = 4, 5
	claimDelPrevFH              = 6

	delegNone, delegRead, delegWrite, delegNoneExt = 0, 1, 2, 3
	wndContention, wndResource                     = 1, 2

	sp4None, sp4MachCred, sp4SSV = 0, 1, 2

	layoutFile, layoutFSID, layoutAll = 1, 2, 3

	contentData, contentHole = 0, 1
)

// Statuses with results of their own (RFC 5662; RFC 7863).
const (
	nfs4errTooSmall       = 10005
	nfs4errDenied         = 10010
	nfs4errClidInUse      = 10017
	nfs4errLayoutTryLater = 10058
	nfs4errOffloadNoReqs  = 10094
)

// value4 reads a structure of NFSv4; false where the kind is not one.
func (w *walker) value4(name string, kind byte) bool {
	switch kind {
	case 'a': // fattr4
		w.words()
		w.opaque()
	case 'c': // change_info4
		w.skip(20)
	case 't': // createtype4
		t := w.word()
		w.number(name, uint64(t))
		switch t {
		case nf4Link:
			w.data("")
		case nf4Block, nf4Char:
			w.skip(8)
		}
	case 'k': // locker4
		if w.word() != 0 {
			w.skip(4 + 16 + 4 + 8)
			w.opaque()
		} else {
			w.skip(16 + 4)
		}
	case 'j': // LOCK4denied
		if w.status == nfs4errDenied {
			w.walk("offset:d length:d type:w clientid:d owner:o")
		}
	case 'h': // openflag4
		w.openHow(name)
	case 'l': // open_claim4
		w.claim(name)
	case 'g': // open_delegation4
		w.delegation(name)
	case 'r': // dirlist4
		w.entries()
	case 's': // array of secinfo4
		w.array(func() {
			if w.word() == AuthGSS {
				w.walk(":o :w :w")
			}
		})
	case 'u': // clientaddr4
		if w.status == nfs4errClidInUse {
			w.walk("netid:o address:o")
		}
	case 'e': // array of callback_sec_parms4
		w.array(w.securityParms)
	case 'p': // state_protect4_a
		w.protect(name, ":m :m :M :M :w :w")
	case 'q': // state_protect4_r
		w.protect(name, ":m :m :w :w :w :w :M")
	case 'y': // nfs_impl_id4, at most one
		w.array(func() { w.walk("impl_domain:o impl_name:o :T") })
	case 'A': // channel_attrs4
		w.walk(":w :w :w :w :w :w :m")
	case 'L': // array of layout4
		w.array(func() { w.walk("offset:d length:d iomode:w layout_type:w :o") })
	case 'b': // layoutreturn4
		t := w.word()
		w.number(name, uint64(t))
		if t == layoutFile {
			w.walk("offset:d length:d stateid:i :o")
		}
	case 'I': // layoutreturn_stateid
		if w.word() != 0 {
			w.octets("stateid", w.skip(16))
		}
	case 'N': // array of stateid4
		n := w.array(func() { w.skip(16) })
		w.number(name, uint64(n))
	case 'M': // array of opaque<>
		w.array(func() { w.opaque() })
	case '0': // array that can be followed where it is empty
		w.stopped = w.word() != 0 && !w.short
	case 'R': // array of read_plus_content
		w.array(w.content)
	case 'B': // layoutrecall4
		t := w.word()
		w.number(name, uint64(t))
		switch t {
		case layoutFile:
			w.walk("fh:o offset:d length:d stateid:i")
		case layoutFSID:
			w.skip(16)
		case layoutAll:
		default:
			w.stopped = true
		}
	case 'f': // array of referring_call_list4
		w.array(func() {
			w.skip(16)
			w.array(func() { w.skip(8) })
		})
	case 'E': // offload_info4
		s := w.word()
		w.number(name, uint64(s))
		if s == 0 {
			w.walk(":N count:d committed:w verifier:v")
		} else {
			w.walk("count:d")
		}
	case '?': // offset or length that is there or not
		if w.word() != 0 {
			w.number(name, w.double())
		}
	case 'Z': // newtime4
		if w.word() != 0 {
			w.skip(12)
		}
	case 'z':
		if w.status == nfs4errTooSmall {
			w.walk("mincount:w")
		}
	case 'x':
		if w.status == nfs4errLayoutTryLater {
			w.skip(4)
		}
	case 'O':
		if w.status == nfs4errOffloadNoReqs {
			w.skip(8)
		}
	default:
		return false
	}
	return true
}

func (w *walker) openHow(name string) {
	create := w.word() == open4Create
	w.number(name, b2n(create))
	if !create {
		return
	}
	switch w.word() {
	case exclusive4:
		w.skip(8)
	case exclusive4v1:
		w.walk(":v :a")
	default:
		w.walk(":a")
	}
}

func b2n(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (w *walker) claim(name string) {
	c := w.word()
	w.number(name, uint64(c))
	switch c {
	case claimNull, claimDelPrev:
		w.walk("name:o")
	case claimPrevious:
		w.skip(4)
	case claimDelegCur:
		w.walk(":i name:o")
	case claimDelegCurFH:
		w.skip(16)
	case claimFH, claimDelPrevFH:
	default:
		w.stopped = true
	}
}

func (w *walker) delegation(name string) {
	t := w.word()
	w.number(name, uint64(t))
	switch t {
	case delegNone:
	case delegRead:
		w.walk("delegation_stateid:i :w :w :w :w :o")
	case delegWrite:
		w.walk("delegation_stateid:i :w")
		switch w.word() { // limitby4: a size, or a number of blocks and their size
		case 1, 2:
			w.skip(8)
		default:
			w.stopped = true
		}
		w.walk(":w :w :w :o")
	case delegNoneExt:
		if why := w.word(); why == wndContention || why == wndResource {
			w.skip(4)
		}
	default:
		w.stopped = true
	}
}

// entries reads the entries of READDIR, and counts them.
func (w *walker) entries() {
	n := uint64(0)
	for w.word() == 1 && w.ok() {
		w.walk(":d :o :a")
		n++
	}
	w.number("entries", n)
	w.number("eof", uint64(w.word()))
}

func (w *walker) securityParms() {
	switch w.word() {
	case AuthNone:
	case AuthSys:
		w.walk(":w :o :w :w :m")
	case AuthGSS:
		w.walk(":w :o :o")
	default:
		w.stopped = true
	}
}

func (w *walker) protect(name, ssv string) {
	how := w.word()
	w.number(name, uint64(how))
	switch how {
	case sp4None:
	case sp4MachCred:
		w.walk(":m :m")
	case sp4SSV:
		w.walk(ssv)
	default:
		w.stopped = true
	}
}

func (w *walker) content() {
	switch w.word() {
	case contentData:
		w.walk("offset:d length:D")
	case contentHole:
		w.walk("hole_offset:d hole_length:d")
	default:
		w.stopped = true
	}
}
