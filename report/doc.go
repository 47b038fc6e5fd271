// Package report writes the records of package qp for people and for scripts:
// as a listing, as trees of fields, and as JSON Lines in the form "iwdump/1"
// that schema.json describes.
//
// What comes from the wire is escaped wherever it is written.
package report
