// Package diff tells which nodes and attributes differ between two data centers,
// whatever their layouts and however they number their names and share what is
// equal.
//
// # What is compared with what
//
// The order of siblings means something only among those of one name: so the
// children of two nodes are compared name by name. Within a name, equal ones at
// the start and at the end belong together. Those between are told apart by the
// rules of package identity: by keys; else by an attribute id; else equal ones
// belong together, those with the same attributes that tell them apart, and in the
// gaps that all these leave the first with the first.
//
// So an item whose key was edited is one item removed and another added, while of
// nodes without keys and without an id an edited one is found.
//
// Nodes that belong together, and that were passed by others which do too, changed
// their order: as few are said to have moved as can be.
//
// # How much it takes
//
// What two nodes of the first file share is compared once with what two of the
// second do, and what is found to be equal is not looked at again: the work grows
// with the stored nodes and with the differences. It takes 8 bytes for each stored
// node and attribute of the first file and one for each character of its values,
// and the siblings of the nodes above.
//
// Headers, the tables' order, and how things are shared are not compared.
package diff
