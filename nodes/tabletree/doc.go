// Package tabletree shows client tables of World of Warcraft as text in a [nodes.Tree]:
//
//	tables/Map.csv      a row a line, below a line with the names of columns
//	tables/Map.jsonl    each row as a JSON object
//	tables.json         what is known of each table, and what is left out of it
//
// Package casc/db2 reads tables, and casc/db2/dbd the definitions that name their columns. A table
// without a definition has columns with numbers for names.
//
// # Sizes
//
// A listing decodes nothing and leaves sizes out. Whoever asks for one has all rows written once, and
// from then on it is also known where each 64th line begins. A few tables stay in memory as they are
// in their files; a read writes the rows that it wants. Sizes are kept between runs, by what a file is
// made from: the content of the table, its definition, the build, the language, and the keys that are
// known.
//
// # What is not shown
//
// Rows of sections whose key is missing are left out; tables.json counts them. A table that can't be
// read is listed, and has an error in tables.json.
//
// Beside puts the tables beside another tree, such as that of the storage that they are from.
//
// Diff compares the tables of two trees by rows.
//
// tabletree.go is the tree, open.go opens tables, lines.go has the files of rows, and list.go has
// tables.json. kept.go keeps sizes, beside.go joins two trees, and diff.go compares them.
package tabletree
