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
// Probe reports whether somebody holds such a file. It briefly takes a lock that can be
// shared, and Acquire waits for probes.
//
// LockFile locks a file that is open anyway, so that processes which come to it by another
// path, or with another lock file, meet the lock too.
//
// Locks are flock(2) on Linux, macOS and the BSDs, and LockFileEx on Windows, there on a
// byte far behind the end because it keeps others from reading what it locks. Elsewhere
// locking fails with an error that matches [errors.ErrUnsupported], as it does on file
// systems without locks. All of them keep out only those who ask for the lock. On NFS, a
// locked file must be open for writing.
package filelock
