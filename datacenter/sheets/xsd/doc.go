// Package xsd has the schemas of sheets: what nodes of one path have in common, written as
// XML Schema and read again.
//
// A [Schema] is a tree of [ElementType], one for each path, written as one xsd:complexType
// named Sheet_Child_Grandchild. If two paths have the same name, the later one gets _2, _3
// and so on. xsd:anyAttribute allows attributes of the namespace urn:lorefs:dc. If XML does
// not allow some name, all are escaped as in sheets, and xsd:schema has
// lorefs:names="escaped", where the prefix dc is novadrop's.
//
// xsd:float has no Infinity, but INF: a sheet with one is written as novadrop does, and is
// not valid.
//
// [Read] accepts what novadrop-dc has and writes: one element, the sheet, with named or
// inline complex types, sequences of elements, and attributes that are int, float, string
// or boolean. Anything else that could change the meaning is an error.
package xsd
