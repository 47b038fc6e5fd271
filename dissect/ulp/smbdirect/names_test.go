package smbdirect

import (
	"strings"
	"testing"

	"github.com/iwdump/iwdump/internal/tshark"
)

// Every status that has a name here has the same to tshark.
func TestStatusNames(t *testing.T) {
	n := 0
	for v, want := range tshark.Values(t, "smb2.nt_status") {
		if got := StatusName(uint32(v)); got == want {
			n++
		} else if !strings.HasPrefix(got, "0x") {
			t.Errorf("0x%08x is %s, tshark says %s", v, got, want)
		}
	}
	// SERVER_UNAVAILABLE and FILE_NOT_AVAILABLE tshark does not have.
	if n < 90 {
		t.Errorf("%d names agree", n)
	}
	t.Log(n, "names agree")
}

// Commands are named as in MS-SMB2, section 2.2.1.2; tshark's names are words of
// its own.
func TestCommandNames(t *testing.T) {
	unlike := map[string]string{
		"Negotiate Protocol": "NEGOTIATE", "Session Logoff": "LOGOFF", "KeepAlive": "ECHO", "Find": "QUERY_DIRECTORY",
		"Notify": "CHANGE_NOTIFY", "GetInfo": "QUERY_INFO", "SetInfo": "SET_INFO", "Break": "OPLOCK_BREAK",
	}
	for v, name := range tshark.Values(t, "smb2.cmd") {
		if v > uint64(OplockBreak) {
			continue
		}
		want := unlike[name]
		if want == "" {
			want = strings.ToUpper(strings.ReplaceAll(name, " ", "_"))
		}
		if got := Command(v).String(); got != want || Command(v).Op() != "smb2."+strings.ToLower(want) {
			t.Errorf("%d is %s and %s, tshark says %s", v, got, Command(v).Op(), name)
		}
	}
	if Command(99).Known() || Command(99).Op() != "smb2.unknown" {
		t.Error("command 99 is known")
	}
}

func TestFailed(t *testing.T) {
	for _, c := range []struct {
		command Command
		status  uint32
		want    bool
	}{
		{Create, 0, false}, {Create, 0xC0000034, true}, {SessionSetup, 0xC0000016, false}, {Create, 0xC0000016, true},
		{QueryDirectory, 0x80000006, false}, {QueryInfo, 0x80000005, false}, {Write, 0x80000005, true}, {Read, 0xC0000011, false}, {ChangeNotify, 0x10C, false},
		{Create, 0x103, false},
	} {
		if got := Failed(c.command, c.status); got != c.want {
			t.Errorf("%s %s: %v", c.command, StatusName(c.status), got)
		}
	}
}
