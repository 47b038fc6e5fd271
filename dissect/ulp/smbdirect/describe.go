package smbdirect

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// describeTransfer adds the fields of a data transfer.
func describeTransfer(d *ulp.Description, t *Transfer) {
	if d == nil {
		return
	}
	f := &d.Fields
	f.Uint("credits_requested", "CreditsRequested", uint64(t.CreditsRequested)).In(0, 2)
	f.Uint("credits_granted", "CreditsGranted", uint64(t.CreditsGranted)).In(2, 2)
	f.Bool("response_requested", "Response requested", t.Flags&FlagResponseRequested != 0).In(4, 2)
	f.Uint("remaining_data_length", "RemainingDataLength", uint64(t.Remaining)).In(8, 4)
	f.Uint("data_offset", "DataOffset", uint64(t.DataOffset)).In(12, 4)
	f.Uint("data_length", "DataLength", uint64(t.DataLength)).In(16, 4)
}

// describeHeader adds the fields of an SMB 2 header, in an object that is left
// open.
func describeHeader(f *ulp.Fields, h *Header) {
	f.Open("", h.Command.String())
	f.Text("command", "Command", h.Command.String())
	f.Bool("response", "Response", h.Response())
	f.Uint("message_id", "MessageId", h.MessageID)
	f.TO("session_id", "SessionId", h.SessionID)
	if h.Async() {
		f.TO("async_id", "AsyncId", h.AsyncID)
	} else {
		f.STag("tree_id", "TreeId", h.TreeID)
	}
	f.Uint("credit_charge", "CreditCharge", uint64(h.CreditCharge))
	f.Uint("credits", "Credits", uint64(h.Credits))
	f.Hex("flags", "Flags", uint64(h.Flags), 8)
	f.Bool("signed", "Signed", h.Flags&FlagSigned != 0)
	if h.Response() {
		f.Hex("status", "Status", uint64(h.Status), 8).As(StatusName(h.Status))
	}
}

func describeRequest(d *ulp.Description, h *Header, r *Request, whole bool) {
	d.Sayf("SMB2 %s Request", h.Command)
	f := &d.Fields
	describeHeader(f, h)
	if whole {
		if r.HasFile {
			f.Text("file_id", "FileId", fmt.Sprintf("%x", r.File))
		}
		if r.HasName && len(r.Name) > 0 {
			name := r.Name.String()
			d.Sayf(" \"%s\"", name)
			f.Text("name", "Name", name)
		}
		switch h.Command {
		case Read, Write:
			d.Sayf(" offset %d length %d", r.Offset, r.Length)
			f.Uint("offset", "Offset", r.Offset)
			f.Uint("length", "Length", uint64(r.Length))
			f.Uint("channel", "Channel", uint64(r.Channel)).As(ChannelName(r.Channel))
			if r.Channel != ChannelNone {
				describeDescriptors(f, r)
			}
		case Create:
			f.Uint("disposition", "CreateDisposition", uint64(r.Disposition))
			f.Hex("options", "CreateOptions", uint64(r.Options), 8)
			f.Hex("access", "DesiredAccess", uint64(r.Access), 8)
		case IOCtl:
			d.Sayf(" 0x%08x", r.CtlCode)
			f.Hex("ctl_code", "CtlCode", uint64(r.CtlCode), 8)
		case QueryDirectory:
			f.Uint("class", "FileInformationClass", uint64(r.Class))
		case QueryInfo, SetInfo:
			f.Uint("info_type", "InfoType", uint64(r.InfoType))
			f.Uint("class", "FileInfoClass", uint64(r.Class))
		case Negotiate:
			f.Uint("dialects", "DialectCount", uint64(r.Dialects))
		}
	}
	f.Close()
	d.Sayf(" mid %d", h.MessageID)
}

func describeDescriptors(f *ulp.Fields, r *Request) {
	f.OpenList("descriptors", "Buffer descriptors")
	for b := range r.Descriptors.All() {
		f.Open("", "Buffer descriptor V1")
		f.STag("stag", "Token (STag)", b.Token)
		f.TO("to", "Offset (TO)", b.Offset)
		f.Uint("length", "Length", uint64(b.Length))
		f.Close()
	}
	f.Close()
}

func describeResponse(d *ulp.Description, h *Header, r *Response, has bool) {
	d.Sayf("SMB2 %s Response %s", h.Command, StatusName(h.Status))
	f := &d.Fields
	describeHeader(f, h)
	if has {
		switch {
		case r.HasCount:
			d.Sayf(" %d octets", r.Count)
			f.Uint("count", "Count", uint64(r.Count))
		case h.Command == Negotiate:
			d.Sayf(" dialect %s", DialectName(r.Dialect))
			f.Text("dialect", "DialectRevision", DialectName(r.Dialect))
		case h.Command == TreeConnect:
			f.Uint("share_type", "ShareType", uint64(r.Share))
		case r.HasFile:
			f.Text("file_id", "FileId", fmt.Sprintf("%x", r.File))
			f.Uint("file_size", "EndofFile", r.Size)
		}
	}
	f.Close()
	d.Sayf(" mid %d", h.MessageID)
}
