// Package reach finds what a path of the command line means, and opens it. mountof.go finds the mount
// that a path is in or is the source of, ask.go asks it, and left.go tells what one has left that
// ended. source.go opens a source, and explains why one can't be read. mountread.go joins the two: a
// command that reads a mount point reads what is mounted there, with its edits.
package reach
