package capture

import "strconv"

// LinkType says what a frame begins with (the LINKTYPE_ registry of
// https://www.tcpdump.org/linktypes.html).
type LinkType uint16

// Link types that the packet package takes apart.
const (
	LinkNull         LinkType = 0   // BSD loopback: address family in host order
	LinkEthernet     LinkType = 1   // Ethernet
	LinkPPP          LinkType = 9   // PPP, with or without HDLC framing
	LinkFDDI         LinkType = 10  // FDDI
	LinkRaw12        LinkType = 12  // raw IP, as some systems number it in files
	LinkRaw14        LinkType = 14  // raw IP, as OpenBSD numbers it in files
	LinkPPPHDLC      LinkType = 50  // PPP in HDLC framing
	LinkPPPEther     LinkType = 51  // PPPoE, from its session header on
	LinkATM          LinkType = 100 // LLC over ATM (RFC 1483)
	LinkRaw          LinkType = 101 // raw IP, version in the first octet
	LinkCHDLC        LinkType = 104 // Cisco HDLC
	Link80211        LinkType = 105 // IEEE 802.11
	LinkLoop         LinkType = 108 // OpenBSD loopback: address family in network order
	LinkSLL          LinkType = 113 // Linux "cooked" capture
	LinkPFLog        LinkType = 117 // OpenBSD packet filter log
	LinkPrism        LinkType = 119 // IEEE 802.11 behind a Prism header
	LinkIPoverFC     LinkType = 122 // IP over Fibre Channel (RFC 2625)
	LinkRadiotap     LinkType = 127 // IEEE 802.11 behind a radiotap header
	LinkIEEE1394     LinkType = 138 // IP over IEEE 1394, as of Apple
	LinkAVS          LinkType = 163 // IEEE 802.11 behind an AVS header
	LinkPPI          LinkType = 192 // any of these behind Per-Packet Information
	LinkPPPDir       LinkType = 204 // PPP behind an octet for the direction
	LinkIPv4         LinkType = 228 // raw IPv4
	LinkIPv6         LinkType = 229 // raw IPv6
	LinkNFLog        LinkType = 239 // Netfilter log
	LinkNetAnalyzer  LinkType = 240 // Ethernet behind a header of Hilscher netANALYZER
	LinkNetAnalyzerT LinkType = 241 // the same, with preamble
	LinkIPoIB        LinkType = 242 // IP over InfiniBand (RFC 4391), behind a global route header
	LinkPktap        LinkType = 258 // any of these behind a header of Darwin's pktap
	LinkEPON         LinkType = 259 // Ethernet behind an EPON preamble
	LinkMPacket      LinkType = 274 // Ethernet mPackets, with preamble
	LinkSLL2         LinkType = 276 // Linux "cooked" capture, version 2

	// LinkSnoopOther is any that only snoop files know. It is not in the registry.
	LinkSnoopOther LinkType = 65535
)

// linkNames are the names of the registry without their LINKTYPE_.
var linkNames = map[LinkType]string{
	LinkNull:         "NULL",
	LinkEthernet:     "ETHERNET",
	3:                "AX25",
	6:                "IEEE802_5",
	7:                "ARCNET_BSD",
	8:                "SLIP",
	LinkPPP:          "PPP",
	LinkFDDI:         "FDDI",
	LinkRaw12:        "RAW",
	LinkRaw14:        "RAW",
	LinkPPPHDLC:      "PPP_HDLC",
	LinkPPPEther:     "PPP_ETHER",
	LinkATM:          "ATM_RFC1483",
	LinkRaw:          "RAW",
	LinkCHDLC:        "C_HDLC",
	Link80211:        "IEEE802_11",
	107:              "FRELAY",
	LinkLoop:         "LOOP",
	LinkSLL:          "LINUX_SLL",
	LinkPFLog:        "PFLOG",
	LinkPrism:        "IEEE802_11_PRISM",
	LinkIPoverFC:     "IP_OVER_FC",
	LinkRadiotap:     "IEEE802_11_RADIOTAP",
	LinkIEEE1394:     "APPLE_IP_OVER_IEEE1394",
	143:              "DOCSIS",
	LinkAVS:          "IEEE802_11_AVS",
	187:              "BLUETOOTH_HCI_H4",
	189:              "USB_LINUX",
	LinkPPI:          "PPI",
	195:              "IEEE802_15_4_WITHFCS",
	201:              "BLUETOOTH_HCI_H4_WITH_PHDR",
	LinkPPPDir:       "PPP_WITH_DIR",
	220:              "USB_LINUX_MMAPPED",
	224:              "FC_2",
	225:              "FC_2_WITH_FRAME_DELIMS",
	226:              "IPNET",
	227:              "CAN_SOCKETCAN",
	LinkIPv4:         "IPV4",
	LinkIPv6:         "IPV6",
	230:              "IEEE802_15_4_NOFCS",
	231:              "DBUS",
	LinkNFLog:        "NFLOG",
	LinkNetAnalyzer:  "NETANALYZER",
	LinkNetAnalyzerT: "NETANALYZER_TRANSPARENT",
	LinkIPoIB:        "IPOIB",
	247:              "INFINIBAND",
	248:              "SCTP",
	249:              "USBPCAP",
	251:              "BLUETOOTH_LE_LL",
	252:              "WIRESHARK_UPPER_PDU",
	253:              "NETLINK",
	254:              "BLUETOOTH_LINUX_MONITOR",
	LinkPktap:        "PKTAP",
	LinkEPON:         "EPON",
	LinkMPacket:      "ETHERNET_MPACKET",
	LinkSLL2:         "LINUX_SLL2",
	280:              "VPP_DISPATCH",
	281:              "DSA_TAG_BRCM",
	282:              "DSA_TAG_BRCM_PREPEND",
	283:              "IEEE802_15_4_TAP",
	284:              "DSA_TAG_DSA",
	285:              "DSA_TAG_EDSA",
	LinkSnoopOther:   "SNOOP_OTHER",
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
