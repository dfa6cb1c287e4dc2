// Package sheettree shows the sheets of a data center as a [nodes.Tree]:
//
//	DataCenter.xsd                  what all schemas refer to
//	ItemData/ItemData.xsd           a schema, inferred from the data
//	ItemData/ItemData-00003.xml     a sheet
//
// Package datacenter/sheets says what is in them. Directories are in the order in
// which the data center has their first sheet, sheets in its order, too. A number in a
// name is a sheet's place among those of its name; in a draft it is the ordinal,
// so that there are gaps where sheets were removed. Names that a file system can't
// hold are spelled as in package dctree.
//
// Over a [edit.Draft] the tree shows edits at once: what a sheet holds, its
// size and its time. A schema only grows during a session: what was removed from
// the data is in it until the file is opened anew.
//
// # IDs
//
// A sheet's ID is made of its Number, which is a [edit.Draft]'s, too: that is
// how an edit of a sheet finds the node. That of a directory is
// made of the index of the name; a name that the file does not have gets a number
// for as long as the tree lives.
//
// # Editing
//
// An [Editable] takes texts. One that is closed is compared with the sheet of the draft,
// and applied as the edits that make the difference (sheets.Source.Plan): all at once,
// or none. Then the file shows how the sheet is spelled; comments are not stored, nor is
// another spelling of a number, and Notices tells so. Package overlay says what becomes of a
// text that is no sheet, and of all that editors do beside; folder.go says what is a sheet
// by its name, a schema, or scratch. A schema that was written is kept in memory, and is in no
// saved file.
//
// Others edit the same draft, such as package dctree. It lets nobody edit between a plan and
// its edits, and tells of each edit by whom it was, so that caches of sheets are dropped.
// Locks are taken in this order: those of the overlay, those of the draft, edits.mu.
//
// Not possible are a text above EditOptions.MaxText, one that changes more than
// EditOptions.MaxRecord at once, and the renaming of a folder that has sheets.
//
// # Sizes
//
// Sizes are exact, and so the first listing of a directory measures its sheets,
// unless that was kept from the last time.
package sheettree
