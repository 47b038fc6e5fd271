package smbdirect_test

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
)

// An SMB 2 message in two fragments.
func Example() {
	h := smbdirect.Header{Command: smbdirect.Echo, MessageID: 7, Credits: 1, SessionID: 1}
	message := append(h.Append(nil), 4, 0, 0, 0)
	sends := [][]byte{
		smbdirect.Transfer{CreditsRequested: 255, Remaining: 18}.Append(nil, message[:50]),
		smbdirect.Transfer{CreditsRequested: 255}.Append(nil, message[50:]),
	}

	var r smbdirect.Reassembler
	for _, payload := range sends {
		t, data, err := smbdirect.ParseTransfer(payload)
		if err != nil {
			fmt.Println(err)
			return
		}
		m, done := r.Add(&t, data)
		if !done {
			fmt.Println(t.DataLength, "octets,", t.Remaining, "to come")
			continue
		}
		h, _, err := smbdirect.ParseHeader(m.Data)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Size, "octets:", h.Command.Op(), h.MessageID)
	}
	// Output:
	// 50 octets, 18 to come
	// 68 octets: smb2.echo 7
}
