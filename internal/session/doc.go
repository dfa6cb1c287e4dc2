// Package session edits a data center in its place, so that nothing is lost: it
// keeps the lock, the journal and the draft together, and saves. Lock, journal and
// rescue are those of package pending, which says what they are for.
//
// The header of the journal says which file the edits belong to (size and SHA-256);
// its records are
//
//	'E' edits …   a record of datacenter.Draft
//	'S' {json}    the file that is about to take the source's place, or that may be
//	              put there: what was edited is rescued to it
//
// What is saved is written beside the source, read back and compared with the
// draft before it takes the source's place (package replace). Edits made after that
// belong to the new file. If the open file itself is no longer what it was, as another
// program wrote over it, nothing can be saved: the edits become a text. If the journal fails, edits are refused, but saving goes on
// without it, as the draft has all that it holds.
package session
