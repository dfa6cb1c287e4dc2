// Package sample makes small made-up sources, so that everything can be tried without
// owning a game.
//
// The data center has about forty sheets, in the shapes of official ones: lists of many
// equal rows, maps in maps, text in two languages, text beside children, and several sheets
// of one name. The world geometry is of some of the zones and areas that it names. The
// recorded session has packets of a handful of definitions, in a folder laid out like
// public ones. The CASC storage is an install of a game, with a list of names and a key
// beside it. The client tables are of such a game, with definitions laid out like public ones.
//
// Begin with sample.go, which writes all of them. world.go lists the sheets of the data center, which sheets_items.go,
// sheets_life.go and sheets_places.go make in the words of words.go, and build.go makes a file of them. geometry.go,
// packets.go, storage.go and tables.go make the others.
package sample
