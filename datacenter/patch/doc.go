// Package patch makes and applies patches of data centers: texts that people read, review
// and keep beside their mods, and that fit the next version of the game's data center.
//
//	patch  = "lorefs-patch 1" NL { NAME ":" text NL } { block | "#" text NL | "!" text NL | NL }
//	block  = "@ " PATH NL { guard } { ("-"|"+") (NAME | "%keys" | "%flags") " " VALUE NL }
//	       | "@+ " PATH [ (" after "|" before ") STEP ] NL { guard } { "+" XML-LINE NL }
//	       | "@- " PATH [ (" after "|" before ") STEP ] NL { guard } { "-" XML-LINE NL }
//	guard  = "? " STEP " " n "/" m [ ">" n "/" m ] 5*( " " HEX12 | " -" ) NL
//	VALUE  = "int " DEC | "float " FLOAT | "bool " ("true"|"false") | "string " JSON-STRING
//	       | "keys" { " " NAME } | "flags " DEC
//
// Lines may end in CR LF, and a byte order mark may be in front. Lines with # are comments;
// those with ! say why a block was rejected, and mean nothing.
//
// # Blocks
//
// A PATH is one that package query calls plain: names, [@attribute=value and …], and places.
// It leads to one node, over all the sheets that its first step finds; only the parent in
// "@+" may be several sheets that nothing tells apart. "/" is the root. Package identity
// chooses the paths. STEP is a sibling, as a step behind the path of the parent, that tells
// where among the siblings of its name the node is: those at one place are in the order of
// the patch, and this is the only order in a patch that means anything. NAME is spelled as in
// a query; __value__ is a node's text.
//
// A pair of lines with - and + changes an attribute, one alone removes or adds it. The XML is
// that of a sheet with dc:keys and dc:types as far as the text does not infer the type. A
// node that only moved is removed and added.
//
// # Guards
//
// There is a guard for each place [n] of a path, and then of STEP. It has the step without
// its place; the place and how many nodes there are, before and after the patch, 0 where the
// node is not there; and hashes of all these nodes before and after, of the node, and of
// those beside it before the patch. One "*" behind the node's hash says that another node
// held the same, though not between the same neighbours; two, that nothing but the place
// tells it. If all the nodes are as before or after the patch, the place is good; else the
// hashes of the node and of its neighbours have to fit one node, as far as the stars allow,
// and one neighbour at least has to be beside it still. In a patch that was made without the
// file ([Guarded]) the hashes after the patch are missing: such a place is only good if all
// nodes are as before.
//
// An added node that neither keys nor an id tell from its siblings has one more guard, of
// these: so it is known whether it is there.
//
// # How it is applied
//
// All paths are followed before anything changes. Each pair of lines is judged by itself: an
// attribute that is as before the patch is set, one that is as after it is left, and any
// other is a conflict. A node is removed if it is equal to what the patch says, gone is
// removed already, and anything else a conflict. A node is added unless one of the same keys
// or id is there: that is no conflict only if it is equal. Without keys and id, one that is
// equal is the node, unless its guard says that all its siblings are as before. Applying a
// patch again changes nothing.
//
// A node is added behind or before the sibling that is named, else where its keys want it,
// else at the end. Of sheets that nothing tells apart it goes into the one that has the
// sibling; if none has it, that is a conflict.
//
// # What is made
//
// [Make] goes by what package diff tells of two files, [MakeDraft] by the numbers of a
// draft, and for nodes that it made by package identity as well: what was set and set back
// is no change. A sheet of which more than half is another one is removed and added. Each
// path finds its node alone in the old file, and in the new one: where a step would not, it
// asks for a place.
//
// # What is not supported
//
// Names with line breaks can't stand in a patch, and a node with more than a million others
// and attributes below it is not added or removed by one. Where two nodes exchange their
// keys, applying the patch of a draft twice exchanges them twice. A node that nothing but some
// attributes tell from its siblings has no guard: where another version gives these values to
// another node and keeps the changed value too, that one is changed.
package patch
