// Package filelock lets one process at a time write to something. A lock lasts
// until it is closed or its process ends, however it ends; nobody has to clean up
// behind a process that was killed.
//
// Acquire locks a file made for that purpose, which says who holds it:
//
//	12345                          the process
//	/games/DataCenter_Final.dat    what it locked
//
// The lock file stays when the lock is given back: if it were removed, somebody
// who opened it just before would lock a file that nobody else finds any more.
//
// Probe tells whether somebody holds such a file: it takes a lock that can be shared, for
// as long as the question takes, and Acquire waits for those who ask.
//
// LockFile locks a file that is open anyway, so that those who come to it by
// another path, or with another lock file, meet the lock too.
//
// Locks are flock(2) on Linux, macOS and the BSDs, and LockFileEx on Windows, there
// on a byte far behind the end because it keeps others from reading what it
// locks. Elsewhere locking fails with an error that matches
// [errors.ErrUnsupported], as it does on file systems without locks. All of them
// keep out only those who ask for the lock. On NFS, what is locked has to be open
// for writing.
package filelock
