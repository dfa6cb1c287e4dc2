// Package daemon is the life of a mount behind the command that made it: it goes to the
// background, is asked things there, and is taken away. What is asked and answered, and what
// users are told, is the caller's.
//
// # To the background
//
// [Start] runs the program again with the same arguments, in a session of its own, with a
// pipe to the process that waits. The new one finds the pipe by [FromParent], tells how far
// it is, and at last that it is ready or has failed. Until then it has the terminal's stderr,
// afterwards a log file or nothing.
//
//	the user's process                       the one of the mount
//	Start ── starts ──────────────────────▶ FromParent
//	      ◀─ {"Done":…,"Total":…} …  ─────── Parent.Progress
//	      ◀─ {"Ready":true} ──────────────── Parent.Ready
//	      or {"Code":3,"Error":"…"} ──────── Parent.Failed
//
// # Asked
//
// A mount listens on a socket in the user's state folder, called after the mount point
// ([Name]). Who connects sends one request, a frame, and gets one answer, of one frame or
// several. Frames are lines of JSON of at most 1 MiB:
//
//	[Talk]  {"do":"unmount","lazy":false} ──▶ [Listen]
//	        ◀── {…} the answer
//	        ◀── {…} [Control.Close]: what came of saving
//	        ◀── end of the process
//
// Only who was granted an unmount gets the last two: his connection stays open. That there is
// no process is [ErrNone].
//
// # Taken away
//
// [Served] unmounts on signals and on demand. [StateOf] and [Edited] tell from outside what is on
// a directory, and whether it answers. A process that was killed loses its mount first and its
// locks later: [TakeOver] and [AwaitJournal] wait for that.
//
// Mounts and signals are those of Unix; elsewhere [Start] fails.
package daemon
