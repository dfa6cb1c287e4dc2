// Package overlay makes an editable tree of a [Source]: one whose files can be given other
// contents, but which knows nothing of handles, texts that are half written, and files that
// editors put beside those they save.
//
// The source has what is edited, and keeps the record of it. The overlay has the states of
// files, what a directory has besides the source's entries, and which number a file is shown
// by. Nothing of that is in a journal: it goes with the process.
//
// # The states of a file
//
// A file of the source is known to the source only, under the source's number, until
// somebody touches it.
//
//	             OpenWrite                  close: Put
//	    plain ───────────────> open ──────────────────────> plain
//	      │                     │ close: the text is refused
//	      │                     v
//	      │                  refused ── written anew, or another one renamed to it ──> open, shown
//	      │                     │ removed: a file with another number shows the source again
//	      │                     └──────────────────────────> removed, and shown
//	      │ renamed to any other name
//	      v                         renamed to a name of the source: Put
//	    scratch, hides it ────────────────────────────────> shown
//	                                   ^                      │ another one renamed to it
//	    scratch ───────────────────────┘                      v
//	      ^ │                                              removed
//	      │ └─ removed, or replaced ──> removed               │ Forget
//	   Create, any other name                                 v
//	                                                       (nothing)
//	   Create, the name of a file that is hidden ──> new ── closed: Put ──> shown
//
//   - plain: the source has all there is to know
//   - open: it has Writers, and from the first write on a text, which everybody reads
//   - refused: it shows a text that could not become its content. The source holds what it
//     held, and all that is made of that shows it. See [editing.Drafts].
//   - scratch: it holds any bytes, in memory, and is never saved. A file of the source that
//     it hides is out of sight: editors rename what they save, and write it anew. It can be
//     removed only once another file has that one's name. If none ever has, the source's
//     stays what it was.
//   - shown: it is the file of the source that has its name, but under a number of its own,
//     which it keeps as renames want it
//   - new: it has the name of a file of the source, and becomes that when it is closed
//   - removed: in no directory, but perhaps still read: what it held, or was when another
//     one took its place
//
// Directories that are made are scratch, too, and so is all in them.
//
// # Numbers and cursors
//
// Numbers from [Options.FirstID] on are the overlay's. What is in a directory besides the
// source's entries is listed behind them, from the cursor 1<<40 on; a file that shows one of
// the source is listed in that one's place.
//
// # Locks
//
// They are those of package editing: Tree.editing is taken first, then those of the source
// or Tree.mu, but neither of these under the other, but for [Source.Where], [Source.Now] and
// Usage, which are called under mu. A source must not tell of a change under a lock that
// those need.
package overlay
