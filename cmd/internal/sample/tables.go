package sample

import (
	"fmt"

	"lorefs/casc/db2/db2test"
)

const (
	// tablesName is the folder of client tables, and tableDefinitionsName that of their definitions.
	tablesName           = "tables"
	tableDefinitionsName = "table-definitions"

	itemLayout   = 0x10A7E201
	placeLayout  = 0x10A7E202
	itemFile     = 1901
	placeFile    = 1902
	tableSchema  = "WOWSTATIC_10_2_5_52432"
	tableBuild   = "10.2.5.52432"
	sampleItems  = 100
	itemTable    = "Item"
	placeTable   = "Place"
	itemColumns  = "COLUMNS\nint ID\nlocstring Display_lang\nint Price\nint<Place::ID> FoundIn\nstring Grade // a word\n\n"
	itemVersion  = "LAYOUT %08X\nBUILD %s\n$noninline,id$ID<32>\nDisplay_lang\nPrice<32>\nFoundIn<32>\nGrade\n"
	placeColumns = "COLUMNS\nint ID\nlocstring Name_lang\nint Level\n\n"
	placeVersion = "LAYOUT %08X\nBUILD %s\n$noninline,id$ID<32>\nName_lang\nLevel<32>\n"
)

// tableFiles returns a folder of client tables, and one of definitions laid out like public ones.
func tableFiles() ([]file, error) {
	items, _ := itemRows().Bytes()
	rows, _ := placeRows().Bytes()
	in := tableDefinitionsName + "/definitions/"
	return []file{
		{tablesName + "/" + itemTable + ".db2", items},
		{tablesName + "/" + placeTable + ".db2", rows},
		{tableDefinitionsName + "/manifest.json", fmt.Appendf(nil, `[{"tableName":%q,"db2FileDataID":%d},{"tableName":%q,"db2FileDataID":%d}]`, itemTable, itemFile, placeTable, placeFile)},
		{in + itemTable + ".dbd", fmt.Appendf(nil, itemColumns+itemVersion, itemLayout, tableBuild)},
		{in + placeTable + ".dbd", fmt.Appendf(nil, placeColumns+placeVersion, placeLayout, tableBuild)},
	}, nil
}

// itemRows returns the table of items.
func itemRows() *db2test.Table {
	var rows []db2test.Row
	for i := range sampleItems {
		material, thing := itemWords(i)
		rows = append(rows, db2test.Row{ID: int32(1000 + i), Values: []any{
			fmt.Sprintf("%s of %s", thing, material), 10 + i*7%90, 1 + i%len(places), grades[i%len(grades)],
		}})
	}
	return &db2test.Table{Layout: itemLayout, Schema: tableSchema, Sections: []db2test.Section{{Rows: rows}}}
}

// placeRows returns the table of places.
func placeRows() *db2test.Table {
	var rows []db2test.Row
	for i, p := range places {
		rows = append(rows, db2test.Row{ID: int32(1 + i), Values: []any{p.String(), 1 + i*5}})
	}
	return &db2test.Table{Layout: placeLayout, Schema: tableSchema, Sections: []db2test.Section{{Rows: rows}}}
}
