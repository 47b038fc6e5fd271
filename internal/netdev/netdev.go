// Package netdev tells which network interfaces there are, and whether the RDMA
// traffic of one can be seen by a capture on this host: that of soft-iWARP
// (siw) passes the kernel's network stack, that of an adapter that does iWARP
// itself does not.
package netdev

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sys is where Linux tells about its devices.
const Sys = "/sys"

// A Visibility says whether the RDMA traffic of a device passes where a
// capture on the host sees it.
type Visibility uint8

const (
	Unknown   Visibility = iota // there is no RDMA device, or none that is known
	Visible                     // soft-iWARP: all of it
	Offloaded                   // at most the startup is seen
	NotIWARP                    // RoCE, InfiniBand
)

var visibilityNames = [...]string{"unknown", "visible", "offloaded", "not_iwarp"}

// String is the visibility as one lower-case word.
func (v Visibility) String() string { return visibilityNames[v] }

// A Device is an RDMA device.
type Device struct {
	Name       string // "siw0", "cxgb4_0", …
	Driver     string // of the adapter, empty where there is none
	Visibility Visibility
}

// Note is a sentence on what a capture sees of it.
func (d *Device) Note() string {
	switch d.Visibility {
	case Visible:
		return "soft-iWARP: a capture on this host sees all of it"
	case Offloaded:
		return "the adapter does iWARP itself: a capture on this host sees the startup at most; mirror the switch port instead"
	case NotIWARP:
		return "RoCE or InfiniBand, which is not iWARP"
	}
	return ""
}

// An Interface is a network interface.
type Interface struct {
	Name      string
	Index     int
	Up        bool // it is switched on
	Loopback  bool
	State     string // of the link, as in RFC 2863: "up", "down", "lowerlayerdown", …; empty where not known
	MTU       int
	MAC       string // empty where there is none
	Speed     int64  // bit/s, 0 where not known
	Addresses []string
	RDMA      []Device
}

// List returns the interfaces of this host, with what the files below sys say
// of them.
func List(sys string) ([]Interface, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var list []Interface
	for _, i := range ifs {
		x := Interface{Name: i.Name, Index: i.Index, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0, MTU: i.MTU, MAC: i.HardwareAddr.String()}
		if addrs, err := i.Addrs(); err == nil {
			for _, a := range addrs {
				x.Addresses = append(x.Addresses, a.String())
			}
		}
		x.link(sys)
		list = append(list, x)
	}
	attach(sys, list)
	return list, nil
}

// maxFile is what is read of a file at most: all of them are a line.
const maxFile = 4096

// line returns what a file says, empty where it cannot be read.
func line(elem ...string) string {
	f, err := os.Open(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, maxFile)
	n, _ := f.Read(b)
	return strings.TrimSpace(string(b[:n]))
}

// names returns what is in a directory.
func names(elem ...string) []string {
	entries, _ := os.ReadDir(filepath.Join(elem...))
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// link reads state and speed.
func (x *Interface) link(sys string) {
	dir := filepath.Join(sys, "class", "net", x.Name)
	x.State = line(dir, "operstate")
	// In Mbit/s; -1 or no answer where there is no link.
	if n, err := strconv.ParseInt(line(dir, "speed"), 10, 64); err == nil && n > 0 && n < 1e9 {
		x.Speed = n * 1e6
	}
}

// attach gives each interface its RDMA devices.
func attach(sys string, list []Interface) {
	for _, name := range names(sys, "class", "infiniband") {
		dir := filepath.Join(sys, "class", "infiniband", name)
		d := device(dir, name)
		for _, port := range ports(dir) {
			for i := range list {
				if list[i].Name == port || port == "" && byGUID(dir, list[i].MAC) {
					list[i].RDMA = append(list[i].RDMA, d)
				}
			}
		}
	}
}

// ports returns the network interfaces of an RDMA device; one that is empty
// where the files do not name them.
func ports(dir string) []string {
	found := names(dir, "device", "net")
	for _, port := range names(dir, "ports") {
		ndevs := filepath.Join(dir, "ports", port, "gid_attrs", "ndevs")
		for _, gid := range names(ndevs) {
			if dev := line(ndevs, gid); dev != "" {
				found = append(found, dev)
			}
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 0 {
		return []string{""}
	}
	return found
}

// byGUID says whether the GUID of an RDMA device is made of a MAC address, as
// siw makes it (modified EUI-64, RFC 4291, appendix A, with or without the
// inverted bit).
func byGUID(dir, mac string) bool {
	hw, err := net.ParseMAC(mac)
	guid := strings.ReplaceAll(line(dir, "node_guid"), ":", "")
	if err != nil || len(hw) != 6 || len(guid) != 16 {
		return false
	}
	hex := strings.ReplaceAll(mac, ":", "")
	inverted := strconv.FormatUint(uint64(hw[0]^2)|0x100, 16)[1:] + hex[2:]
	for _, h := range []string{hex, inverted} {
		if guid == h[:6]+"fffe"+h[6:] {
			return true
		}
	}
	return false
}

// nodeRNIC is the node type of iWARP devices (RDMA_NODE_RNIC of
// rdma/ib_verbs.h).
const nodeRNIC = "4:"

// device reads what an RDMA device is.
func device(dir, name string) Device {
	d := Device{Name: name}
	if link, err := os.Readlink(filepath.Join(dir, "device", "driver")); err == nil {
		d.Driver = filepath.Base(link)
	}
	typ := line(dir, "node_type")
	switch {
	case strings.HasPrefix(line(dir, "node_desc"), "Software iWARP") || strings.HasPrefix(name, "siw"):
		d.Visibility = Visible
	case strings.HasPrefix(typ, nodeRNIC):
		d.Visibility = Offloaded
	case typ != "":
		d.Visibility = NotIWARP
	default:
		for _, offloads := range []string{"cxgb4", "irdma", "qedr", "i40iw", "iw"} {
			if strings.HasPrefix(name, offloads) {
				d.Visibility = Offloaded
			}
		}
	}
	return d
}
