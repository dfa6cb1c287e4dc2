// Package disk has the operations on files that must not lose anything: those of journals, and of
// new files that replace old ones. Such code gets an [FS] when it starts. Tests pass one of package
// disktest, on which any operation can fail, and which knows what a power cut would leave.
//
// Looking up names and attributes is not part of it, since a failed look-up loses nothing.
//
// disk.go has [FS] and the disk of the system; read it first. The other files are what systems do
// each in its way: exchange_linux.go swaps two files, rename_windows.go replaces an open one, and
// syncdir_unix.go syncs a folder.
package disk
