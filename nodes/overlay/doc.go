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
//	  │                    │ removed, but Remove is not permitted
//	  │                    └──> removed; another number shows the source's content
//	  │ renamed to a name that is none of the source's
//	  v
//	scratch ────────────────────────────────────────────> shown
//	 ^   │     renamed to a name of the source's: Put     │
//	 │   │ removed, or replaced                           │ another one is
//	 │   └────────────> removed <─────────────────────────┘ renamed to it
//	 │                     │ Forget
//	 │                     v
//	 └── Create ────── (nothing) ── Create by a name ──> new ──────────> shown
//	                                of the source's           closed: Put
//
// In words:
//
//   - plain: the source has all there is to know. It is removed by Remove, and renamed to
//     another name of the source's by Move.
//   - open: it has Writers, and from the first write on a text, which everybody reads
//   - refused: it shows a text that could not become its content. The source holds what it
//     held, and all that is made of that shows it. So is a text that was to be renamed to a
//     file of the source.
//   - scratch: it holds any bytes, in memory, and is never saved. A file of the source that
//     it hides is out of sight: editors rename what they save, and write it anew. It takes
//     what it hides along when it is removed or becomes another file, unless another one has
//     that name by then; where the source permits no Remove, it stays. If nothing of that
//     happens, the source's stays what it was, until RemoveHidden.
//   - shown: it is the file of the source that has its name, but under a number of its own,
//     which it keeps as renames want it
//   - new: it has the name of a file of the source, or one that such a file can have, and
//     becomes that when it is closed. The source makes one if it has none by then.
//   - removed: in no directory, but perhaps still read: what it held, or was when another
//     one took its place
//
// Where files are single values (see [Valued]) there is no refused text. Whoever writes one is
// told as early as that is certain, and the file is again what it was: plain, new and empty, or
// scratch. What somebody writes then counts for a rename as well.
//
// Directories that are made are the source's or scratch, as it says by their names. In those
// that are scratch all is.
//
// # Texts that are refused
//
//   - A text that can't become what its file is to hold is refused when it is closed, for
//     whatever reason, and stays: the file shows it until it is written anew, replaced or
//     removed. All else shows what the source holds, and can be edited and saved. What is
//     edited elsewhere leaves the text as it is, and a good one that takes its place counts
//     as a whole.
//   - Its user.lorefs.error says what is wrong.
//   - So it is with a text that a rename was to make the content of another file. It
//     stays under both names: tools that save by renaming remove the file that they could
//     not rename. Where there is no room for that, or somebody is writing there, it stays
//     under its first name only, which the log tells.
//   - All texts together are limited, as they are in memory. They are in no journal: they
//     go with the process, and who ends a mount has to keep those that Refused gives.
//
// # What others edit
//
// A source may be changed by others than the overlay. It tells the [Watcher] behind the edit.
// What has to be noted of a file waits for the lock of edits, and not the other way round
// (see below): Edited lets it have the time of its source again, Gone makes it a removed
// file, with the text that is held, and a new one makes it when it is closed.
//
// # Numbers and cursors
//
// Numbers from [Options.FirstID] on are the overlay's. What is in a directory besides the
// source's entries is listed behind them, from the cursor 1<<40 on; a file that shows one of
// the source is listed in that one's place. A Valued source gives the numbers of new files
// itself, and a file keeps its number: nothing has to be known of one that was saved by
// renaming.
//
// # From the first write to the close
//
// A text is held from the first write on: what the file shows so far, if the write leaves any
// of that. From then on everybody reads the text, but it is only what somebody writes at the
// moment. Flush puts it, and the source then has the content again. One that was emptied and
// not written to since is left alone until the last Writer is released, because shells close a
// file between the two.
//
// # Locks
//
// A Tree has two. Tree.editing is held by whoever changes something, for as long as that
// takes, also while the source is read or a journal written. Tree.mu guards what is in memory,
// for as long as that is looked at, and nothing is read or written meanwhile, but that a source
// is asked for Where: it must not tell of a change under a lock that Where needs, as the Watcher
// takes Tree.mu. Tree.editing is taken before Tree.mu, and before all locks of the source. Who
// holds it may look without Tree.mu at what only such holders change; readers need Tree.mu, and
// change nothing. What the Watcher has to note waits until nobody holds Tree.editing, and he who
// made the change does not: he may hold what the other waits for. Times have a lock of their
// own, under which nothing else is taken.
package overlay
