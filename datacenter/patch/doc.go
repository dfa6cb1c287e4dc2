// Package patch makes and applies patches of data centers. A patch is a text that people read,
// review and keep beside their mods, and that can be applied to the next version of the game's
// data center. The format is the project's own.
//
// [Make] makes the patch of two files. [Parse] reads one, and an [Applier] finds the edits that
// it stands for.
//
//	patch  = "lorefs-patch 1" NL { NAME ":" text NL } { block | "#" text NL | "!" text NL | NL }
//	block  = "@ " PATH NL { guard } { ("-"|"+") (NAME | "%keys" | "%flags") " " VALUE NL }
//	       | "@+ " PATH [ (" after "|" before ") STEP ] NL { guard } { "+" XML-LINE NL }
//	       | "@- " PATH [ (" after "|" before ") STEP ] NL { guard } ( { "-" XML-LINE NL } | "-%hash " NAME " " HEX12 " " DEC NL )
//	guard  = "? " STEP " " n "/" m [ ">" n "/" m ] 5*( " " HEX12 | " -" ) NL
//	       | "? " STEP 3*( " " HEX12 | " -" ) [ " >" 3*( " " HEX12 | " -" ) ] NL
//	VALUE  = "int " DEC | "float " FLOAT | "bool " ("true"|"false") | "string " JSON-STRING
//	       | "keys" { " " NAME } | "flags " DEC
//
// Lines may end in CR LF, and the text may begin with a byte order mark. A line with # is a
// comment. A line with ! says why a block was rejected; a reader skips it.
//
// # A patch that was cut off
//
// A patch without a line end behind its last line was cut off, and is an error. What a patch begins
// with promises its last line: "end: # end". A patch with that field and without the line "# end" is
// an error too, so nothing of what lorefs has written is taken for a whole patch if its end is
// missing. What remains undetected is a patch that was cut off behind its very first line, which
// changes nothing, and a patch written by hand without the field, if whole lines at its end are
// missing: a "-" line whose "+" line is missing then removes the attribute.
//
// # Blocks
//
// A PATH is a plain query (see package query): names, [@attribute=value and …], and places [n]. It
// is evaluated over all sheets that its first step finds, and leads to one node. Only the parent
// in "@+" may be several sheets, if nothing distinguishes them. "/" is the root. Package identity
// chooses the paths that are written.
//
// "@" changes a node. A line with - and one with + of the same name change an attribute. A line
// with + alone adds one, and a line with - alone removes it. NAME is spelled as in a query;
// __value__ is the text of the node.
//
// "@+" adds a node, and "@-" removes one. The XML is that of a sheet. It has dc:keys, and dc:types
// where the text of a value does not say its type. STEP names a sibling of the node as a step
// below the same parent, and so says where the node is among the siblings of its name. If several
// nodes are added at one place, they get the order that they have in the patch. No other order in
// a patch means anything. A node that only moved is removed and added.
//
// A patch that was made without the file may have only the hash of a node that was removed, and the
// number of nodes and attributes of it and below it. Such a block removes a node with this hash, but can't be taken back: reversed, it conflicts, unless the
// node is there.
//
// # Guards
//
// A place [n] may be another node's in another version of the file. So each place in a PATH, and
// then the one in STEP, has a guard, in this order:
//
//   - the step without its place
//   - the place and the number of siblings, before the patch and, behind ">", after it; 0 is the
//     place of a node that is not there
//   - the hashes of all these siblings before the patch, and after it; if only their parents are other
//     ones then, also of which parents they have
//   - the hash of the node before the patch, and those of its two neighbours
//
// A "*" behind the hash of the node says that another sibling held the same, but between other
// neighbours. "**" says that only the place distinguishes the two.
//
// If all siblings are as they were before or after the patch, the place is right. Otherwise the
// node is the one whose hash, and the hashes of whose neighbours, fit. At least one neighbour must
// still be beside it. A patch that was made without the file has no hashes of what is after it, so
// its places are right only if all siblings are as before.
//
// A place without a guard is taken as it is: to overrule a guard, delete its line in the rejects,
// correct the place and the values, and apply them.
//
// If neither keys nor an id distinguish an added node from its siblings, its block has one more
// guard, of these siblings. It says whether the node was added already.
//
// # Guards of nodes that are found by values
//
// Another version may give the id of a node to another one: 5 became 6, and 6 became 7. So a step
// below a sheet that finds one of several siblings by its keys, its id or other attributes has a guard
// too, if the block could do something to another node of these: for a change, if one has the same old
// value there. It has the hashes of the node and of its two neighbours, without the attributes that
// the step asks for. These are hashes of the attributes alone and, with a "+", also of what is below
// the nodes. A "*" says that a sibling has the same hash. Three more hashes, behind ">", are those after
// the patch, if the node could not be known by the others any more.
//
// The node is the right one if it has the hash, or had it but for what the patch changes, and no
// sibling has the same. It is not if a sibling has the hash instead. Otherwise its neighbours decide:
// it is the right one if one of them is beside it, and that may be no copy if the node itself is not as
// before; it is not if one of them is elsewhere; and it is if both are gone or hold something else by
// now, as where a version changed all siblings, unless another guard shows that some of these siblings
// have other values. If there is no node, a sibling with the hash is a
// conflict too.
//
// A conflict can be overruled: delete the guard in the rejects, and apply them.
//
// # How a patch is applied
//
// All paths are followed before anything is changed. Then each pair of lines is judged by itself.
// If the attribute has the value from before the patch, it is set. If it has the value from after
// it, it is left. Anything else is a conflict. A node is removed if it equals the XML, and it is a
// conflict if it does not; if it is gone, it counts as removed. A node is added unless there is one
// with the same keys or id, which is a conflict unless it is equal. A node without keys and id
// counts as added if there is an equal one, unless its guard says that all siblings are as before.
// So applying a patch again changes nothing. Blocks that contradict each other conflict: the first
// is applied.
//
// A node is added behind or before the sibling that STEP names, otherwise where its keys belong,
// otherwise at the end. If its parent is one of several sheets that nothing distinguishes, it goes
// into the sheet that has the sibling; if there is none, that is a conflict.
//
// If a patch removes sheets and adds some of that name, it replaces them: unless all of them can be
// removed and added, none is.
//
// # How a patch is made
//
// [Make] uses what package diff finds between two files. [MakeDraft] uses the numbers of nodes in
// a draft, and package identity for nodes that were added: if a node was removed and an equal one
// added, nothing changed; nor did it if equal nodes passed each other. Nodes with equal keys, now or
// before, that passed each other moved, so that the patch reversed restores their order. If more
// than half of a sheet changed, the sheet is removed and added. Each path finds its node alone, both
// in the old file and in the new one. Where a step would find several, it has a place.
//
// # What is not supported
//
//   - Names with line breaks can't be written.
//   - A node with more than a million nodes and attributes below it can't be added or removed.
//   - If two nodes exchanged their keys, applying the patch twice exchanges them twice.
//   - If another version gives the values by which a node is found to another sheet, the wrong sheet
//     is changed. So is a node that holds the same as the right one, its neighbours included.
//   - A patch that was made without the file has no guards of nodes that are found by values.
package patch
