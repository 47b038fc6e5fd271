package rpcrdma

// A status is the kind of status that results begin with.
type status uint8

const (
	statusNone  status = iota
	statusNFS3         // nfsstat of RFC 1094, nfsstat3 of RFC 1813
	statusMount        // mountstat3 of RFC 1813, section 5.1.5
	statusNLM          // nlm4_stats of RFC 1813, section 6.2, behind a cookie
	statusNFS4         // nfsstat4
)

// name is a status of a kind by its name in the RFC.
func (s status) name(v uint32) string {
	switch s {
	case statusNFS3:
		return StatusName3(v)
	case statusMount:
		return mountStatus(v)
	case statusNLM:
		return nlmStatus(v)
	case statusNFS4:
		return StatusName4(v)
	}
	return ""
}

// StatusName3 is an nfsstat3 by its name in RFC 1813, section 2.6; "" where it
// is not known.
func StatusName3(v uint32) string {
	switch v {
	case 0:
		return "NFS3_OK"
	case 1:
		return "NFS3ERR_PERM"
	case 2:
		return "NFS3ERR_NOENT"
	case 5:
		return "NFS3ERR_IO"
	case 6:
		return "NFS3ERR_NXIO"
	case 13:
		return "NFS3ERR_ACCES"
	case 17:
		return "NFS3ERR_EXIST"
	case 18:
		return "NFS3ERR_XDEV"
	case 19:
		return "NFS3ERR_NODEV"
	case 20:
		return "NFS3ERR_NOTDIR"
	case 21:
		return "NFS3ERR_ISDIR"
	case 22:
		return "NFS3ERR_INVAL"
	case 27:
		return "NFS3ERR_FBIG"
	case 28:
		return "NFS3ERR_NOSPC"
	case 30:
		return "NFS3ERR_ROFS"
	case 31:
		return "NFS3ERR_MLINK"
	case 63:
		return "NFS3ERR_NAMETOOLONG"
	case 66:
		return "NFS3ERR_NOTEMPTY"
	case 69:
		return "NFS3ERR_DQUOT"
	case 70:
		return "NFS3ERR_STALE"
	case 71:
		return "NFS3ERR_REMOTE"
	case 10001:
		return "NFS3ERR_BADHANDLE"
	case 10002:
		return "NFS3ERR_NOT_SYNC"
	case 10003:
		return "NFS3ERR_BAD_COOKIE"
	case 10004:
		return "NFS3ERR_NOTSUPP"
	case 10005:
		return "NFS3ERR_TOOSMALL"
	case 10006:
		return "NFS3ERR_SERVERFAULT"
	case 10007:
		return "NFS3ERR_BADTYPE"
	case 10008:
		return "NFS3ERR_JUKEBOX"
	}
	return ""
}

func mountStatus(v uint32) string {
	switch v {
	case 0:
		return "MNT3_OK"
	case 1:
		return "MNT3ERR_PERM"
	case 2:
		return "MNT3ERR_NOENT"
	case 5:
		return "MNT3ERR_IO"
	case 13:
		return "MNT3ERR_ACCES"
	case 20:
		return "MNT3ERR_NOTDIR"
	case 22:
		return "MNT3ERR_INVAL"
	case 63:
		return "MNT3ERR_NAMETOOLONG"
	case 10004:
		return "MNT3ERR_NOTSUPP"
	case 10006:
		return "MNT3ERR_SERVERFAULT"
	}
	return ""
}

// nlmBlocked is NLM4_BLOCKED: the lock will be granted later.
const nlmBlocked = 3

var nlmNames = [...]string{"NLM4_GRANTED", "NLM4_DENIED", "NLM4_DENIED_NOLOCKS", "NLM4_BLOCKED", "NLM4_DENIED_GRACE_PERIOD", "NLM4_DEADLCK", "NLM4_ROFS", "NLM4_STALE_FH", "NLM4_FBIG", "NLM4_FAILED"}

func nlmStatus(v uint32) string {
	if int64(v) < int64(len(nlmNames)) {
		return nlmNames[v]
	}
	return ""
}
