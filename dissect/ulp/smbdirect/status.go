package smbdirect

import "fmt"

// StatusName is an NT status by its name in MS-ERREF, section 2.3.1; of one that
// is not among the common ones, its number.
func StatusName(s uint32) string {
	switch s {
	case 0x00000000:
		return "STATUS_SUCCESS"
	case 0x00000103:
		return "STATUS_PENDING"
	case 0x0000010B:
		return "STATUS_NOTIFY_CLEANUP"
	case 0x0000010C:
		return "STATUS_NOTIFY_ENUM_DIR"
	case 0x80000005:
		return "STATUS_BUFFER_OVERFLOW"
	case 0x80000006:
		return "STATUS_NO_MORE_FILES"
	case 0x8000001A:
		return "STATUS_NO_MORE_ENTRIES"
	case 0x8000002D:
		return "STATUS_STOPPED_ON_SYMLINK"
	case 0xC0000001:
		return "STATUS_UNSUCCESSFUL"
	case 0xC0000002:
		return "STATUS_NOT_IMPLEMENTED"
	case 0xC0000003:
		return "STATUS_INVALID_INFO_CLASS"
	case 0xC0000004:
		return "STATUS_INFO_LENGTH_MISMATCH"
	case 0xC0000008:
		return "STATUS_INVALID_HANDLE"
	case 0xC000000D:
		return "STATUS_INVALID_PARAMETER"
	case 0xC000000E:
		return "STATUS_NO_SUCH_DEVICE"
	case 0xC000000F:
		return "STATUS_NO_SUCH_FILE"
	case 0xC0000010:
		return "STATUS_INVALID_DEVICE_REQUEST"
	case 0xC0000011:
		return "STATUS_END_OF_FILE"
	case 0xC0000013:
		return "STATUS_NO_MEDIA_IN_DEVICE"
	case 0xC0000016:
		return "STATUS_MORE_PROCESSING_REQUIRED"
	case 0xC0000017:
		return "STATUS_NO_MEMORY"
	case 0xC0000022:
		return "STATUS_ACCESS_DENIED"
	case 0xC0000023:
		return "STATUS_BUFFER_TOO_SMALL"
	case 0xC0000033:
		return "STATUS_OBJECT_NAME_INVALID"
	case 0xC0000034:
		return "STATUS_OBJECT_NAME_NOT_FOUND"
	case 0xC0000035:
		return "STATUS_OBJECT_NAME_COLLISION"
	case 0xC0000039:
		return "STATUS_OBJECT_PATH_INVALID"
	case 0xC000003A:
		return "STATUS_OBJECT_PATH_NOT_FOUND"
	case 0xC000003B:
		return "STATUS_OBJECT_PATH_SYNTAX_BAD"
	case 0xC0000041:
		return "STATUS_PORT_CONNECTION_REFUSED"
	case 0xC0000043:
		return "STATUS_SHARING_VIOLATION"
	case 0xC000004F:
		return "STATUS_EAS_NOT_SUPPORTED"
	case 0xC0000050:
		return "STATUS_EA_TOO_LARGE"
	case 0xC0000051:
		return "STATUS_NONEXISTENT_EA_ENTRY"
	case 0xC0000052:
		return "STATUS_NO_EAS_ON_FILE"
	case 0xC0000054:
		return "STATUS_FILE_LOCK_CONFLICT"
	case 0xC0000055:
		return "STATUS_LOCK_NOT_GRANTED"
	case 0xC0000056:
		return "STATUS_DELETE_PENDING"
	case 0xC0000061:
		return "STATUS_PRIVILEGE_NOT_HELD"
	case 0xC0000064:
		return "STATUS_NO_SUCH_USER"
	case 0xC000006A:
		return "STATUS_WRONG_PASSWORD"
	case 0xC000006D:
		return "STATUS_LOGON_FAILURE"
	case 0xC000006E:
		return "STATUS_ACCOUNT_RESTRICTION"
	case 0xC000006F:
		return "STATUS_INVALID_LOGON_HOURS"
	case 0xC0000070:
		return "STATUS_INVALID_WORKSTATION"
	case 0xC0000071:
		return "STATUS_PASSWORD_EXPIRED"
	case 0xC0000072:
		return "STATUS_ACCOUNT_DISABLED"
	case 0xC000007E:
		return "STATUS_RANGE_NOT_LOCKED"
	case 0xC000007F:
		return "STATUS_DISK_FULL"
	case 0xC0000098:
		return "STATUS_FILE_INVALID"
	case 0xC000009A:
		return "STATUS_INSUFFICIENT_RESOURCES"
	case 0xC000009C:
		return "STATUS_DEVICE_DATA_ERROR"
	case 0xC00000A2:
		return "STATUS_MEDIA_WRITE_PROTECTED"
	case 0xC00000A3:
		return "STATUS_DEVICE_NOT_READY"
	case 0xC00000AC:
		return "STATUS_PIPE_NOT_AVAILABLE"
	case 0xC00000AD:
		return "STATUS_INVALID_PIPE_STATE"
	case 0xC00000AE:
		return "STATUS_PIPE_BUSY"
	case 0xC00000B0:
		return "STATUS_PIPE_DISCONNECTED"
	case 0xC00000B1:
		return "STATUS_PIPE_CLOSING"
	case 0xC00000B5:
		return "STATUS_IO_TIMEOUT"
	case 0xC00000B6:
		return "STATUS_FILE_FORCED_CLOSED"
	case 0xC00000BA:
		return "STATUS_FILE_IS_A_DIRECTORY"
	case 0xC00000BB:
		return "STATUS_NOT_SUPPORTED"
	case 0xC00000BE:
		return "STATUS_BAD_NETWORK_PATH"
	case 0xC00000C3:
		return "STATUS_INVALID_NETWORK_RESPONSE"
	case 0xC00000C4:
		return "STATUS_UNEXPECTED_NETWORK_ERROR"
	case 0xC00000C9:
		return "STATUS_NETWORK_NAME_DELETED"
	case 0xC00000CA:
		return "STATUS_NETWORK_ACCESS_DENIED"
	case 0xC00000CC:
		return "STATUS_BAD_NETWORK_NAME"
	case 0xC00000D0:
		return "STATUS_REQUEST_NOT_ACCEPTED"
	case 0xC00000D4:
		return "STATUS_NOT_SAME_DEVICE"
	case 0xC00000D5:
		return "STATUS_FILE_RENAMED"
	case 0xC00000D9:
		return "STATUS_PIPE_EMPTY"
	case 0xC00000E3:
		return "STATUS_INVALID_OPLOCK_PROTOCOL"
	case 0xC00000E5:
		return "STATUS_INTERNAL_ERROR"
	case 0xC0000101:
		return "STATUS_DIRECTORY_NOT_EMPTY"
	case 0xC0000102:
		return "STATUS_FILE_CORRUPT_ERROR"
	case 0xC0000103:
		return "STATUS_NOT_A_DIRECTORY"
	case 0xC0000120:
		return "STATUS_CANCELLED"
	case 0xC0000121:
		return "STATUS_CANNOT_DELETE"
	case 0xC0000128:
		return "STATUS_FILE_CLOSED"
	case 0xC000014B:
		return "STATUS_PIPE_BROKEN"
	case 0xC000015B:
		return "STATUS_LOGON_TYPE_NOT_GRANTED"
	case 0xC0000185:
		return "STATUS_IO_DEVICE_ERROR"
	case 0xC0000193:
		return "STATUS_ACCOUNT_EXPIRED"
	case 0xC000019C:
		return "STATUS_FS_DRIVER_REQUIRED"
	case 0xC0000203:
		return "STATUS_USER_SESSION_DELETED"
	case 0xC0000205:
		return "STATUS_INSUFF_SERVER_RESOURCES"
	case 0xC000020C:
		return "STATUS_CONNECTION_DISCONNECTED"
	case 0xC000020D:
		return "STATUS_CONNECTION_RESET"
	case 0xC0000224:
		return "STATUS_PASSWORD_MUST_CHANGE"
	case 0xC0000225:
		return "STATUS_NOT_FOUND"
	case 0xC0000234:
		return "STATUS_ACCOUNT_LOCKED_OUT"
	case 0xC0000236:
		return "STATUS_CONNECTION_REFUSED"
	case 0xC0000240:
		return "STATUS_REQUEST_ABORTED"
	case 0xC0000257:
		return "STATUS_PATH_NOT_COVERED"
	case 0xC000026E:
		return "STATUS_VOLUME_DISMOUNTED"
	case 0xC0000275:
		return "STATUS_NOT_A_REPARSE_POINT"
	case 0xC000035C:
		return "STATUS_NETWORK_SESSION_EXPIRED"
	case 0xC0000466:
		return "STATUS_SERVER_UNAVAILABLE"
	case 0xC0000467:
		return "STATUS_FILE_NOT_AVAILABLE"
	}
	return fmt.Sprintf("0x%08x", s)
}

// Severities of an NT status: its two highest bits (MS-ERREF, section 2.3).
const (
	severityWarning = 2 // and above it, error
)

// Failed says that a command failed with a status: not one that tells of success,
// of more to come, or of a result that was cut to fit.
func Failed(c Command, s uint32) bool {
	switch s {
	case 0xC0000016: // more rounds of SESSION_SETUP
		return c != SessionSetup
	case 0x80000006, 0xC000000F: // the listing is at its end, or empty
		return c != QueryDirectory
	case 0xC0000011: // the end of the file is how reading ends
		return c != Read
	case 0x80000005: // only as much as the buffer holds
		return c != QueryInfo && c != IOCtl && c != Read
	case 0x0000010C, 0x0000010B: // the watch came to its end
		return c != ChangeNotify
	}
	return s>>30 >= severityWarning
}
