package rpcrdma

// nfs3 is RFC 1813, section 3.3.
var nfs3 = []procedure{
	{op: "nfs3.null", title: "NULL"},
	{op: "nfs3.getattr", title: "GETATTR", args: "fh:o", status: statusNFS3, res: ":F"},
	{op: "nfs3.setattr", title: "SETATTR", args: "fh:o :S", status: statusNFS3, res: ":W", failed: ":W"},
	{op: "nfs3.lookup", title: "LOOKUP", args: "fh:o name:o", status: statusNFS3, res: "fh:o :P :P", failed: ":P"},
	{op: "nfs3.access", title: "ACCESS", args: "fh:o access:w", status: statusNFS3, res: ":P access:w", failed: ":P"},
	{op: "nfs3.readlink", title: "READLINK", args: "fh:o", status: statusNFS3, res: ":P length:D", failed: ":P"},
	{op: "nfs3.read", title: "READ", args: "fh:o offset:d count:w", status: statusNFS3, res: ":P count:w eof:w length:D", failed: ":P"},
	{op: "nfs3.write", title: "WRITE", args: "fh:o offset:d count:w stable:w length:D", status: statusNFS3, res: ":W count:w committed:w verifier:v", failed: ":W"},
	{op: "nfs3.create", title: "CREATE", args: "fh:o name:o mode:C", status: statusNFS3, res: ":H :P :W", failed: ":W"},
	{op: "nfs3.mkdir", title: "MKDIR", args: "fh:o name:o :S", status: statusNFS3, res: ":H :P :W", failed: ":W"},
	{op: "nfs3.symlink", title: "SYMLINK", args: "fh:o name:o :S length:D", status: statusNFS3, res: ":H :P :W", failed: ":W"},
	{op: "nfs3.mknod", title: "MKNOD", args: "fh:o name:o type:w", status: statusNFS3, res: ":H :P :W", failed: ":W"},
	{op: "nfs3.remove", title: "REMOVE", args: "fh:o name:o", status: statusNFS3, res: ":W", failed: ":W"},
	{op: "nfs3.rmdir", title: "RMDIR", args: "fh:o name:o", status: statusNFS3, res: ":W", failed: ":W"},
	{op: "nfs3.rename", title: "RENAME", args: "fh:o name:o to_fh:o to_name:o", status: statusNFS3, res: ":W :W", failed: ":W :W"},
	{op: "nfs3.link", title: "LINK", args: "fh:o to_fh:o to_name:o", status: statusNFS3, res: ":P :W", failed: ":P :W"},
	{op: "nfs3.readdir", title: "READDIR", args: "fh:o cookie:d verifier:v count:w", status: statusNFS3, res: ":P verifier:v", failed: ":P"},
	{op: "nfs3.readdirplus", title: "READDIRPLUS", args: "fh:o cookie:d verifier:v dircount:w maxcount:w", status: statusNFS3, res: ":P verifier:v", failed: ":P"},
	{op: "nfs3.fsstat", title: "FSSTAT", args: "fh:o", status: statusNFS3, res: ":P total_bytes:d free_bytes:d", failed: ":P"},
	{op: "nfs3.fsinfo", title: "FSINFO", args: "fh:o", status: statusNFS3, res: ":P rtmax:w rtpref:w rtmult:w wtmax:w wtpref:w wtmult:w", failed: ":P"},
	{op: "nfs3.pathconf", title: "PATHCONF", args: "fh:o", status: statusNFS3, res: ":P linkmax:w name_max:w", failed: ":P"},
	{op: "nfs3.commit", title: "COMMIT", args: "fh:o offset:d count:w", status: statusNFS3, res: ":W verifier:v", failed: ":W"},
}

// nfs2 is RFC 1094, section 2.2. A file handle has 32 octets.
var nfs2 = []procedure{
	{op: "nfs2.null", title: "NULL"},
	{op: "nfs2.getattr", title: "GETATTR", args: "fh:X", status: statusNFS3},
	{op: "nfs2.setattr", title: "SETATTR", args: "fh:X", status: statusNFS3},
	{op: "nfs2.root", title: "ROOT"},
	{op: "nfs2.lookup", title: "LOOKUP", args: "fh:X name:o", status: statusNFS3, res: "fh:X"},
	{op: "nfs2.readlink", title: "READLINK", args: "fh:X", status: statusNFS3, res: "length:D"},
	{op: "nfs2.read", title: "READ", args: "fh:X offset:w count:w", status: statusNFS3},
	{op: "nfs2.writecache", title: "WRITECACHE"},
	{op: "nfs2.write", title: "WRITE", args: "fh:X :w offset:w :w length:D", status: statusNFS3},
	{op: "nfs2.create", title: "CREATE", args: "fh:X name:o", status: statusNFS3, res: "fh:X"},
	{op: "nfs2.remove", title: "REMOVE", args: "fh:X name:o", status: statusNFS3},
	{op: "nfs2.rename", title: "RENAME", args: "fh:X name:o to_fh:X to_name:o", status: statusNFS3},
	{op: "nfs2.link", title: "LINK", args: "fh:X to_fh:X to_name:o", status: statusNFS3},
	{op: "nfs2.symlink", title: "SYMLINK", args: "fh:X name:o length:D", status: statusNFS3},
	{op: "nfs2.mkdir", title: "MKDIR", args: "fh:X name:o", status: statusNFS3, res: "fh:X"},
	{op: "nfs2.rmdir", title: "RMDIR", args: "fh:X name:o", status: statusNFS3},
	{op: "nfs2.readdir", title: "READDIR", args: "fh:X cookie:w count:w", status: statusNFS3},
	{op: "nfs2.statfs", title: "STATFS", args: "fh:X", status: statusNFS3, res: "tsize:w bsize:w blocks:w bfree:w bavail:w"},
}

// mount is RFC 1813, appendix I (version 3); versions 1 and 2 are RFC 1094,
// appendix A, with PATHCONF, which version 3 does not have.
var mount = []procedure{
	{op: "mount.null", title: "NULL"},
	{op: "mount.mnt", title: "MNT", args: "path:o", status: statusMount, res: "fh:o flavors:m"},
	{op: "mount.dump", title: "DUMP"},
	{op: "mount.umnt", title: "UMNT", args: "path:o"},
	{op: "mount.umntall", title: "UMNTALL"},
	{op: "mount.export", title: "EXPORT"},
	{op: "mount.exportall", title: "EXPORTALL"},
	{op: "mount.pathconf", title: "PATHCONF"},
}

// nlm is the Network Lock Manager: version 4 is RFC 1813, appendix II; versions
// 1 to 3 (X/Open CAE C702) number their procedures the same.
var nlm = []procedure{
	{op: "nlm.null", title: "NULL"},
	{op: "nlm.test", title: "TEST", args: "cookie:o exclusive:w caller:o fh:o", status: statusNLM},
	{op: "nlm.lock", title: "LOCK", args: "cookie:o block:w exclusive:w caller:o fh:o", status: statusNLM},
	{op: "nlm.cancel", title: "CANCEL", args: "cookie:o block:w exclusive:w caller:o fh:o", status: statusNLM},
	{op: "nlm.unlock", title: "UNLOCK", args: "cookie:o caller:o fh:o", status: statusNLM},
	{op: "nlm.granted", title: "GRANTED", args: "cookie:o exclusive:w caller:o fh:o", status: statusNLM},
	{op: "nlm.test_msg", title: "TEST_MSG"},
	{op: "nlm.lock_msg", title: "LOCK_MSG"},
	{op: "nlm.cancel_msg", title: "CANCEL_MSG"},
	{op: "nlm.unlock_msg", title: "UNLOCK_MSG"},
	{op: "nlm.granted_msg", title: "GRANTED_MSG"},
	{op: "nlm.test_res", title: "TEST_RES"},
	{op: "nlm.lock_res", title: "LOCK_RES"},
	{op: "nlm.cancel_res", title: "CANCEL_RES"},
	{op: "nlm.unlock_res", title: "UNLOCK_RES"},
	{op: "nlm.granted_res", title: "GRANTED_RES"},
	16: {},
	20: {op: "nlm.share", title: "SHARE", args: "cookie:o caller:o fh:o", status: statusNLM},
	21: {op: "nlm.unshare", title: "UNSHARE", args: "cookie:o caller:o fh:o", status: statusNLM},
	22: {op: "nlm.nm_lock", title: "NM_LOCK", args: "cookie:o block:w exclusive:w caller:o fh:o", status: statusNLM},
	23: {op: "nlm.free_all", title: "FREE_ALL", args: "caller:o"},
}

// nsm is the Network Status Monitor (X/Open CAE C702, chapter 11).
var nsm = []procedure{
	{op: "nsm.null", title: "NULL"},
	{op: "nsm.stat", title: "STAT", args: "host:o"},
	{op: "nsm.mon", title: "MON", args: "host:o"},
	{op: "nsm.unmon", title: "UNMON", args: "host:o"},
	{op: "nsm.unmon_all", title: "UNMON_ALL"},
	{op: "nsm.simu_crash", title: "SIMU_CRASH"},
	{op: "nsm.notify", title: "NOTIFY", args: "host:o"},
}

// nfsacl2 and nfsacl3 are the NFSACL protocol, which has no RFC (RFC 8267,
// section 5.2).
var nfsacl2 = []procedure{
	{op: "nfsacl.null", title: "NULL"},
	{op: "nfsacl.getacl", title: "GETACL", args: "fh:X mask:w", status: statusNFS3},
	{op: "nfsacl.setacl", title: "SETACL", args: "fh:X mask:w", status: statusNFS3},
	{op: "nfsacl.getattr", title: "GETATTR", args: "fh:X", status: statusNFS3},
	{op: "nfsacl.access", title: "ACCESS", args: "fh:X access:w", status: statusNFS3},
	{op: "nfsacl.getxattrdir", title: "GETXATTRDIR", args: "fh:X", status: statusNFS3},
}

var nfsacl3 = []procedure{
	{op: "nfsacl.null", title: "NULL"},
	{op: "nfsacl.getacl", title: "GETACL", args: "fh:o mask:w", status: statusNFS3, res: ":P mask:w", failed: ":P"},
	{op: "nfsacl.setacl", title: "SETACL", args: "fh:o mask:w", status: statusNFS3, res: ":P", failed: ":P"},
	{op: "nfsacl.getxattrdir", title: "GETXATTRDIR", args: "fh:o", status: statusNFS3},
}

// portmap2 is RFC 1833, section 3.
var portmap2 = []procedure{
	{op: "rpcbind.null", title: "NULL"},
	{op: "rpcbind.set", title: "SET", args: "program:w version:w"},
	{op: "rpcbind.unset", title: "UNSET", args: "program:w version:w"},
	{op: "rpcbind.getport", title: "GETPORT", args: "program:w version:w", res: "port:w"},
	{op: "rpcbind.dump", title: "DUMP"},
	{op: "rpcbind.callit", title: "CALLIT", args: "program:w version:w procedure:w"},
}

// rpcbind4 is RFC 1833, section 2, of versions 3 and 4.
var rpcbind4 = []procedure{
	{op: "rpcbind.null", title: "NULL"},
	{op: "rpcbind.set", title: "SET", args: "program:w version:w netid:o address:o"},
	{op: "rpcbind.unset", title: "UNSET", args: "program:w version:w netid:o address:o"},
	{op: "rpcbind.getaddr", title: "GETADDR", args: "program:w version:w netid:o address:o", res: "address:o"},
	{op: "rpcbind.dump", title: "DUMP"},
	{op: "rpcbind.bcast", title: "BCAST", args: "program:w version:w procedure:w"},
	{op: "rpcbind.gettime", title: "GETTIME"},
	{op: "rpcbind.uaddr2taddr", title: "UADDR2TADDR"},
	{op: "rpcbind.taddr2uaddr", title: "TADDR2UADDR"},
	{op: "rpcbind.getversaddr", title: "GETVERSADDR", args: "program:w version:w netid:o address:o", res: "address:o"},
	{op: "rpcbind.indirect", title: "INDIRECT", args: "program:w version:w procedure:w"},
	{op: "rpcbind.getaddrlist", title: "GETADDRLIST", args: "program:w version:w netid:o address:o"},
	{op: "rpcbind.getstat", title: "GETSTAT"},
}
