// Package dctree shows a data center as a [nodes.Tree]: every node is a directory, every
// attribute a file.
//
//	ItemData.3/Item.41/name     "sword\n"
//
// A directory lists the node's attributes first, then its children, both in the file's order.
// The file of an attribute has the value as text and one newline. Of siblings with the same
// name the first has the plain name, and the others are Name.1, Name.2 and so on. If an
// attribute and a child have the same name, the attribute is @name. names.go spells the names
// that a file system can't hold.
//
// An ID is the number of a logical node or attribute, counted in the order of a walk, and the
// address of the stored one (id.go). So the tree doesn't have to remember lookups, and IDs are
// the same at every mount.
//
// An [Editable] is a tree that can be changed, over a [edit.Draft]. Files whose names begin
// with a dot or end in ~ are scratch, and so is a new file until its content is a value. They are
// kept in memory, and no saved file has them. Package overlay describes what happens to them,
// and to an attribute whose file was renamed. value.go says how a value is read and which type it
// gets. notice.go reports the edits of others, such as a sheet as a text.
//
// The tree shows everything that the format has. A broken run of attributes makes its directory
// fail, with an error that says where it is; everything else stays readable.
package dctree
