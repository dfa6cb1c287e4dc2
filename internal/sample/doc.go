// Package sample makes small made-up sources, so that everything can be tried without
// owning a game. What is in them is of a world that does not exist.
//
// The data center has about forty sheets, in the shapes that official ones have: lists
// of many equal rows, maps in maps, text in two languages, text beside children, and
// several sheets of one name. The world geometry is of some of the zones and areas that
// it names. The recorded session has packets of a handful of definitions, which lie in
// a folder laid out as public ones are. The CASC storage is an install of a game, with
// a list of names and a key beside it.
package sample
