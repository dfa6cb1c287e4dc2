// Package overlay makes an editable tree of a [Source]. The files of a source can be given new
// contents, but a source knows nothing of handles, of texts that are half written, or of the
// files that editors put beside those they save. The overlay adds these.
//
// The source holds the contents and names of its files, and keeps the record of edits. The
// overlay holds the states of files, the files of a directory that are not the source's, and
// the number that each file has. The overlay writes no journal, so its part is lost when the
// process ends.
//
// # The states of a file
//
// The overlay knows nothing of a file of the source until something is done to it. Until then
// the file has the source's number.
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
//   - plain: all that is known of the file is in the source. Source.Remove removes it, and
//     Source.Move renames it to another name of the source.
//   - open: the file has Writers. From the first write on it has a text, which every reader
//     sees.
//   - refused: the file shows a text that could not become its content, or that could not be
//     renamed to it. The source holds the old content, and every other view shows that.
//   - scratch: the file holds any bytes, in memory, and is never saved. If it was a file of the
//     source before, it hides that file: editors rename what they save and write it anew. The
//     hidden file is removed together with the scratch file, or when the scratch file becomes
//     another file of the source, unless a new file has the hidden name by then. If the source
//     doesn't permit the removal, the hidden file stays. Otherwise it stays unchanged until
//     RemoveHidden.
//   - shown: the file is the source's file of the same name, but with a number of its own. A
//     rename has to keep the number.
//   - new: the file has the name of a file of the source, or a name that such a file can have.
//     It becomes that file when it is closed. The source makes the file if it has none by then.
//   - removed: the file is in no directory, but may still be read. It shows what it held when
//     it was removed or replaced.
//
// A [Valued] source has files that are single values, and for these there is no refused text.
// The writer gets the error as early as it is certain, and the file becomes what it was before:
// plain, new and empty, or scratch. A rename of a file that is being written uses the text
// written so far.
//
// A new directory is the source's or scratch; the source decides by the name. Everything in a
// scratch directory is scratch.
//
// # Texts that are refused
//
//   - A text is refused when it is closed, if it can't become the content of its file for any
//     reason. The file shows the text until it is written anew, replaced or removed. Everything
//     else shows the content in the source, which can be edited and saved. Such edits don't
//     change the text. A good text that replaces it counts as a whole.
//   - The attribute user.lorefs.error of the file has the reason.
//   - A text that a rename could not make the content of another file is kept under both
//     names, because tools that save by renaming remove the file that they could not rename.
//     If there is no room for that, or the other file is being written, the text stays under
//     its first name only, and the log says so.
//   - All texts are in memory, so their total size is limited. They are in no journal and are
//     lost when the process ends. Before a mount ends, its owner has to save the texts that
//     Refused returns.
//   - A user may give them up: TakeBack. The files show the source's content again. It never
//     touches text that was not flushed: the handle that it was written to keeps it, and
//     Unflushed lists it.
//
// # Edits from elsewhere
//
// A source may also be changed by others than the overlay. It then calls the [Watcher]. What
// the overlay has to record of that waits for the lock of edits; the edit itself doesn't wait
// (see below). Edited gives the file the time of its source again. Gone makes the file a
// removed one, with the text that it has. A new file that was to become the node that is gone
// makes another one when it is closed.
//
// # Numbers and cursors
//
// Numbers from [Options.FirstID] on are the overlay's. A directory lists the source's entries
// first and scratch files after them, from the cursor 1<<40 on. A file that shows one of the
// source is listed in the place of that one. A Valued source gives the numbers of new files
// itself. Its files keep their numbers when they are saved by renaming, so the overlay doesn't
// have to record them.
//
// # From the first write to the close
//
// A file has a text from the first write on. The text begins with what the file shows, unless
// the write leaves nothing of that. Every reader sees the text, but it is not saved before
// Flush, which puts it into the source; then the file shows the source's content again.
//
//	         written                 Flush, Sync: Put
//	open ──────────────> written ──────────────────────> open, and durable
//	  │                   ^   │ emptied                      ^
//	  │           written │   v                              │
//	  └────────────────> emptied ────────────────────────────┘
//	    emptied, or new   ^ │ │      Flush, Sync: Put
//	                      └─┘ │
//	     Flush, Sync: no such │ the last Release: Put fails
//	     text can be put      v
//	                     refused, or what it was before
//
// A close that leaves the file emptied looks the same from a program that is done with it and
// from a shell, which closes one of two descriptors before it writes to the other. (dash, bash,
// zsh, fish, ksh, mksh, yash, tcsh and busybox all do that.) So an emptied file is put, since the
// program counts on it, but nothing is lost if a text follows:
//
//   - If the source has no empty text there, then Flush returns no error, and the file stays
//     emptied. Only Sync, which must not promise what isn't true, and the last Release report it.
//     Of a new file Sync does not: it has nothing yet that could be lost, and editors sync what
//     they have made before they write it. If the process dies then, there is no such file.
//   - A new file that was put empty is undecided until something is written or its last Writer is
//     released: the source may still choose what it is. Otherwise 42 that a shell writes to a new
//     attribute would be a string.
//
// A close is also seen when a program starts another one, which closes its copies of the descriptors
// of files that are being written. Nothing tells it from that of the writer, so Flush puts half a
// text then. If that is refused, the error goes to the other program, which ignores it. The writer
// goes on with the text that the file shows, and its own close puts all of it. But a Valued source
// keeps no refused text: values are written at once.
//
// Release puts and syncs what was written after the last Flush, as through a mapping.
//
// # Locks
//
// A Tree has two locks. Tree.editing is held by every edit, as long as it takes, also while the
// source is read or a journal is written. Tree.mu guards the memory, only while that is used.
// Nothing is read or written under Tree.mu, except that it calls Source.Where. So a source must
// not call the Watcher, which takes Tree.mu, under a lock that Where needs.
//
// Tree.editing is taken before Tree.mu, and before all locks of the source. Its holder may read
// without Tree.mu what only holders of Tree.editing change. Readers need Tree.mu, and change
// nothing. What the Watcher has to record is done once nobody holds Tree.editing. The one who
// made the change doesn't wait for that, because it may hold a lock that the holder of
// Tree.editing waits for. Times have a lock of their own, under which no other lock is taken.
package overlay
