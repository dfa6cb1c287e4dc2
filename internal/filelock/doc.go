// Package filelock lets one process at a time write to something. A lock lasts until it is
// closed or its process ends, in whatever way; a killed process leaves nothing to clean up.
//
// Acquire locks a lock file, which says who holds it:
//
//	12345                          the process
//	/games/DataCenter_Final.dat    what it locked
//
// The lock file stays when the lock is released. If it were removed, a process that had
// just opened it would lock a file that nobody else finds any more.
//
// Probe reports whether somebody holds such a file. Where it briefly takes a lock that can be
// shared, Acquire waits for it.
//
// LockFile locks a file that is open anyway, so that processes which come to it by another
// path, or with another lock file, meet the lock too.
//
// A lock is on a byte far behind the end of the file: on Linux an open file description lock,
// see fcntl_locking(2), and on Windows LockFileEx. Programs of .NET ask for a lock on each file
// that they open, and could not read one that is locked as a whole. On macOS and the BSDs,
// which lack such locks, it is flock(2) all the same. Elsewhere
// locking fails with an error that matches [errors.ErrUnsupported], as it does on file
// systems without locks. All of them keep out only those who ask for the lock.
package filelock
