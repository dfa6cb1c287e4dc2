// Package identity tells nodes from their siblings, by what they hold.
//
// It knows nodes by a small interface, [Tree], so that those of a file, of a draft and of
// a sheet that was just read are all told apart by the same rules:
//
//   - [Match]: which siblings of one tree are those of another one (match.go)
//   - [Paths]: an expression for package query that finds a node alone (path.go), by what
//     tells it from its siblings (group.go)
//   - [Contents]: a hash of all that a node holds (content.go)
//
// # What tells a node from its siblings
//
// Siblings are the children of one name that a node has. Each of these is tried where the
// one before it does not tell them apart:
//
//   - the values of their keys
//   - an attribute id
//   - up to three other attributes: of those whose names end in Id first, then index, key
//     and name, then others; see rankOf
//   - their place
//
// Of 9.9 million nodes of a real data center all but 3 % are told apart before it comes
// to their place.
//
// A path names what it goes by, so a group of siblings goes by one of these for each node:
// the first set of attributes that no other has. A match can't: it takes all keys or all
// ids, and attributes only where their names say what they are for, as a value that was
// edited would else make another node of one.
package identity
