// Package treecopy copies a [nodes.Tree], or a part of one, to the disk, on all cores. It
// also writes files that are not from a tree.
//
// A file that can't be read is reported and left out; the others are copied. Existing files
// are never overwritten unless asked for: two names that differ only in case become one
// file on some systems, and the second one must not silently replace the first. When a file
// is overwritten, the new one is written beside the old one and takes its name when it is
// whole; a link is replaced by a file.
//
// When the disk is full, or so little space is left that others would suffer, it ends once
// with what it has.
//
// Nothing is written outside the folder, whatever names the tree has ([os.Root]), nor
// through a link that another user may have planted (package links).
//
// Begin with treecopy.go and write.go, for which walk.go finds what to copy, and worker.go copies it to target.go, the
// folder. filter.go selects, rows.go decides what is copied together, reason.go says why something was left out, and
// measure.go how much there is beforehand. name.go and system_linux.go are about what systems allow.
package treecopy
