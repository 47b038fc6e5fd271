package capture_test

import (
	"testing"

	"github.com/iwdump/iwdump/capture"
)

func TestLinkTypeString(t *testing.T) {
	for link, want := range map[capture.LinkType]string{
		1: "ETHERNET", 276: "LINUX_SLL2", 12: "RAW", 147: "USER0", 162: "USER15", 163: "IEEE802_11_AVS", 9999: "9999",
	} {
		if got := link.String(); got != want {
			t.Errorf("%d is %s, want %s", uint16(link), got, want)
		}
	}
}
