// Package table makes tables of a data center, for programs that know tables and no trees: one
// for each path, such as ItemData/Item, with a row for each node.
//
// # Columns
//
// A row begins with what says where it is:
//
//	_row       its number in the table, from 0 on, in the order of the file
//	_parent    the number of its parent, in the table of the path above
//	_sheet     the number of its sheet, which is that in the name of the sheet's file
//	_Item_id   for each node above it, from the sheet down, the attributes by which clients
//	           look that node up or, if it has no such keys, its id
//
// A table of sheets has only the first. Then come all attributes that nodes of the path have,
// in the order of the file's names, and __value__, the text of a node. That order is the same
// for all tables of a file. Attributes keep their names; if one is called like a column of
// ours, in whatever case, ours gets another underscore.
//
// Values are spelled as a mount spells them. In JSON, floats have a point or an exponent, and
// ints don't.
//
// # Implementation
//
// [Find] walks the tree once to learn which tables and columns there are: each stored run of
// children once for each path that leads to it. [Table.Write] walks the nodes of its path alone,
// counts those of each level, and keeps none of them. So a table needs memory for one row, and
// rows are numbered the same in whichever order tables are written.
package table
