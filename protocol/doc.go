// Package protocol reads the definitions of TERA's packets, and with them turns
// packets into values or JSON and back.
//
// It follows the page "Network Protocol" of the TERA Arise wiki and the README of
// tera-data. Where they differ from the definitions that are in use, those count.
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
// Public definitions have three dialects: with the pointers listed (count and
// offset, or ref), with the pointers implied and moved to the front (hoisted), and with
// the pointers implied at the place of the field (inline). Each definition is of one:
//
//	lines of ref, count or offset                   listed
//	a field of fixed size behind a string, bytes
//	or an array of the same scope                   inline
//	anything else                                   hoisted
//
// The second is a guess, as tera-toolbox's writer has a meaning for it that its own reader
// does not share; see [Table.Guessed]. It is none where @include, T[n], a default or ^
// is in the definition, or in its folder, if that has more inline than hoisted ones. The third is not sure for
// definitions with all strings, bytes and arrays last, which are the same text in both
// dialects; see [Options].Inline. Lines of ref say it for a single one.
//
// A name that is there twice in a scope or object gets a number for the second time:
// a, a#2, a#3. If all are of objects, they are one object.
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
// The elements of interleaved arrays lie in turns: a[0] b[0] a[1] b[1].
// An empty array has the offset 0, empty bytes have that of what comes next.
// Where a packet has its data in another order, or bytes that belong to nothing, a
// [Layout] says so, and it can be written again byte for byte.
//
// A packet is checked before anything is made of it: no offset leads into the
// header or behind the end, each element says where it is, the last one has no
// next, and neither elements nor bytes are read more often than a packet can have
// them. So a packet whose pointers run in circles is an error, and no packet grows. One
// whose JSON would have more than 8 MiB of names, for a definition can make them long,
// is an error too. Objects without fields are left out.
//
// # Not supported
//
// Definitions that are scripts (.js). Fields of fixed size behind the data that
// stands before them in the definition, as tera-toolbox writes I_INPUT_COMMAND.1,
// and cannot read. Strings, bytes and arrays of which a definition that lists its
// pointers has none. The maps inside of tera-toolbox's data.json. Lists of padded packets
// for each client revision (padding.json): nobody has written down what they look like.
// Encryption.
package protocol
