// Package xsd is the schemas of sheets: what nodes of one path have in common, and how
// that is written as XML Schema and read again.
//
// A [Schema] is a tree of [ElementType], one for each path, written as one
// xsd:complexType called Sheet_Child_Grandchild; if two paths would give one name,
// the later one gets _2, _3 and so on. xsd:anyAttribute lets attributes of the namespace
// urn:lorefs:dc pass. If a name is none that XML allows, all are escaped as in sheets, and
// xsd:schema has lorefs:names="escaped", where the prefix dc is novadrop's.
//
// xsd:float knows no Infinity, but INF: a sheet that holds one is written as
// novadrop does, and is not valid.
//
// [Read] takes what novadrop-dc has and writes: one element, the sheet, with complex types
// by name or in place, sequences of elements, and attributes that are int, float, string
// or boolean. Whatever else could change the meaning is an error.
package xsd
