// Package amend makes patches that change what a query finds: values are set, scaled, added to or
// replaced, attributes are removed, and nodes are added or removed.
//
// [Make] asks an [Operation] about each match, and returns a patch whose paths are the places of the
// matches in that file. It fits only the file that it was made for, see [patch.MakeDraft] for others. If
// the operation can't be done to one of the matches, there is no patch.
package amend
