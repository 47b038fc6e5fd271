package nvme

// OpFabrics is the opcode of all Fabrics commands (NVMe over Fabrics 1.1,
// section 3.3).
const OpFabrics = 0x7F

// Types of Fabrics commands.
const (
	PropertySet = 0x00
	Connect     = 0x01
	PropertyGet = 0x04
	AuthSend    = 0x05
	AuthReceive = 0x06
	Disconnect  = 0x08
)

// Opcodes of the admin queue (NVM Express 2.0, section 5).
const (
	OpGetLogPage  = 0x02
	OpIdentify    = 0x06
	OpAbort       = 0x08
	OpSetFeatures = 0x09
	OpGetFeatures = 0x0A
	OpAsyncEvent  = 0x0C
	OpKeepAlive   = 0x18
)

// Opcodes of I/O queues (NVM Command Set 1.0, section 3).
const (
	OpFlush       = 0x00
	OpWrite       = 0x01
	OpRead        = 0x02
	OpWriteUncorr = 0x04
	OpCompare     = 0x05
	OpWriteZeroes = 0x08
	OpDSM         = 0x09
	OpVerify      = 0x0C
	OpCopy        = 0x19
	OpZoneAppend  = 0x7D
)

// opcode is a command: its name for people, and in lower case.
type opcode struct {
	title, name string
	lba         bool // CDW10 to 12 are the first logical block and their number
}

var fabricsOps = map[uint8]opcode{
	PropertySet: {title: "Property Set", name: "nvme.property_set"},
	Connect:     {title: "Connect", name: "nvme.connect"},
	PropertyGet: {title: "Property Get", name: "nvme.property_get"},
	AuthSend:    {title: "Authentication Send", name: "nvme.auth_send"},
	AuthReceive: {title: "Authentication Receive", name: "nvme.auth_receive"},
	Disconnect:  {title: "Disconnect", name: "nvme.disconnect"},
}

var adminOps = [256]opcode{
	0x00:          {title: "Delete I/O Submission Queue", name: "nvme.delete_sq"},
	0x01:          {title: "Create I/O Submission Queue", name: "nvme.create_sq"},
	OpGetLogPage:  {title: "Get Log Page", name: "nvme.get_log_page"},
	0x04:          {title: "Delete I/O Completion Queue", name: "nvme.delete_cq"},
	0x05:          {title: "Create I/O Completion Queue", name: "nvme.create_cq"},
	OpIdentify:    {title: "Identify", name: "nvme.identify"},
	OpAbort:       {title: "Abort", name: "nvme.abort"},
	OpSetFeatures: {title: "Set Features", name: "nvme.set_features"},
	OpGetFeatures: {title: "Get Features", name: "nvme.get_features"},
	OpAsyncEvent:  {title: "Asynchronous Event Request", name: "nvme.async_event_request"},
	0x0D:          {title: "Namespace Management", name: "nvme.namespace_management"},
	0x10:          {title: "Firmware Commit", name: "nvme.firmware_commit"},
	0x11:          {title: "Firmware Image Download", name: "nvme.firmware_download"},
	0x14:          {title: "Device Self-test", name: "nvme.device_self_test"},
	0x15:          {title: "Namespace Attachment", name: "nvme.namespace_attachment"},
	OpKeepAlive:   {title: "Keep Alive", name: "nvme.keep_alive"},
	0x19:          {title: "Directive Send", name: "nvme.directive_send"},
	0x1A:          {title: "Directive Receive", name: "nvme.directive_receive"},
	0x1C:          {title: "Virtualization Management", name: "nvme.virtualization_management"},
	0x1D:          {title: "NVMe-MI Send", name: "nvme.mi_send"},
	0x1E:          {title: "NVMe-MI Receive", name: "nvme.mi_receive"},
	0x20:          {title: "Capacity Management", name: "nvme.capacity_management"},
	0x24:          {title: "Lockdown", name: "nvme.lockdown"},
	0x7C:          {title: "Doorbell Buffer Config", name: "nvme.doorbell_buffer_config"},
	0x80:          {title: "Format NVM", name: "nvme.format_nvm"},
	0x81:          {title: "Security Send", name: "nvme.security_send"},
	0x82:          {title: "Security Receive", name: "nvme.security_receive"},
	0x84:          {title: "Sanitize", name: "nvme.sanitize"},
	0x86:          {title: "Get LBA Status", name: "nvme.get_lba_status"},
}

var ioOps = [256]opcode{
	OpFlush:       {title: "Flush", name: "nvme.flush"},
	OpWrite:       {title: "Write", name: "nvme.write", lba: true},
	OpRead:        {title: "Read", name: "nvme.read", lba: true},
	OpWriteUncorr: {title: "Write Uncorrectable", name: "nvme.write_uncorrectable", lba: true},
	OpCompare:     {title: "Compare", name: "nvme.compare", lba: true},
	OpWriteZeroes: {title: "Write Zeroes", name: "nvme.write_zeroes", lba: true},
	OpDSM:         {title: "Dataset Management", name: "nvme.dataset_management"},
	OpVerify:      {title: "Verify", name: "nvme.verify", lba: true},
	0x0D:          {title: "Reservation Register", name: "nvme.reservation_register"},
	0x0E:          {title: "Reservation Report", name: "nvme.reservation_report"},
	0x11:          {title: "Reservation Acquire", name: "nvme.reservation_acquire"},
	0x15:          {title: "Reservation Release", name: "nvme.reservation_release"},
	OpCopy:        {title: "Copy", name: "nvme.copy"},
	0x79:          {title: "Zone Management Send", name: "nvme.zone_management_send"},
	0x7A:          {title: "Zone Management Receive", name: "nvme.zone_management_receive"},
	OpZoneAppend:  {title: "Zone Append", name: "nvme.zone_append", lba: true},
}

var (
	vendorOp  = opcode{title: "vendor specific command", name: "nvme.vendor"}
	unknownOp = opcode{title: "unknown command", name: "nvme.unknown"}
)

// operation returns what a command is, on the admin queue or an I/O queue.
func (c *Command) operation(admin bool) (o opcode, known bool) {
	switch {
	case c.Fabrics():
		o = fabricsOps[c.FCType()]
	case admin:
		o = adminOps[c.Opcode]
	default:
		o = ioOps[c.Opcode]
	}
	switch {
	case o.name != "":
		return o, true
	case !c.Fabrics() && (c.Opcode >= 0xC0 || !admin && c.Opcode >= 0x80):
		return vendorOp, true
	}
	return unknownOp, false
}

// Title is the name of a command on the admin queue, or on an I/O queue.
func (c *Command) Title(admin bool) string {
	o, _ := c.operation(admin)
	return o.title
}

var features = map[uint8]string{
	0x01: "Arbitration", 0x02: "Power Management", 0x03: "LBA Range Type", 0x04: "Temperature Threshold", 0x05: "Error Recovery",
	0x06: "Volatile Write Cache", 0x07: "Number of Queues", 0x08: "Interrupt Coalescing", 0x09: "Interrupt Vector Configuration",
	0x0A: "Write Atomicity Normal", 0x0B: "Asynchronous Event Configuration", 0x0C: "Autonomous Power State Transition",
	0x0D: "Host Memory Buffer", 0x0E: "Timestamp", 0x0F: "Keep Alive Timer", 0x10: "Host Controlled Thermal Management",
	0x11: "Non-Operational Power State Config", 0x12: "Read Recovery Level Config", 0x16: "Host Behavior Support", 0x80: "Software Progress Marker",
	0x81: "Host Identifier", 0x82: "Reservation Notification Mask", 0x83: "Reservation Persistence", 0x84: "Namespace Write Protection Config",
}

var logPages = map[uint8]string{
	0x00: "Supported Log Pages", 0x01: "Error Information", 0x02: "SMART / Health Information", 0x03: "Firmware Slot Information",
	0x04: "Changed Namespace List", 0x05: "Commands Supported and Effects", 0x06: "Device Self-test", 0x07: "Telemetry Host-Initiated",
	0x08: "Telemetry Controller-Initiated", 0x09: "Endurance Group Information", 0x0A: "Predictable Latency Per NVM Set",
	0x0C: "Asymmetric Namespace Access", 0x0D: "Persistent Event Log", 0x0E: "LBA Status Information", 0x70: "Discovery",
	0x80: "Reservation Notification", 0x81: "Sanitize Status",
}

var identifies = map[uint8]string{
	0x00: "Namespace", 0x01: "Controller", 0x02: "Active Namespace ID list", 0x03: "Namespace Identification Descriptor list", 0x04: "NVM Set List",
	0x05: "I/O Command Set specific Namespace", 0x06: "I/O Command Set specific Controller", 0x07: "I/O Command Set specific Active Namespace ID list",
	0x08: "I/O Command Set Independent Namespace", 0x10: "Allocated Namespace ID list", 0x11: "allocated Namespace", 0x12: "Namespace Attached Controller list",
	0x13: "Controller list", 0x14: "Primary Controller Capabilities", 0x15: "Secondary Controller list", 0x16: "Namespace Granularity List",
	0x17: "UUID List", 0x1C: "I/O Command Set",
}

var properties = map[uint32]string{
	0x00: "CAP", 0x08: "VS", 0x0C: "INTMS", 0x10: "INTMC", 0x14: "CC", 0x1C: "CSTS", 0x20: "NSSR", 0x24: "AQA", 0x28: "ASQ", 0x30: "ACQ",
	0x68: "CRTO",
}

// Offsets of properties (NVM Express 2.0, section 3.1.3).
const propertyCC = 0x14
