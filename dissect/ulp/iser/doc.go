// Package iser reads and writes what iSCSI over RDMA carries: the headers of
// iSER (RFC 7145), the iSCSI PDUs behind them (RFC 7143), and what they say of
// SCSI commands (SPC, SBC). All fields are big-endian.
//
// Every Send is an iSER header of 28 octets; that of a control-type PDU is
// followed by an iSCSI PDU: a Basic Header Segment of 48 octets, additional
// headers, and data. The header advertises the STags of the initiator's
// buffers. Data-In and R2T PDUs never appear: they are RDMA Writes to the Read
// STag, and RDMA Reads of the Write STag.
package iser
