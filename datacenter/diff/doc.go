// Package diff finds out which nodes and attributes differ between two data centers. Their
// layouts, the order of their names and how they share equal parts do not matter.
//
// # What is compared with what
//
// The order of siblings counts only among those of one name, so the children of two nodes
// are compared name by name. Within a name, equal siblings at the start and at the end
// belong together. The rules of package identity match those in between: by keys; else by an
// attribute id; else equal ones, then those with equal values of attributes that distinguish
// them, and in the gaps between all these the first with the first.
//
// So an item whose key was edited is one item removed and another one added. A node without
// keys and without an id, however, is found after an edit.
//
// Nodes that belong together, but come in another order, have changed their order. Compare
// reports the fewest moves that explain it.
//
// # What it costs
//
// A part that nodes of the first file share is compared only once with a part that nodes of
// the second share, and equal parts are not visited again. So the time grows with the number
// of stored nodes and of differences. The memory is 8 bytes for each stored node and
// attribute of the first file, one byte for each character of its values, and the siblings
// on the path to the current node.
//
// Headers, the order of tables and how parts are shared are not compared.
package diff
