// Package bundle shows a file that holds other files as a folder of them: a [nodes.Tree], and an
// editable one on package overlay. It knows no format. A [Format] says how such a file is read and
// written; everything else that a source can be used for comes from here and from the packages
// that use this one.
//
//	a.png       the files that the source holds, as they are
//	b.png
//
// There are no folders in the folder. Files are listed in the order in which the source holds
// them, and their numbers are their places there. New ones come behind the others, and a file that
// was removed gets its place back.
//
// # Edits
//
// Any name that the Format permits is a name of a file of the source, except those that editors
// give to files of their own ([overlay.IsScratch]). An edit puts a file, removes it, renames it or
// exchanges two. The contents of files that were put are held in memory until they are saved.
// Whether something is edited is a question of what differs, name by name: a file that is put with
// the bytes that it had before is no edit.
//
// A record of an edit is a list of operations, of which all happen or none:
//
//	'P' length name length content     put
//	'R' length name                    remove
//	'M' length name length name        rename, and replace what has the second name
//	'X' length name length name        exchange
//	'B' length name                    give back what the source holds by the name
//
// Lengths are unsigned varints. Records name files by what they are called at the moment, so they
// can be made again on the saved file as well, if they were made while it was saved. A 'B' can't,
// and is not written then: 'P' is.
//
// # Limits
//
// A record has to fit the journal, so a file that is put has up to 56 MiB ([MaxText]).
package bundle
