// Package kinds is what commands need of a source, of whatever kind: it is opened as a tree, described,
// checked, and made editable. How users name a source and what they read about it is up to the
// caller: options are values, and errors have types. Read in this order:
//
//   - kinds.go and open.go: a [Kind] recognizes and opens sources; an open one is a [Source], over the
//     [Archive] that its kind has made; abilities.go has what only some can do
//   - options.go, errors.go: what goes in, and what goes wrong
//   - find.go, glob.go, missing.go: entries by paths, patterns and queries
//   - session.go: a [Session] edits a source; tree_session.go is that of sources whose edits have a path
//   - edits.go, journals.go, journal_edits.go: lists of edits, of a mount or of a journal
//   - leftout.go, keep.go: texts that were refused, and where they are kept
//   - remote.go, fetched.go: sources on servers
//   - verify.go, store.go, sparing.go: checks, indexes, memory
//
// Each kind has a room of its own below, which imports this package:
//
//   - dckind: a TERA data center, with the folder of world geometry that it names
//   - worldkind: a folder of TERA's world geometry
//   - casckind: a CASC storage of a game, of a mirror, or on the hosts of a CDN
//   - packetkind: a recorded session, or a folder of packet definitions
//   - tablekind: client tables of World of Warcraft, a folder of them or one
//   - bundlekind: a file that holds other files, of any format that package bundle can be given
//
// Package registry, above them, lists the kinds and finds that of a source.
package kinds
