// Package sheets is the XML view of a data center: each child of the root, a
// sheet, as one XML file, and a schema for each name of sheets, as novadrop-dc
// unpacks and packs them.
//
//	DataCenter.xsd                  what all schemas refer to
//	ItemData/ItemData.xsd           the schema of all sheets of that name
//	ItemData/ItemData-00003.xml     a sheet; the number is its place among those of its name
//
// A sheet is UTF-8 without declaration, indented by 4 spaces, with LF and one at
// its end:
//
//	<S xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://vezel.dev/novadrop/dc/S S.xsd" ATTRIBUTES xmlns="https://vezel.dev/novadrop/dc/S">
//	    <Empty a="1" />
//	    <Text>the __value__ of a node without children</Text>
//	</S>
//
// Attributes are in the file's order; children are sorted by name, by UTF-16
// unit, and are in the file's order within a name. In attributes & < > " newline,
// tab and CR are written as references, in text & < > and CR.
//
// Types and keys are in the schema only: one type for each path, that is for the
// names from the sheet down to a node. An attribute has the type that it has where
// it is met first, a path the first key definition that is not empty.
//
// # What novadrop loses
//
// What XML as above cannot say is said by attributes of the namespace
// urn:lorefs:dc, with the prefix dc. It is declared on the root element, directly
// before xmlns, and only in a sheet that needs it: a plain sheet has the bytes that
// novadrop-dc writes. The attributes stand behind those of the data, in this order:
//
//	dc:names="escaped"  on the root element: see names below
//	dc:value="…"        the __value__ of a node that has children, or one that is
//	                    empty or white space only
//	dc:flags="1"        the key flags, in decimal, if they are not 0
//	dc:keys="a b"       the key definition, if it is not the schema's for the path;
//	                    it may be empty
//	dc:types="a:int b:string"
//	                    the types of those attributes whose type is not the schema's
//	                    for the path: int, float, string, bool
//	dc:escaped="a __value__"
//	                    attributes whose values are escaped: see values below
//
// In the attributes that list names, names are spelled as in the rest of the sheet,
// __value__ stands for the text, and there is one space between items.
//
// Names. If a name in a sheet, of an element, an attribute or in dc:keys, is none
// that XML allows without prefix (an NCName of XML 1.0, fifth edition), then the root
// has dc:names="escaped" and all names in the sheet are escaped: _xHHHH_ stands for
// a UTF-16 unit, in four upper case hex digits, as in .NET's XmlConvert.EncodeName.
// Escaped are the units that may not stand where they stand, the "x" that begins
// an attribute's or element's name "xmlns", and the "_" that begins what looks like
// an escape already ("_x", four hex digits in any case and "_"). Such names, too,
// count as none that XML allows. The empty name is _x_; a name that is _x_ is
// _x005F_x_. __value__ is never escaped where it stands for the text. In a schema
// the same holds, with lorefs:names="escaped" on xsd:schema, where the prefix dc is
// novadrop's. Namespaces and schemaLocation hold the name of a sheet as spelled.
//
// Values. If XML 1.0 cannot hold a value (control characters but tab, newline and
// CR; U+FFFE, U+FFFF; surrogates without partner), then dc:escaped names it, and in
// it \uHHHH stands for each such unit, in four upper case hex digits, and \\ for
// each backslash. That of dc:value is named __value__ as well.
//
// A reader of sheets takes, where dc:types and dc:keys say nothing, types and keys
// from the schema.
//
// What sheets do not hold: the file's header, key flags and keys of the root node,
// the order of children that have different names, the order of names, placeholders.
//
// # Packages
//
// This package writes: sheets as texts of which any part can be read, and the schemas
// that it infers; package jsonsheet writes them as JSON. How a text is made, how long it
// is and what the schema says of it are found out in one pass and know each other's
// insides, so they are one package. Package xsd has the schemas themselves, reads and
// writes them.
// Package xmlsheet reads sheets, on package xmltext, which reads XML and has the errors
// of both; package pack makes data centers of them, or validates them, and package plan
// finds the edits that make a sheet equal to a text. What these have in common is internal:
// how names and values are spelled, types inferred, and names numbered.
//
// A [Family]'s schema is inferred as novadrop does: an attribute is required if all nodes
// of the path have it, a child likewise; a child may be repeated if a node has it more
// than once. [Aggressive] inference takes a child called like its parent for the
// same type: such types are recursive. A sheet name with more than 65,536 paths has
// further ones in common by the last name.
//
// # How it is read
//
// A [Source] is a file, or a draft of it. Each [Family] of sheets finds out, once and
// when it is first asked, what the schema is, how long each sheet is, and which of them
// need the namespace above. It looks at each stored run of children once for each path,
// not at each node, and keeps the sizes of those that are long: so [Source.ReadAt] can
// begin anywhere in a sheet. What was found can be kept between runs, by
// [Options.Index].
package sheets
