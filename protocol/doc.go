// Package protocol reads the definitions of TERA's packets, and converts packets to values
// or JSON and back by them.
//
// [OpenLibrary] reads a folder of definitions, and [Parse] a single one. [Compile] makes a
// [Table] of a definition, which reads and writes packets.
//
// It follows the page "Network Protocol" of the TERA Arise wiki and the README of
// tera-data. Where they differ from the definitions in use, it follows the definitions.
//
// # Definitions
//
// A .def file has a field in each line:
//
//	# majorPatchVersion >= 86        the patches that the file is good for
//	int32 id
//	array items                      fields of the elements are below it
//	- uint32 slot
//	- - ...
//	object owner                     no bytes of its own, only a name
//	- string name
//	array<vec3>[interleaved] ends    elements are values; see below
//	byte[4] flags=0 ^86-114          4 bytes, there from patch 86 to before 114
//	@include S_CHAT.3.def            the lines of another file of the folder
//
// Public definitions have three dialects. Pointers are either listed (count and offset, or
// ref), or implied: then they stand first (hoisted) or at the place of their field
// (inline). The text of a definition shows its dialect:
//
//	lines of ref, count or offset                   listed
//	a field of fixed size behind a string, bytes
//	or an array of the same scope                   inline
//	anything else                                   hoisted
//
// The second rule is a guess, because tera-toolbox's writer accepts such fields though its
// own reader does not; see [Table.Guessed]. It is sure if the definition has @include,
// T[n], a default or ^, or if its folder has such definitions and more inline than hoisted
// ones. The third rule is not sure for definitions with all strings, bytes and arrays last,
// which are the same text in both dialects; see [Options].Inline. Lines of ref settle it
// for one definition.
//
// A name that occurs twice in a scope or object gets a number for the second time: a, a#2,
// a#3. If all of them are objects, they are one object.
//
// # Packets
//
// All is little endian, and each offset counts from the start of the packet.
//
//	+--------+------+-----------+------------------+----------------------+
//	| length | code | [padding] | pointers, values | data of the pointers |
//	|  u16   | u16  |  8 bytes  |   fixed size     | in the order of lines|
//	+--------+------+-----------+------------------+----------------------+
//
//	string  offset u16               UTF-16LE, NUL
//	bytes   offset u16, count u16    count bytes
//	array   count u16, offset u16    elements, each linked to the next
//
//	element:
//	+------+------+------------------+----------------------+
//	| here | next | pointers, values | data of the pointers |
//	| u16  | u16  |   fixed size     |                      |
//	+------+------+------------------+----------------------+
//
// The elements of interleaved arrays alternate: a[0] b[0] a[1] b[1]. An empty array has the
// offset 0, empty bytes have the offset of what comes next. If a packet has its data in
// another order, or bytes that belong to no field, a [Layout] says so, and the packet can
// be written again byte for byte.
//
// A packet is checked before anything is made of it: no offset leads into the header or
// behind the end, each element states its own offset, the last one has no next, and neither
// elements nor bytes are read more often than a packet can have them. So a packet whose
// pointers form a circle is an error, and memory is bounded. Since a definition can have
// long names, a packet whose JSON would have more than 8 MiB of names is an error too.
// Objects without fields are left out.
//
// # Not supported
//
// Definitions that are scripts (.js). Fields of fixed size whose bytes lie behind the data
// of the fields before them, as tera-toolbox writes I_INPUT_COMMAND.1 but cannot read it.
// Strings, bytes and arrays without a pointer in a definition that lists pointers. The maps
// inside of tera-toolbox's data.json. Lists of padded packets for each client revision
// (padding.json), whose form is documented nowhere. Encryption.
package protocol
