// Package dbd reads definitions of client tables: the .dbd files and the manifest of WoWDBDefs
// (github.com/wowdev/WoWDBDefs), which give the columns of each table names and types.
//
// It follows "../shared/facts/client-tables.md", section 8. A definition is blocks of lines with an
// empty line between them. The first block has the columns of all versions of the table, each other
// one a version:
//
//	COLUMNS
//	int<Map::ID> MapID? // the column of another table, "?" if unsure, a comment
//	locstring Name_lang
//
//	LAYOUT 0A0B0C0D, 11223344
//	BUILD 9.1.0.12345, 9.1.0.12350
//	BUILD 9.0.1.10000-9.0.5.12000
//	COMMENT text
//	$noninline,id$ID<32>
//	Name_lang
//	MapID<u16>[4]
//
// The columns of a version are in the order of the file. noninline columns are in no record. A layout
// is a hash that the table has too. A range has a build if its first two numbers and its last one are
// each between those of the ends; the third isn't looked at.
//
// A folder has files NAME.dbd, or has them in the folder definitions, and manifest.json beside that.
package dbd
