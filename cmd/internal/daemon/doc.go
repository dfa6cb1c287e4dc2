// Package daemon runs a mount behind the command that made it: it goes to the background,
// answers requests there, and is unmounted. The content of requests, answers and messages
// is the caller's.
//
// # To the background
//
// [Start] runs the program again with the same arguments, in a session of its own, with a
// pipe to the process that waits. The new process finds the pipe by [FromParent], reports
// its progress, and at last that it is ready or has failed. Until then it has the
// terminal's stderr, afterwards a log file or nothing.
//
//	the user's process                       the process of the mount
//	Start ── starts ──────────────────────▶ FromParent
//	      ◀─ {"Done":…,"Total":…} …  ─────── Parent.Progress
//	      ◀─ {"Ready":true} ──────────────── Parent.Ready
//	      or {"Code":3,"Error":"…"} ──────── Parent.Failed
//
// # Requests
//
// A mount listens on a socket in the user's state folder, named after the mount point
// ([Name]). A client sends one request, of one frame or several, and gets one answer, of one
// frame or several. Frames are lines of JSON of at most 1 MiB:
//
//	[Talk]       {"do":"unmount","lazy":false} ──▶ [Listen]
//	[Line.Send]  {…} …                         ──▶ [Client.Next]
//	[Line.Next]                            ◀── {…} [Client.Send]
//	[Line.AwaitEnd]                        ◀── end of the process
//
// Only a client whose [Handler] says so gets the end of the process, since its connection
// stays open; all others get that of the answer. While the handler is at work, the mount
// sends empty lines, so that a client can wait for as long as that takes and still notices a
// mount that hangs. If no process listens the error is [ErrNone].
//
// # Unmounting
//
// [Served] unmounts on signals, on request, and when nobody uses the mount. [MountOf] finds the
// mount that a path is in, and [Mine] those of the user; [StateOf] and [Edited] find out from
// outside what is on a directory, and whether it answers. A process that was killed loses its mount
// first and its locks later: [TakeOver] and [AwaitJournal] wait for that. [Notes] say what it left.
//
// Mounts and signals are those of Unix; elsewhere [Start] fails.
//
// # Files
//
// The process that mounts: background_unix.go starts it again in the background, served.go unmounts, and
// control.go answers requests of client.go, over the socket of socket_linux.go. made.go makes and removes the
// mount point, and notify.go tells the service manager.
//
// Other processes: name.go and find.go find a mount, state.go and mounts_linux.go look at it from outside,
// talk.go asks it, with the frames of frames.go, and inuse_linux.go says who uses it. notes.go is what it has
// left, and takeover.go waits for one that is dying.
package daemon
