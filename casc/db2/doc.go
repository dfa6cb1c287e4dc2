// Package db2 reads client tables of World of Warcraft: files that end in .dbc and .db2, which hold
// items, spells, maps and all else that the game looks up by a number.
//
// [Parse] reads what a table says of itself and where its parts are. [Table.View] gives its rows,
// with the names and types of a definition, which package casc/db2/dbd reads. Without a definition
// the fields have numbers for names, and strings are the numbers that lead to them.
//
// It follows "../shared/facts/client-tables.md", which says for each fact who found it. All numbers
// are little-endian. Each format has fixed numbers in front, and then:
//
//	WDBC            records, strings
//	WDB2            index and lengths for each ID from the least to the greatest, records, strings
//	WDB3, WDB4      records, strings or offset map, IDs, copies
//	WDB5, WDB6      fields, records, strings or offset map, foreign IDs, IDs, copies, common values
//	WDC1            fields, records, strings or offset map, IDs, copies, packing of fields, pallets,
//	                common values, foreign IDs
//	WDC2 to WDC5    heads of sections, fields, packing of fields, pallets, common values, IDs of
//	                encrypted rows, sections
//
// A section has its own records, strings, IDs, copies, foreign IDs and offset map. It is encrypted if
// its head names a key; who lacks the key has zeros in its place. Its rows are left out then, but
// they count where a string is looked for.
//
// A record lies in bits. What the packing says of a field is where it begins, and how its value is
// found:
//
//	none            as it is
//	bits            as it is, in as many bits as the largest value needs
//	signed bits     the same for numbers below 0
//	common          in a list of IDs and values; who isn't listed has the standard value
//	pallet          an index into the values of the field
//	pallet array    an index into its groups of values
//
// A string is an offset: into the strings up to WDC1, and from the field itself later. There, one
// string may lie in the block of another section. Blocks follow one another behind all records, those
// of encrypted sections included.
//
// A table with an offset map is sparse: its records have different sizes, and strings lie within them.
//
// A copy is the ID of a row that is like another one but for the ID, and for common values, which are
// those of its own ID. Whoever reads foreign IDs of a definition gets them as numbers with a sign.
//
// Up to WDB4 only the definition says where a field begins. There, the size of a record tells whether
// a string of many languages has one place, or 8 or 16 of them and a number.
//
// # Not supported
//
// Sparse tables of WDB3, which can't be told from others; the one internal table of WDC3 whose IDs
// precede its records; hotfixes, which a game gets while it runs. Nothing is written.
//
// # To be read in this order
//
// table.go has what a table is, and head.go, fields.go, packing.go and sections.go read it.
// columns.go joins it with a definition, rows.go lists its rows, and cell.go reads a value.
package db2
