// Package diskspace measures the free space of a disk, and keeps large exports from filling
// it: on a full disk many programs fail in ways that users don't connect with the export.
//
// diskspace.go says how much may be written; read it first. What systems do each in its way is in
// space_unix.go (the free space), blocks_linux.go (in which units) and full_unix.go (the error of a
// full disk).
package diskspace
