package ulptest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
	"github.com/iwdump/iwdump/internal/ulptest"
)

// carried is what the captures carry; those that are not here carry none of
// these protocols.
var carried = map[string]string{"nfs-rdma-v3": "rpcrdma", "nfs-rdma-v42": "rpcrdma", "smbdirect": "smbdirect", "smbdirect-rw": "smbdirect"}

// A protocol is named on every QP that carries it, and on no other: no command
// comes from what is not of it, and it is not even in doubt at the end.
func TestRecognition(t *testing.T) {
	protocols := []ulp.Protocol{rpcrdma.Protocol(), smbdirect.Protocol()}
	for _, dir := range []string{"", "siw/", "synthetic/"} {
		files, err := filepath.Glob("../../testdata/pcaps/" + dir + "*.pcap*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no captures in %q: %v", dir, err)
		}
		for _, file := range files {
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			t.Run(name, func(t *testing.T) {
				for _, keep := range []int{1024, 64} {
					for _, q := range ulptest.Run(t, file, keep, protocols...) {
						if want := carried[name]; q.Name != want || q.Doubt || (len(q.Commands) > 0) != (want != "") {
							t.Errorf("%d octets kept: %q, doubt %v, %d commands, want %q", keep, q.Name, q.Doubt, len(q.Commands), want)
						}
					}
				}
			})
		}
	}
}
