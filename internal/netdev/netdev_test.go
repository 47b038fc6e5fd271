package netdev

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes files below a directory; what begins with "->" is a link.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if len(text) > 2 && text[:2] == "->" {
			err = os.Symlink(text[2:], path)
		} else {
			err = os.WriteFile(path, []byte(text+"\n"), 0o644)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	return root
}

// The files are those that the drivers make (Documentation/ABI/stable/sysfs-class-infiniband
// and testing/sysfs-class-net of the kernel).
func TestDevices(t *testing.T) {
	sys := tree(t, map[string]string{
		"class/net/eth0/operstate": "up",
		"class/net/eth0/speed":     "25000",
		"class/net/eth1/operstate": "down",
		"class/net/eth1/speed":     "-1",

		// siw, whose interface is told by its GIDs.
		"class/infiniband/siw0/node_type":                 "4: RNIC",
		"class/infiniband/siw0/node_desc":                 "Software iWARP stack",
		"class/infiniband/siw0/ports/1/gid_attrs/ndevs/0": "eth0",
		// siw renamed, and of a kernel that tells the interface by the GUID alone.
		"class/infiniband/iwp2/node_type": "4: RNIC",
		"class/infiniband/iwp2/node_desc": "Software iWARP stack",
		"class/infiniband/iwp2/node_guid": "5254:00ff:fe12:3456",
		// Chelsio, with its adapter; renamed by udev.
		"class/infiniband/iwp3s0f4/node_type":       "4: RNIC",
		"class/infiniband/iwp3s0f4/device/net/eth2": "",
		"class/infiniband/iwp3s0f4/device/driver":   "->../../../../bus/pci/drivers/cxgb4",
		// Mellanox: RoCE.
		"class/infiniband/mlx5_0/node_type":       "1: CA",
		"class/infiniband/mlx5_0/device/net/eth3": "",
		"class/infiniband/mlx5_0/device/driver":   "->../../../../bus/pci/drivers/mlx5_core",
		// What tells nothing but its name.
		"class/infiniband/qedr1/device/net/eth4": "",
		"class/infiniband/odd0/device/net/eth4":  "",
	})
	list := []Interface{{Name: "eth0"}, {Name: "eth1", MAC: "52:54:00:12:34:56"}, {Name: "eth2"}, {Name: "eth3"}, {Name: "eth4"}, {Name: "eth5", MAC: "52:54:00:12:34:57"}}
	for i := range list {
		list[i].link(sys)
	}
	attach(sys, list)
	want := []Interface{
		{Name: "eth0", State: "up", Speed: 25e9, RDMA: []Device{{Name: "siw0", Visibility: Visible}}},
		{Name: "eth1", State: "down", MAC: "52:54:00:12:34:56", RDMA: []Device{{Name: "iwp2", Visibility: Visible}}},
		{Name: "eth2", RDMA: []Device{{Name: "iwp3s0f4", Driver: "cxgb4", Visibility: Offloaded}}},
		{Name: "eth3", RDMA: []Device{{Name: "mlx5_0", Driver: "mlx5_core", Visibility: NotIWARP}}},
		{Name: "eth4", RDMA: []Device{{Name: "odd0"}, {Name: "qedr1", Visibility: Offloaded}}},
		{Name: "eth5", MAC: "52:54:00:12:34:57"},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
}

// RFC 4291, appendix A: 34-56-78-9A-BC-DE makes 36-56-78-FF-FE-9A-BC-DE.
func TestGUID(t *testing.T) {
	sys := tree(t, map[string]string{"a/node_guid": "3656:78ff:fe9a:bcde", "b/node_guid": "0000:0000:0000:0000"})
	for _, c := range []struct {
		dir, mac string
		want     bool
	}{{"a", "34:56:78:9a:bc:de", true}, {"a", "36:56:78:9a:bc:de", true}, {"a", "34:56:78:9a:bc:df", false}, {"a", "", false}, {"b", "34:56:78:9a:bc:de", false}, {"c", "34:56:78:9a:bc:de", false}} {
		if got := byGUID(filepath.Join(sys, c.dir), c.mac); got != c.want {
			t.Errorf("%s %s: %v", c.dir, c.mac, got)
		}
	}
}

// This host has a loopback interface, whatever else.
func TestList(t *testing.T) {
	list, err := List(Sys)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if i.Loopback {
			return
		}
	}
	t.Errorf("no loopback interface in %+v", list)
}
