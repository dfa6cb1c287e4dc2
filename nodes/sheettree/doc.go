// Package sheettree shows the sheets of a data center as a [nodes.Tree]:
//
//	DataCenter.xsd                  the types that all schemas use
//	ItemData/ItemData.xsd           a schema, inferred from the data
//	ItemData/ItemData-00003.xml     a sheet
//
// Package datacenter/sheets describes their contents. Directories are in the order of their
// first sheets in the data center, and the sheets of a directory are in the data center's order,
// too. The number in a file name is the position of the sheet among those of its name. In a
// draft it is the ordinal, so removed sheets leave gaps. Names that a file system can't hold are
// spelled as in package dctree.
//
// The tree of a [edit.Draft] shows edits at once: the content, size and time of a sheet. A
// schema only grows during a session: it keeps what was removed from the data until the file is
// opened anew.
//
// # IDs
//
// The ID of a sheet contains its Number, which the [edit.Draft] uses as well, so an edit of a
// sheet leads to its node. The ID of a directory contains the index of the name. A name that the
// file does not have gets a number that is valid as long as the tree.
//
// # Editing
//
// An [Editable] accepts texts. When a text is closed, it is compared with the sheet of the
// draft, and the edits that make the difference (sheets.Source.Plan) are applied: all at once,
// or none. Then the file shows the sheet as this program spells it. Comments are not stored, nor
// is another spelling of a number; Notices says so. Package overlay describes what happens to a
// text that is not a sheet, and to the other files of editors. folder.go decides by the name
// what is a sheet, a schema, or scratch. A schema that somebody writes is kept in memory, and no
// saved file has it.
//
// Others edit the same draft, such as package dctree. The draft lets nobody else edit between a
// plan and its edits. It says of each edit who made it, so that caches of sheets can be dropped.
// Locks are taken in this order: those of the overlay, those of the draft, edits.mu.
//
// These are refused: a text above EditOptions.Limits.Text, a text that changes more than
// EditOptions.MaxRecord at once, and the renaming of a folder that has sheets.
//
// # Sizes
//
// Sizes are exact. So the first listing of a directory measures its sheets, unless the sizes
// were kept from an earlier session. An export has no use for sizes before it has read all files:
// see Options.SizesLater.
package sheettree
