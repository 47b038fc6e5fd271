package capture

import "strconv"

// LinkType says what a frame begins with (the LINKTYPE_ registry of
// https://www.tcpdump.org/linktypes.html).
type LinkType uint16

// Link types that the packet package takes apart.
const (
	LinkNull     LinkType = 0   // BSD loopback: address family in host order
	LinkEthernet LinkType = 1   // Ethernet
	LinkRaw12    LinkType = 12  // raw IP, as some systems number it in files
	LinkRaw14    LinkType = 14  // raw IP, as OpenBSD numbers it in files
	LinkRaw      LinkType = 101 // raw IP, version in the first octet
	LinkLoop     LinkType = 108 // OpenBSD loopback: address family in network order
	LinkSLL      LinkType = 113 // Linux "cooked" capture
	LinkIPv4     LinkType = 228 // raw IPv4
	LinkIPv6     LinkType = 229 // raw IPv6
	LinkSLL2     LinkType = 276 // Linux "cooked" capture, version 2
)

// linkNames are the names of the registry without their LINKTYPE_.
var linkNames = map[LinkType]string{
	LinkNull:     "NULL",
	LinkEthernet: "ETHERNET",
	3:            "AX25",
	6:            "IEEE802_5",
	7:            "ARCNET_BSD",
	8:            "SLIP",
	9:            "PPP",
	10:           "FDDI",
	LinkRaw12:    "RAW",
	LinkRaw14:    "RAW",
	50:           "PPP_HDLC",
	51:           "PPP_ETHER",
	100:          "ATM_RFC1483",
	LinkRaw:      "RAW",
	104:          "C_HDLC",
	105:          "IEEE802_11",
	107:          "FRELAY",
	LinkLoop:     "LOOP",
	LinkSLL:      "LINUX_SLL",
	117:          "PFLOG",
	119:          "IEEE802_11_PRISM",
	122:          "IP_OVER_FC",
	127:          "IEEE802_11_RADIOTAP",
	138:          "APPLE_IP_OVER_IEEE1394",
	143:          "DOCSIS",
	163:          "IEEE802_11_AVS",
	187:          "BLUETOOTH_HCI_H4",
	189:          "USB_LINUX",
	192:          "PPI",
	195:          "IEEE802_15_4_WITHFCS",
	201:          "BLUETOOTH_HCI_H4_WITH_PHDR",
	204:          "PPP_WITH_DIR",
	220:          "USB_LINUX_MMAPPED",
	224:          "FC_2",
	225:          "FC_2_WITH_FRAME_DELIMS",
	226:          "IPNET",
	227:          "CAN_SOCKETCAN",
	LinkIPv4:     "IPV4",
	LinkIPv6:     "IPV6",
	230:          "IEEE802_15_4_NOFCS",
	231:          "DBUS",
	239:          "NFLOG",
	240:          "NETANALYZER",
	241:          "NETANALYZER_TRANSPARENT",
	242:          "IPOIB",
	247:          "INFINIBAND",
	248:          "SCTP",
	249:          "USBPCAP",
	251:          "BLUETOOTH_LE_LL",
	252:          "WIRESHARK_UPPER_PDU",
	253:          "NETLINK",
	254:          "BLUETOOTH_LINUX_MONITOR",
	258:          "PKTAP",
	259:          "EPON",
	274:          "ETHERNET_MPACKET",
	LinkSLL2:     "LINUX_SLL2",
	280:          "VPP_DISPATCH",
	281:          "DSA_TAG_BRCM",
	282:          "DSA_TAG_BRCM_PREPEND",
	283:          "IEEE802_15_4_TAP",
	284:          "DSA_TAG_DSA",
	285:          "DSA_TAG_EDSA",
}

// String returns the name of t in the registry, without its LINKTYPE_, or
// its number.
func (t LinkType) String() string {
	if s, ok := linkNames[t]; ok {
		return s
	}
	if 147 <= t && t <= 162 {
		return "USER" + strconv.Itoa(int(t-147))
	}
	return strconv.Itoa(int(t))
}
