// Package casctest builds small storages of every kind of root, with all kinds of files,
// and knows what they contain.
//
// To be read in this order: casctest.go, for a game of any form, and usual.go, for what is in it;
// large.go, for one with many files; synthetic.go, for storages that others wrote; fixture.go and
// idx.go, for small helpers.
package casctest
