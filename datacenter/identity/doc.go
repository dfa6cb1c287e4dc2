// Package identity tells nodes from their siblings, by what they hold.
//
// It knows nodes by a small interface, [Tree], so that those of a file, of a draft and of
// a sheet that was just read are all told apart by the same rules:
//
//   - [Match]: which siblings of one tree are those of another one (match.go)
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
package identity
