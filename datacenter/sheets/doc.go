// Package sheets is the XML view of a data center: each sheet, which is a child of the root,
// as an XML file, and a schema for each name of sheets, as novadrop-dc unpacks and packs
// them.
//
// [New] takes a file. [Source.WriteSheet] and [Source.ReadAt] read the text of a sheet, and
// [Source.Plan] finds the edits that make a sheet equal to a text.
//
//	DataCenter.xsd                  the types that all schemas use
//	ItemData/ItemData.xsd           the schema of all sheets of that name
//	ItemData/ItemData-00003.xml     a sheet; the number is its place among those of its name
//
// A sheet is UTF-8 without declaration, indented by 4 spaces, with LF line endings and one
// LF at its end:
//
//	<S xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://vezel.dev/novadrop/dc/S S.xsd" ATTRIBUTES xmlns="https://vezel.dev/novadrop/dc/S">
//	    <Empty a="1" />
//	    <Text>the __value__ of a node without children</Text>
//	</S>
//
// Attributes are in the file's order. Children are sorted by name, by UTF-16 unit; children
// of one name are in the file's order. In attributes & < > " newline, tab and CR are written
// as references, in text & < > and CR.
//
// Types and keys are only in the schema. It has one type for each path, that is for the
// names from the sheet down to a node. An attribute has the type of its first occurrence on
// the path, and a path has the first key definition on it that is not empty.
//
// # What novadrop loses
//
// The XML above can't express everything. Attributes of the namespace urn:lorefs:dc, with
// the prefix dc, say the rest. It is declared on the root element, directly before xmlns,
// and only if the sheet needs it: other sheets have the same bytes as those of novadrop-dc.
// These attributes follow those of the data, in this order:
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
// Attributes that list names spell them as the rest of the sheet does. __value__ stands for
// the text, and one space separates items.
//
// Names. XML allows a name without prefix only if it is an NCName (XML 1.0, fifth edition).
// If a sheet has any other name, of an element, an attribute or in dc:keys, then its root
// has dc:names="escaped" and all names in the sheet are escaped: _xHHHH_ stands for a UTF-16
// unit, in four upper case hex digits, as in .NET's XmlConvert.EncodeName. These are
// escaped: units that are not allowed at their place, the "x" of a name "xmlns" of an
// attribute or element, and the "_" of what would look like an escape ("_x", four hex digits
// in any case and "_"). Such names make a sheet escaped as well. The empty name is _x_, and
// a name that is _x_ becomes _x005F_x_. __value__ is never escaped where it stands for the
// text. The same holds for a schema, with lorefs:names="escaped" on xsd:schema, where the
// prefix dc is novadrop's. Namespaces and schemaLocation have the name of the sheet as
// spelled.
//
// Values. XML 1.0 can't hold control characters except tab, newline and CR; U+FFFE and
// U+FFFF; and unpaired surrogates. If a value has such units, dc:escaped names its
// attribute. In the value, \uHHHH stands for each such unit, in four upper case hex digits,
// and \\ for each backslash. The name for dc:value is __value__, too.
//
// If dc:types or dc:keys say nothing, a reader of sheets takes types and keys from the
// schema.
//
// Sheets do not hold the file's header, key flags and keys of the root node, the order of
// children with different names, the order of names, and placeholders.
//
// # Packages
//
// This package writes sheets, as texts of which any part can be read, and the schemas that
// it infers. One pass computes the text of a sheet, its size and its schema, so these are
// one package. Package xsd has the schemas themselves, and reads and writes them. Package
// pack makes data centers of sheets, or validates them.
//
// Internal packages have the rest: xmlsheet parses sheets by xmltext, which parses XML and
// has the errors of both; plan finds the edits that make a sheet equal to a text; jsonsheet
// writes JSON; and others have what these share.
//
// The schema of a [Family] is inferred as novadrop does it. An attribute or a child is
// required if all nodes of the path have it. A child may be repeated if a node has it more
// than once. With [Aggressive] inference, a child with the name of its parent has the
// parent's type, which makes types recursive. If sheets of one name have more than 65,536
// paths, further paths with the same last name share a type.
//
// # How it is read
//
// A [Source] is a file, or a draft of it. On first use, each [Family] of sheets computes its
// schema, the size of each sheet, and which sheets need the namespace above. It visits each
// stored run of children once for each path, not each node. [Options.Index] can keep these
// results between runs. Whoever writes all sheets to a [Restarter] need not wait for their sizes:
// then a family computes only its schema before, in less time, and the sizes while it is written.
package sheets
