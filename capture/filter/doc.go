// Package filter compiles capture filters, in the syntax of tcpdump
// (https://www.tcpdump.org/manpages/pcap-filter.7.html), to programs of the
// Berkeley Packet Filter, for the kernel or to be run over frames of a file.
//
// It knows host, net, port, portrange and proto, with src and dst and the
// protocols before them, tcp, udp, sctp, icmp, icmp6, ip, ip6, arp, vlan, len,
// less and greater, octets of a header as in tcp[tcpflags] & tcp-syn != 0, and
// and, or, not and parentheses. What it knows it means as libpcap does. What it
// does not know it refuses, with its column: names of hosts and services too.
package filter
