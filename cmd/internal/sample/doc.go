// Package sample makes small made-up sources, so that everything can be tried without
// owning a game.
//
// The data center has about forty sheets, in the shapes of official ones: lists of many
// equal rows, maps in maps, text in two languages, text beside children, and several sheets
// of one name. The world geometry is of some of the zones and areas that it names. The
// recorded session has packets of a handful of definitions, in a folder laid out like
// public ones. The CASC storage is an install of a game, with a list of names and a key
// beside it.
package sample
