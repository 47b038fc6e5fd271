// Package qp makes a QP pair of the two directions of an iWARP connection: its
// messages in order, the operations that they make up, how long each took, and
// what breaks the rules of RDMAP between the two (RFC 5040, RFC 7306, RFC
// 6581).
//
// A [QP] takes what the layers below find, as they find it, and hands records
// to a [Sink]. It keeps what is outstanding, and no more of it than a fixed
// number, so that its memory does not grow with the capture.
//
// # Requests and answers on captures that lack packets
//
// Read and Atomic Requests of a side are answered in order, and their MSNs count
// them. So as long as no answer was missed, the next one is for the next MSN,
// whether that request was captured or not. Where octets of the answering side
// are missing, the count goes on if they are just as many as the answers to the
// next requests take, other messages deducted. Otherwise an answer goes with the
// one request that asked for its STag, TO and size, which is certain where the
// requests are all at hand, and else is a guess (Operation.Guess) until three in
// a row fit the requests in turn and not their neighbours. Of what remains
// nothing is said but how much it is (Summary.Unknown).
//
// A time is told only where the packets that begin and end it were captured, and
// no rule is said to be broken where packets are missing that could explain it.
package qp
