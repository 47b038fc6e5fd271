// Package qp makes a QP pair of the two directions of an iWARP connection: its
// messages in order, the operations that they make up, how long each took, and
// what breaks the rules of RDMAP between the two (RFC 5040, RFC 7306, RFC
// 6581).
//
// A [QP] takes what the layers below find, as they find it, and hands records
// to a [Sink]. It keeps what is outstanding, and no more of it than a fixed
// number, so that its memory does not grow with the capture.
package qp
