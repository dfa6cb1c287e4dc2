// Package overlay makes an editable tree of a [Source]: one whose files can be given other
// contents, but which knows nothing of handles, texts that are half written, and files that
// editors put beside those they save.
//
// The source has what is edited and the names of its files, and keeps the record of edits.
// The overlay has the states of files, what a directory has besides the source's entries, and
// the number that a file is shown by. Nothing of that is in a journal: it goes with the
// process.
//
// # The states of a file
//
// A file of the source is known to the source only, under the source's number, until
// somebody touches it.
//
//	         OpenWrite          closed: Put
//	plain ──────────────> open ─────────────> plain
//	  │                    │
//	  │                    │ closed, but Put fails
//	  │                    v           written anew: Put
//	  │                 refused ────────────────────────> plain, or shown
//	  │                    │ removed
//	  │                    └──> removed; another number shows the source's content
//	  │ renamed to a name that is none of the source's
//	  v
//	scratch ────────────────────────────────────────────> shown
//	 ^   │     renamed to a name of the source's: Put       │
//	 │   │ removed, or replaced                             │ another one is
//	 │   └────────────> removed <───────────────────────────┘ renamed to it
//	 │                     │ Forget
//	 │                     v
//	 └── Create ────── (nothing) ── Create by the name ──> new ──────────> shown
//	                                of one that is hidden      closed: Put
//
// In words:
//
//   - plain: the source has all there is to know
//   - open: it has Writers, and from the first write on a text, which everybody reads
//   - refused: it shows a text that could not become its content. The source holds what it
//     held, and all that is made of that shows it; see [editing.Drafts]. So is a text that
//     was to be renamed to a file of the source.
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
// They are those of package editing: Tree.editing is taken before all others. Tree.mu is
// held while the source is asked for Where, and taken by the function that the source's
// Watch gets: a source must not tell of a change under a lock that Where needs.
package overlay
