// Package plan finds out which edits make of a sheet what a text says.
//
// [Make] reads the text once, beside the sheet as it is, and keeps of what is equal on both
// sides no more than where that is. Then it aligns what is left, siblings of one name at a
// time, and adds the edits: of values, of nodes that come and go, and of the order.
package plan
