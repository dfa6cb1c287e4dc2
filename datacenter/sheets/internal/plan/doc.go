// Package plan computes the edits that make a sheet equal to a text.
//
// [Make] parses the text once and compares it with the sheet. For parts that are equal it
// only keeps their place. Then it matches the rest, siblings of one name at a time, and adds
// edits of values, of nodes that were added or removed, and of the order.
package plan
