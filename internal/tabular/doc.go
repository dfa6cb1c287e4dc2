// Package tabular writes tables: rows of cells in columns that are known before the first row.
// It writes them in four formats, each for programs that read it without a script:
//
//	csv    as RFC 4180 has it: DuckDB, pandas, sqlite3, PostgreSQL, spreadsheets
//	tsv    a row a line: cut, awk, sort, join
//	jsonl  an object a line: jq, DuckDB, pandas
//	json   one list of such objects: what reads a document as a whole
//
// All of them are UTF-8 without a mark at the beginning, and lines end with LF on every system:
// a line break in a value would otherwise be no other than one between rows, and many readers
// change it.
//
// # Absent and empty
//
// A cell that has no value differs from an empty text. In CSV there is nothing between the
// commas, and "" for the empty text, which PostgreSQL and others tell apart. In JSON it is null.
// In TSV both are empty. So they are in a row of CSV with one column, because readers skip
// empty lines.
//
// # Texts
//
// Texts are WTF-8. JSON writes half of a surrogate pair as \ud800. The other formats have no
// spelling for it: U+FFFD stands there, and [Writer.Broken] counts such texts.
//
// CSV quotes what has a comma, a quote or a line break in it, and what begins or ends with a
// space, which some readers cut off. TSV writes tabs, line breaks and backslashes as \t, \n,
// \r and \\, as databases do.
//
// # Why not encoding/csv
//
// It writes an empty text like an absent one, and it takes a string for each cell, which would
// be allocated: a data center has 33 million. Its reader is the judge of the tests.
package tabular
