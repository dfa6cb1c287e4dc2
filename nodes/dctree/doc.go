// Package dctree shows a data center as a [nodes.Tree]: every node is a
// directory, every attribute a file.
//
//	ItemData.3/Item.41/name     "sword\n"
//
// A directory holds the node's attributes first, then its children, both in the
// file's order. An attribute's file is its value as text and one newline. Of
// siblings with the same name the first has the plain name and the others are
// Name.1, Name.2 and so on; if an attribute and a child share a name, the
// attribute is @name. names.go says how names are spelled that a file system
// can't hold.
//
// An ID is the number of a logical node or attribute, counted in the order of a
// walk, over the address of the stored one (id.go). So nothing is remembered of
// what was looked up, and numbers are the same at every mount.
//
// An [Editable] is a tree that can be changed, over a [edit.Draft]. Files that
// begin with a dot or end in ~ are scratch, and so is a new file until what it holds
// is a value: they are kept in memory and are in no saved file. Package overlay says what
// becomes of those, and of an attribute whose file was renamed. How a value is read and which
// type it gets is said in value.go; what others edit, such as a sheet as a text, is shown by
// notice.go.
//
// Not supported: nothing of the format. A run of attributes that is broken makes
// its directory fail, with an error that says where; all else stays readable.
package dctree
