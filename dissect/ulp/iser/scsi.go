package iser

import (
	"encoding/binary"
	"fmt"
)

// cdb is a SCSI operation: its name for people, in lower case, and where its
// LBA and length are.
type cdb struct {
	title, name  string
	lba, lbaLen  int // octets
	size, sizeLn int // transfer length in blocks; 0: none
}

var cdbs = map[uint8]cdb{
	0x00: {title: "TEST UNIT READY", name: "iscsi.test_unit_ready"},
	0x03: {title: "REQUEST SENSE", name: "iscsi.request_sense"},
	0x04: {title: "FORMAT UNIT", name: "iscsi.format_unit"},
	0x08: {title: "READ(6)", name: "iscsi.read", lba: 1, lbaLen: 3, size: 4, sizeLn: 1},
	0x0A: {title: "WRITE(6)", name: "iscsi.write", lba: 1, lbaLen: 3, size: 4, sizeLn: 1},
	0x12: {title: "INQUIRY", name: "iscsi.inquiry"},
	0x15: {title: "MODE SELECT(6)", name: "iscsi.mode_select"},
	0x16: {title: "RESERVE(6)", name: "iscsi.reserve"},
	0x17: {title: "RELEASE(6)", name: "iscsi.release"},
	0x1A: {title: "MODE SENSE(6)", name: "iscsi.mode_sense"},
	0x1B: {title: "START STOP UNIT", name: "iscsi.start_stop_unit"},
	0x1D: {title: "SEND DIAGNOSTIC", name: "iscsi.send_diagnostic"},
	0x1E: {title: "PREVENT ALLOW MEDIUM REMOVAL", name: "iscsi.prevent_allow_medium_removal"},
	0x25: {title: "READ CAPACITY(10)", name: "iscsi.read_capacity"},
	0x28: {title: "READ(10)", name: "iscsi.read", lba: 2, lbaLen: 4, size: 7, sizeLn: 2},
	0x2A: {title: "WRITE(10)", name: "iscsi.write", lba: 2, lbaLen: 4, size: 7, sizeLn: 2},
	0x2E: {title: "WRITE AND VERIFY(10)", name: "iscsi.write_and_verify", lba: 2, lbaLen: 4, size: 7, sizeLn: 2},
	0x2F: {title: "VERIFY(10)", name: "iscsi.verify", lba: 2, lbaLen: 4, size: 7, sizeLn: 2},
	0x35: {title: "SYNCHRONIZE CACHE(10)", name: "iscsi.synchronize_cache", lba: 2, lbaLen: 4, size: 7, sizeLn: 2},
	0x3B: {title: "WRITE BUFFER", name: "iscsi.write_buffer"},
	0x3C: {title: "READ BUFFER(10)", name: "iscsi.read_buffer"},
	0x41: {title: "WRITE SAME(10)", name: "iscsi.write_same", lba: 2, lbaLen: 4, size: 7, sizeLn: 2},
	0x42: {title: "UNMAP", name: "iscsi.unmap"},
	0x4D: {title: "LOG SENSE", name: "iscsi.log_sense"},
	0x55: {title: "MODE SELECT(10)", name: "iscsi.mode_select"},
	0x5A: {title: "MODE SENSE(10)", name: "iscsi.mode_sense"},
	0x5E: {title: "PERSISTENT RESERVE IN", name: "iscsi.persistent_reserve_in"},
	0x5F: {title: "PERSISTENT RESERVE OUT", name: "iscsi.persistent_reserve_out"},
	0x83: {title: "EXTENDED COPY", name: "iscsi.extended_copy"},
	0x84: {title: "RECEIVE COPY RESULTS", name: "iscsi.receive_copy_results"},
	0x88: {title: "READ(16)", name: "iscsi.read", lba: 2, lbaLen: 8, size: 10, sizeLn: 4},
	0x89: {title: "COMPARE AND WRITE", name: "iscsi.compare_and_write", lba: 2, lbaLen: 8, size: 13, sizeLn: 1},
	0x8A: {title: "WRITE(16)", name: "iscsi.write", lba: 2, lbaLen: 8, size: 10, sizeLn: 4},
	0x8E: {title: "WRITE AND VERIFY(16)", name: "iscsi.write_and_verify", lba: 2, lbaLen: 8, size: 10, sizeLn: 4},
	0x8F: {title: "VERIFY(16)", name: "iscsi.verify", lba: 2, lbaLen: 8, size: 10, sizeLn: 4},
	0x91: {title: "SYNCHRONIZE CACHE(16)", name: "iscsi.synchronize_cache", lba: 2, lbaLen: 8, size: 10, sizeLn: 4},
	0x93: {title: "WRITE SAME(16)", name: "iscsi.write_same", lba: 2, lbaLen: 8, size: 10, sizeLn: 4},
	0xA0: {title: "REPORT LUNS", name: "iscsi.report_luns"},
	0xA8: {title: "READ(12)", name: "iscsi.read", lba: 2, lbaLen: 4, size: 6, sizeLn: 4},
	0xAA: {title: "WRITE(12)", name: "iscsi.write", lba: 2, lbaLen: 4, size: 6, sizeLn: 4},
	0xAF: {title: "VERIFY(12)", name: "iscsi.verify", lba: 2, lbaLen: 4, size: 6, sizeLn: 4},
}

// Service actions of MAINTENANCE IN and SERVICE ACTION IN(16), by the lower
// five bits of the second octet.
var actions = map[[2]uint8]cdb{
	{0x9E, 0x10}: {title: "READ CAPACITY(16)", name: "iscsi.read_capacity"},
	{0x9E, 0x12}: {title: "GET LBA STATUS(16)", name: "iscsi.get_lba_status"},
	{0xA3, 0x0A}: {title: "REPORT TARGET PORT GROUPS", name: "iscsi.report_target_port_groups"},
	{0xA3, 0x0C}: {title: "REPORT SUPPORTED OPERATION CODES", name: "iscsi.report_supported_operation_codes"},
	{0xA4, 0x0A}: {title: "SET TARGET PORT GROUPS", name: "iscsi.set_target_port_groups"},
}

// A CDB is a SCSI command, as far as it is understood.
type CDB struct {
	Title  string // "READ(10)"
	Name   string // "iscsi.read"
	Known  bool
	LBA    uint64
	Blocks uint32
	HasLBA bool
}

// ParseCDB says what a CDB of 16 octets, filled up with zeros, asks for (SPC-5,
// SBC-4).
func ParseCDB(b []byte) CDB {
	if len(b) < 16 {
		return CDB{Title: "SCSI command", Name: "iscsi.scsi"}
	}
	c, ok := cdbs[b[0]]
	if !ok {
		if c, ok = actions[[2]uint8{b[0], b[1] & 0x1F}]; !ok {
			return CDB{Title: fmt.Sprintf("SCSI command 0x%02x", b[0]), Name: "iscsi.scsi"}
		}
	}
	out := CDB{Title: c.title, Name: c.name, Known: true}
	if c.lbaLen == 0 {
		return out
	}
	number := func(at, n int) (v uint64) {
		for _, o := range b[at : at+n] {
			v = v<<8 | uint64(o)
		}
		return v
	}
	out.LBA, out.HasLBA = number(c.lba, c.lbaLen), true
	out.Blocks = uint32(number(c.size, c.sizeLn))
	if c.lbaLen == 3 {
		// READ(6) and WRITE(6) have 21 bits of LBA, and 0 is 256 blocks.
		if out.LBA &= 1<<21 - 1; out.Blocks == 0 {
			out.Blocks = 256
		}
	}
	return out
}

// A SCSIStatus is the status of a SCSI command (SAM-5).
type SCSIStatus uint8

// Statuses.
const (
	Good           SCSIStatus = 0x00
	CheckCondition SCSIStatus = 0x02
	TaskSetFull    SCSIStatus = 0x28
)

var scsiStatuses = map[SCSIStatus]string{
	Good: "GOOD", CheckCondition: "CHECK CONDITION", 0x04: "CONDITION MET", 0x08: "BUSY", 0x18: "RESERVATION CONFLICT",
	TaskSetFull: "TASK SET FULL", 0x30: "ACA ACTIVE", 0x40: "TASK ABORTED",
}

// String is the name of the status.
func (s SCSIStatus) String() string {
	if name, ok := scsiStatuses[s]; ok {
		return name
	}
	return fmt.Sprintf("status 0x%02x", uint8(s))
}

// A Sense is what sense data says (SPC-5, section 4.5).
type Sense struct {
	Key, ASC, ASCQ uint8
}

// ParseSense parses the data of a SCSI Response: the length of the sense data,
// and the sense data (RFC 7143, section 11.4.7).
func ParseSense(b []byte) (s Sense, ok bool) {
	if len(b) < 2 {
		return Sense{}, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; n < len(b) {
		b = b[:n]
	}
	switch {
	case len(b) >= 14 && b[0]&0x7E == 0x70:
		return Sense{b[2] & 0xF, b[12], b[13]}, true
	case len(b) >= 4 && b[0]&0x7E == 0x72:
		return Sense{b[1] & 0xF, b[2], b[3]}, true
	}
	return Sense{}, false
}

// Sense keys and an additional sense code.
const (
	illegalRequest   = 5
	unitAttention    = 6
	invalidOperation = 0x20
)

var senseKeys = [16]string{"NO SENSE", "RECOVERED ERROR", "NOT READY", "MEDIUM ERROR", "HARDWARE ERROR", "ILLEGAL REQUEST", "UNIT ATTENTION",
	"DATA PROTECT", "BLANK CHECK", "VENDOR SPECIFIC", "COPY ABORTED", "ABORTED COMMAND", "reserved", "VOLUME OVERFLOW", "MISCOMPARE", "COMPLETED"}

// String is the sense in words, with its numbers.
func (s Sense) String() string {
	t := senseKeys[s.Key&0xF]
	if name, ok := additional[[2]uint8{s.ASC, s.ASCQ}]; ok {
		t += ", " + name
	}
	return fmt.Sprintf("%s (%02x/%02x/%02x)", t, s.Key, s.ASC, s.ASCQ)
}

// additional are the additional sense codes that are met most (SPC-5, annex F).
var additional = map[[2]uint8]string{
	{0x04, 0x00}: "logical unit not ready", {0x04, 0x01}: "logical unit is becoming ready", {0x04, 0x0A}: "asymmetric access state transition",
	{0x04, 0x0B}: "target port in standby state", {0x04, 0x0C}: "target port in unavailable state", {0x0C, 0x00}: "write error",
	{0x0C, 0x0D}: "not enough unsolicited data", {0x10, 0x01}: "guard check failed", {0x11, 0x00}: "unrecovered read error",
	{0x1A, 0x00}: "parameter list length error", {0x1D, 0x00}: "miscompare during verify", {0x20, 0x00}: "invalid command operation code",
	{0x21, 0x00}: "logical block address out of range", {0x24, 0x00}: "invalid field in CDB", {0x25, 0x00}: "logical unit not supported",
	{0x26, 0x00}: "invalid field in parameter list", {0x27, 0x00}: "write protected", {0x28, 0x00}: "medium may have changed",
	{0x29, 0x00}: "power on, reset, or bus device reset occurred", {0x29, 0x07}: "I_T nexus loss occurred", {0x2A, 0x01}: "mode parameters changed",
	{0x2A, 0x06}: "asymmetric access state changed", {0x2A, 0x09}: "capacity data has changed", {0x3A, 0x00}: "medium not present",
	{0x3F, 0x0E}: "reported LUNs data has changed", {0x44, 0x00}: "internal target failure", {0x4B, 0x00}: "data phase error",
	{0x55, 0x04}: "insufficient registration resources",
}
