// Package editing has the texts that package overlay holds in memory, and what users of its trees
// are told of them:
//
//   - [Text]: the content of a file that is written to, in memory until it is closed
//   - [Writer]: a handle of such a file, which asks its [File] what becomes of the text
//   - [Order]: what a directory lists behind all that its source has
//   - [Times]: when something was edited, or was said to be
//   - [Limits], [Refused], [Loose]: what texts there may be, and which are not saved
//
// An [Owner] holds together what a Writer needs of its tree.
//
// # Locks
//
// A tree has two. Editing is held by whoever changes something, for as long as that
// takes, also while the source is read or a journal written. Mu guards what is in
// memory, for as long as that is looked at, and nothing is read or written
// meanwhile. Editing is taken before Mu, and before all that a tree calls for an edit.
// Who holds Editing may look without Mu at what only such holders change; readers
// need Mu, and change nothing. What others than such a holder change waits in the
// [Lock]. Times have a lock of their own, under which nothing else is taken.
//
// # From the first write to the close
//
// A text is held from the first write on: what the file shows so far, if the write
// leaves any of that. From then on everybody reads the text, but it is only what
// somebody writes at the moment. [Writer.Flush] has the File commit it, and the source
// then has the content again. One that was emptied and not written to since is left
// alone until the last Writer is released, because shells close a file between the two.
package editing
