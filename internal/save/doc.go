// Package save writes what is captured to pcapng files while it is captured:
// all of it or only the connections that turn out to be iWARP, to one file or
// to many in turn. Frames are written block by block, whole pcapng blocks at a
// time, so that a file is readable up to its last one whatever ends the program.
package save
