package nvme

import "fmt"

// A Status is the last two octets of a completion: the phase tag, which means
// nothing over fabrics, in bit 0, the status field above (NVM Express 2.0,
// section 3.3.3.2.1).
type Status uint16

// Status code types.
const (
	SCTGeneric  = 0
	SCTSpecific = 1
	SCTMedia    = 2
	SCTPath     = 3
	SCTVendor   = 7
)

// StatusOf returns a Status of a type and code.
func StatusOf(sct, sc uint8) Status { return Status(sct&7)<<9 | Status(sc)<<1 }

// SC is the status code.
func (s Status) SC() uint8 { return uint8(s >> 1) }

// SCT is the status code type.
func (s Status) SCT() uint8 { return uint8(s >> 9 & 7) }

// More says that the error log has more on it.
func (s Status) More() bool { return s&0x4000 != 0 }

// DNR says that a retry will fail too.
func (s Status) DNR() bool { return s&0x8000 != 0 }

// OK says that the command succeeded.
func (s Status) OK() bool { return s.SC() == 0 && s.SCT() == 0 }

var typeNames = [8]string{"generic", "command specific", "media", "path", "reserved type 4", "reserved type 5", "reserved type 6", "vendor specific"}

// String is the status in words.
func (s Status) String() string {
	if t := statuses[uint16(s.SCT())<<8|uint16(s.SC())]; t != "" {
		return t
	}
	return fmt.Sprintf("%s status 0x%02x", typeNames[s.SCT()], s.SC())
}

// For is the status in words where it answers a Fabrics command, some of whose
// codes are others.
func (s Status) For(fabrics bool) string {
	if fabrics && s.SCT() == SCTSpecific {
		if t := fabricsStatuses[s.SC()]; t != "" {
			return t
		}
	}
	return s.String()
}

var fabricsStatuses = map[uint8]string{
	0x80: "Connect Incompatible Format",
	0x81: "Connect Controller Busy",
	0x82: "Connect Invalid Parameters",
	0x83: "Connect Restart Discovery",
	0x84: "Connect Invalid Host",
	0x85: "Invalid Queue Type",
	0x90: "Discover Restart",
	0x91: "Authentication Required",
}

// statuses are the codes by type and code (NVM Express 2.0,
// section 3.3.3.2.1, and NVM Command Set 1.0).
var statuses = map[uint16]string{
	0x000: "Successful Completion",
	0x001: "Invalid Command Opcode",
	0x002: "Invalid Field in Command",
	0x003: "Command ID Conflict",
	0x004: "Data Transfer Error",
	0x005: "Commands Aborted due to Power Loss Notification",
	0x006: "Internal Error",
	0x007: "Command Abort Requested",
	0x008: "Command Aborted due to SQ Deletion",
	0x009: "Command Aborted due to Failed Fused Command",
	0x00A: "Command Aborted due to Missing Fused Command",
	0x00B: "Invalid Namespace or Format",
	0x00C: "Command Sequence Error",
	0x00D: "Invalid SGL Segment Descriptor",
	0x00E: "Invalid Number of SGL Descriptors",
	0x00F: "Data SGL Length Invalid",
	0x010: "Metadata SGL Length Invalid",
	0x011: "SGL Descriptor Type Invalid",
	0x012: "Invalid Use of Controller Memory Buffer",
	0x013: "PRP Offset Invalid",
	0x014: "Atomic Write Unit Exceeded",
	0x015: "Operation Denied",
	0x016: "SGL Offset Invalid",
	0x018: "Host Identifier Inconsistent Format",
	0x019: "Keep Alive Timer Expired",
	0x01A: "Keep Alive Timeout Invalid",
	0x01B: "Command Aborted due to Preempt and Abort",
	0x01C: "Sanitize Failed",
	0x01D: "Sanitize In Progress",
	0x01E: "SGL Data Block Granularity Invalid",
	0x01F: "Command Not Supported for Queue in CMB",
	0x020: "Namespace is Write Protected",
	0x021: "Command Interrupted",
	0x022: "Transient Transport Error",
	0x023: "Command Prohibited by Command and Feature Lockdown",
	0x024: "Admin Command Media Not Ready",
	0x080: "LBA Out of Range",
	0x081: "Capacity Exceeded",
	0x082: "Namespace Not Ready",
	0x083: "Reservation Conflict",
	0x084: "Format In Progress",

	0x100: "Completion Queue Invalid",
	0x101: "Invalid Queue Identifier",
	0x102: "Invalid Queue Size",
	0x103: "Abort Command Limit Exceeded",
	0x105: "Asynchronous Event Request Limit Exceeded",
	0x106: "Invalid Firmware Slot",
	0x107: "Invalid Firmware Image",
	0x108: "Invalid Interrupt Vector",
	0x109: "Invalid Log Page",
	0x10A: "Invalid Format",
	0x10B: "Firmware Activation Requires Conventional Reset",
	0x10C: "Invalid Queue Deletion",
	0x10D: "Feature Identifier Not Saveable",
	0x10E: "Feature Not Changeable",
	0x10F: "Feature Not Namespace Specific",
	0x110: "Firmware Activation Requires NVM Subsystem Reset",
	0x111: "Firmware Activation Requires Controller Level Reset",
	0x112: "Firmware Activation Requires Maximum Time Violation",
	0x113: "Firmware Activation Prohibited",
	0x114: "Overlapping Range",
	0x115: "Namespace Insufficient Capacity",
	0x116: "Namespace Identifier Unavailable",
	0x118: "Namespace Already Attached",
	0x119: "Namespace Is Private",
	0x11A: "Namespace Not Attached",
	0x11B: "Thin Provisioning Not Supported",
	0x11C: "Controller List Invalid",
	0x11D: "Device Self-test In Progress",
	0x11E: "Boot Partition Write Prohibited",
	0x11F: "Invalid Controller Identifier",
	0x120: "Invalid Secondary Controller State",
	0x121: "Invalid Number of Controller Resources",
	0x122: "Invalid Resource Identifier",
	0x123: "Sanitize Prohibited While Persistent Memory Region is Enabled",
	0x124: "ANA Group Identifier Invalid",
	0x125: "ANA Attach Failed",
	0x180: "Conflicting Attributes",
	0x181: "Invalid Protection Information",
	0x182: "Attempted Write to Read Only Range",
	0x183: "Command Size Limit Exceeded",
	0x1B8: "Zoned Boundary Error",
	0x1B9: "Zone Is Full",
	0x1BA: "Zone Is Read Only",
	0x1BB: "Zone Is Offline",
	0x1BC: "Zone Invalid Write",
	0x1BD: "Too Many Active Zones",
	0x1BE: "Too Many Open Zones",
	0x1BF: "Invalid Zone State Transition",

	0x280: "Write Fault",
	0x281: "Unrecovered Read Error",
	0x282: "End-to-end Guard Check Error",
	0x283: "End-to-end Application Tag Check Error",
	0x284: "End-to-end Reference Tag Check Error",
	0x285: "Compare Failure",
	0x286: "Access Denied",
	0x287: "Deallocated or Unwritten Logical Block",
	0x288: "End-to-End Storage Tag Check Error",

	0x300: "Internal Path Error",
	0x301: "Asymmetric Access Persistent Loss",
	0x302: "Asymmetric Access Inaccessible",
	0x303: "Asymmetric Access Transition",
	0x360: "Controller Pathing Error",
	0x370: "Host Pathing Error",
	0x371: "Command Aborted By Host",
}
