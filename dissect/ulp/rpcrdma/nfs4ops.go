package rpcrdma

// nfs4ops is the operations of COMPOUND: RFC 7531 (NFSv4.0), RFC 5662 (NFSv4.1),
// RFC 7863 (NFSv4.2) and RFC 8276 (extended attributes). Where a layout is not
// complete it ends in ":!", and there ends what can be followed of the COMPOUND.
var nfs4ops = []procedure{
	3:  {op: "nfs4.access", title: "ACCESS", args: "access:w", res: "supported:w access:w"},
	4:  {op: "nfs4.close", title: "CLOSE", args: "seqid:w stateid:i", res: "stateid:i"},
	5:  {op: "nfs4.commit", title: "COMMIT", args: "offset:d count:w", res: "verifier:v"},
	6:  {op: "nfs4.create", title: "CREATE", args: "type:t name:o :a", res: ":c :m"},
	7:  {op: "nfs4.delegpurge", title: "DELEGPURGE", args: "clientid:d"},
	8:  {op: "nfs4.delegreturn", title: "DELEGRETURN", args: "stateid:i"},
	9:  {op: "nfs4.getattr", title: "GETATTR", args: ":m", res: ":a"},
	10: {op: "nfs4.getfh", title: "GETFH", res: "fh:o"},
	11: {op: "nfs4.link", title: "LINK", args: "name:o", res: ":c"},
	12: {op: "nfs4.lock", title: "LOCK", args: "type:w reclaim:w offset:d length:d :k", res: "stateid:i", failed: ":j"},
	13: {op: "nfs4.lockt", title: "LOCKT", args: "type:w offset:d length:d clientid:d owner:o", failed: ":j"},
	14: {op: "nfs4.locku", title: "LOCKU", args: "type:w seqid:w stateid:i offset:d length:d", res: "stateid:i"},
	15: {op: "nfs4.lookup", title: "LOOKUP", args: "name:o"},
	16: {op: "nfs4.lookupp", title: "LOOKUPP"},
	17: {op: "nfs4.nverify", title: "NVERIFY", args: ":a"},
	18: {op: "nfs4.open", title: "OPEN", args: "seqid:w access:w deny:w clientid:d owner:o create:h claim:l", res: "stateid:i :c rflags:w :m delegation:g"},
	19: {op: "nfs4.openattr", title: "OPENATTR", args: "createdir:w"},
	20: {op: "nfs4.open_confirm", title: "OPEN_CONFIRM", args: "stateid:i seqid:w", res: "stateid:i"},
	21: {op: "nfs4.open_downgrade", title: "OPEN_DOWNGRADE", args: "stateid:i seqid:w access:w deny:w", res: "stateid:i"},
	22: {op: "nfs4.putfh", title: "PUTFH", args: "fh:o"},
	23: {op: "nfs4.putpubfh", title: "PUTPUBFH"},
	24: {op: "nfs4.putrootfh", title: "PUTROOTFH"},
	25: {op: "nfs4.read", title: "READ", args: "stateid:i offset:d count:w", res: "eof:w length:D"},
	26: {op: "nfs4.readdir", title: "READDIR", args: "cookie:d verifier:v dircount:w maxcount:w :m", res: "verifier:v :r"},
	27: {op: "nfs4.readlink", title: "READLINK", res: "length:D"},
	28: {op: "nfs4.remove", title: "REMOVE", args: "name:o", res: ":c"},
	29: {op: "nfs4.rename", title: "RENAME", args: "name:o to_name:o", res: ":c :c"},
	30: {op: "nfs4.renew", title: "RENEW", args: "clientid:d"},
	31: {op: "nfs4.restorefh", title: "RESTOREFH"},
	32: {op: "nfs4.savefh", title: "SAVEFH"},
	33: {op: "nfs4.secinfo", title: "SECINFO", args: "name:o", res: ":s"},
	34: {op: "nfs4.setattr", title: "SETATTR", args: "stateid:i :a", res: ":m", failed: ":m"},
	35: {op: "nfs4.setclientid", title: "SETCLIENTID", args: "verifier:v id:o cb_program:w netid:o address:o callback_ident:w", res: "clientid:d verifier:v", failed: ":u"},
	36: {op: "nfs4.setclientid_confirm", title: "SETCLIENTID_CONFIRM", args: "clientid:d verifier:v"},
	37: {op: "nfs4.verify", title: "VERIFY", args: ":a"},
	38: {op: "nfs4.write", title: "WRITE", args: "stateid:i offset:d stable:w length:D", res: "count:w committed:w verifier:v"},
	39: {op: "nfs4.release_lockowner", title: "RELEASE_LOCKOWNER", args: "clientid:d owner:o"},
	40: {op: "nfs4.backchannel_ctl", title: "BACKCHANNEL_CTL", args: "cb_program:w :e"},
	41: {op: "nfs4.bind_conn_to_session", title: "BIND_CONN_TO_SESSION", args: "session:n dir:w rdma:w", res: "session:n dir:w rdma:w"},
	42: {op: "nfs4.exchange_id", title: "EXCHANGE_ID", args: "verifier:v owner:o flags:w protect:p :y", res: "clientid:d sequence:w flags:w protect:q minor_id:d major_id:o scope:o :y"},
	43: {op: "nfs4.create_session", title: "CREATE_SESSION", args: "clientid:d sequence:w flags:w :A :A cb_program:w :e", res: "session:n sequence:w flags:w :A :A"},
	44: {op: "nfs4.destroy_session", title: "DESTROY_SESSION", args: "session:n"},
	45: {op: "nfs4.free_stateid", title: "FREE_STATEID", args: "stateid:i"},
	46: {op: "nfs4.get_dir_delegation", title: "GET_DIR_DELEGATION", args: ":w :m :T :T :m :m", res: ":!"},
	47: {op: "nfs4.getdeviceinfo", title: "GETDEVICEINFO", args: "device:n layout_type:w maxcount:w :m", res: "layout_type:w :o :m", failed: ":z"},
	48: {op: "nfs4.getdevicelist", title: "GETDEVICELIST", args: "layout_type:w maxdevices:w cookie:d verifier:v", res: ":!"},
	49: {op: "nfs4.layoutcommit", title: "LAYOUTCOMMIT", args: "offset:d length:d reclaim:w stateid:i last_write_offset:? :Z layout_type:w :o", res: "new_size:?"},
	50: {op: "nfs4.layoutget", title: "LAYOUTGET", args: "signal:w layout_type:w iomode:w offset:d length:d minlength:d stateid:i maxcount:w", res: "return_on_close:w stateid:i :L", failed: ":x"},
	51: {op: "nfs4.layoutreturn", title: "LAYOUTRETURN", args: "reclaim:w layout_type:w iomode:w return_type:b", res: ":I"},
	52: {op: "nfs4.secinfo_no_name", title: "SECINFO_NO_NAME", args: "style:w", res: ":s"},
	53: {op: "nfs4.sequence", title: "SEQUENCE", args: "session:n sequence:w slot:w highest_slot:w cache:w", res: "session:n sequence:w slot:w highest_slot:w target_highest_slot:w flags:w"},
	54: {op: "nfs4.set_ssv", title: "SET_SSV", args: ":o :o", res: ":o"},
	55: {op: "nfs4.test_stateid", title: "TEST_STATEID", args: "stateids:N", res: ":m"},
	56: {op: "nfs4.want_delegation", title: "WANT_DELEGATION", args: "want:w :!", res: ":!"},
	57: {op: "nfs4.destroy_clientid", title: "DESTROY_CLIENTID", args: "clientid:d"},
	58: {op: "nfs4.reclaim_complete", title: "RECLAIM_COMPLETE", args: "one_fs:w"},
	59: {op: "nfs4.allocate", title: "ALLOCATE", args: "stateid:i offset:d length:d"},
	60: {op: "nfs4.copy", title: "COPY", args: "stateid:i to_stateid:i offset:d to_offset:d count:d consecutive:w synchronous:w servers:0", res: ":N count:d committed:w verifier:v consecutive:w synchronous:w", failed: ":O"},
	61: {op: "nfs4.copy_notify", title: "COPY_NOTIFY", args: "stateid:i :!", res: ":!"},
	62: {op: "nfs4.deallocate", title: "DEALLOCATE", args: "stateid:i offset:d length:d"},
	63: {op: "nfs4.io_advise", title: "IO_ADVISE", args: "stateid:i offset:d length:d :m", res: ":m"},
	64: {op: "nfs4.layouterror", title: "LAYOUTERROR", args: "offset:d length:d stateid:i :!"},
	65: {op: "nfs4.layoutstats", title: "LAYOUTSTATS", args: "offset:d length:d stateid:i read_count:d read_bytes:d write_count:d write_bytes:d device:n layout_type:w :o"},
	66: {op: "nfs4.offload_cancel", title: "OFFLOAD_CANCEL", args: "stateid:i"},
	67: {op: "nfs4.offload_status", title: "OFFLOAD_STATUS", args: "stateid:i", res: "count:d :m"},
	68: {op: "nfs4.read_plus", title: "READ_PLUS", args: "stateid:i offset:d count:w", res: "eof:w :R"},
	69: {op: "nfs4.seek", title: "SEEK", args: "stateid:i offset:d what:w", res: "eof:w offset:d"},
	70: {op: "nfs4.write_same", title: "WRITE_SAME", args: "stateid:i stable:w offset:d block_size:d block_count:d :d :w :d :o", res: ":N count:d committed:w verifier:v"},
	71: {op: "nfs4.clone", title: "CLONE", args: "stateid:i to_stateid:i offset:d to_offset:d count:d"},
	72: {op: "nfs4.getxattr", title: "GETXATTR", args: "name:o", res: "length:D"},
	73: {op: "nfs4.setxattr", title: "SETXATTR", args: "option:w name:o length:D", res: ":c"},
	74: {op: "nfs4.listxattrs", title: "LISTXATTRS", args: "cookie:d maxcount:w", res: "cookie:d :M eof:w"},
	75: {op: "nfs4.removexattr", title: "REMOVEXATTR", args: "name:o", res: ":c"},

	// No such operation (RFC 7531): RFC numbers it 10044, see operation.
	76: {op: "nfs4.illegal", title: "ILLEGAL"},
}

// nfs4cbops is the operations of CB_COMPOUND: RFC 7531, RFC 5662 and RFC 7863.
var nfs4cbops = []procedure{
	3:  {op: "nfs4cb.getattr", title: "CB_GETATTR", args: "fh:o :m", res: ":a"},
	4:  {op: "nfs4cb.recall", title: "CB_RECALL", args: "stateid:i truncate:w fh:o"},
	5:  {op: "nfs4cb.layoutrecall", title: "CB_LAYOUTRECALL", args: "layout_type:w iomode:w changed:w recall_type:B"},
	6:  {op: "nfs4cb.notify", title: "CB_NOTIFY", args: "stateid:i fh:o :!"},
	7:  {op: "nfs4cb.push_deleg", title: "CB_PUSH_DELEG", args: "fh:o :!"},
	8:  {op: "nfs4cb.recall_any", title: "CB_RECALL_ANY", args: "objects:w :m"},
	9:  {op: "nfs4cb.recallable_obj_avail", title: "CB_RECALLABLE_OBJ_AVAIL", args: "objects:w :m"},
	10: {op: "nfs4cb.recall_slot", title: "CB_RECALL_SLOT", args: "target_highest_slot:w"},
	11: {op: "nfs4cb.sequence", title: "CB_SEQUENCE", args: "session:n sequence:w slot:w highest_slot:w cache:w :f", res: "session:n sequence:w slot:w highest_slot:w target_highest_slot:w"},
	12: {op: "nfs4cb.wants_cancelled", title: "CB_WANTS_CANCELLED", args: "contended:w resourced:w"},
	13: {op: "nfs4cb.notify_lock", title: "CB_NOTIFY_LOCK", args: "fh:o clientid:d owner:o"},
	14: {op: "nfs4cb.notify_deviceid", title: "CB_NOTIFY_DEVICEID", args: ":!"},
	15: {op: "nfs4cb.offload", title: "CB_OFFLOAD", args: "fh:o stateid:i status:E"},
	16: {op: "nfs4cb.illegal", title: "CB_ILLEGAL"},
}

// opIllegal is OP_ILLEGAL and OP_CB_ILLEGAL (RFC 7531).
const opIllegal = 10044

// operation returns an operation of COMPOUND, or of CB_COMPOUND; nil where it
// is not known.
func operation(callback bool, code uint32) *procedure {
	t := nfs4ops
	if callback {
		t = nfs4cbops
	}
	last := uint32(len(t) - 1)
	switch {
	case code == opIllegal:
		return &t[last]
	case code >= last || t[code].op == "":
		return nil
	}
	return &t[code]
}

// rank orders the operations of COMPOUND by how much they say of what it is
// for: those that only pick the file or ask how it is come last.
func rank(op uint32) int {
	switch op {
	case 53: // SEQUENCE
		return 0
	case 22, 23, 24, 31, 32: // PUTFH, PUTPUBFH, PUTROOTFH, RESTOREFH, SAVEFH
		return 1
	case 10: // GETFH
		return 2
	case 9: // GETATTR
		return 3
	case 3, 17, 37: // ACCESS, NVERIFY, VERIFY
		return 4
	case 15, 16: // LOOKUP, LOOKUPP
		return 5
	case 50, 51: // LAYOUTGET, LAYOUTRETURN, which ride along
		return 6
	}
	return rankSubject
}

// rankSubject is the rank of an operation that a COMPOUND can be for.
const rankSubject = 7

// rankCB does the same for CB_COMPOUND.
func rankCB(op uint32) int {
	if op == 11 { // CB_SEQUENCE
		return 0
	}
	return rankSubject
}
