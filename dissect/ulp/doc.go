// Package ulp is what the upper layer protocols that RDMA messages carry have
// in common: a [Message] as they see it, what a [Decoder] says of each message
// (a [Description]), the [Command] that a request and its reply make up, and
// the [Stream] that finds out which protocol a QP carries.
//
// The protocols themselves are in packages of their own: nvme, rpcrdma,
// smbdirect, iser. Each offers a [Protocol] and parses and appends its wire
// forms. They see messages and private data of MPA, never TCP.
//
// # Recognition
//
// Content decides. Each startup frame and each Send is shown to the protocols,
// and each says how far it speaks for them ([Evidence]). A protocol is named
// once two messages or more speak for it, and none against it; until then what
// it says is marked as doubtful, and its commands are held back. A port counts
// as a hint where content speaks for the protocol already.
//
// All state is bounded: by [Tracker] for what is outstanding, and by the
// decoders for the rest.
package ulp
