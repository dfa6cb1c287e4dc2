// Package patch makes and applies patches of data centers. A patch is a text that people read,
// review and keep beside their mods, and that can be applied to the next version of the game's
// data center. The format is the project's own.
//
// [Make] makes the patch of two files. [Parse] reads one, and an [Applier] finds the edits that
// it stands for. Read in this order: patch.go (a patch in memory), parse.go and write.go (its text),
// resolve.go and locate.go (what a path leads to), context.go (whether that is the right node), apply.go
// and apply_add.go (what is done to it), settle.go and shared.go (what several patches want of one value), make.go with make_guard.go and make_context.go (how blocks are
// made), make_files.go and make_draft.go (what differs).
//
//	lorefs-patch 1
//	end: # end
//	base: DataCenter_Final_EUR.dat revision 387463
//
//	@ /NpcData[@huntingZoneId=3]/Template[@id=1]/Stat
//	 /Template[@id=1] is Template[@name='Boar'] after Template[@name='Fox'] before Template[@name='Bear']
//	-level int 14
//	+level int 15
//	@ /AIData/Ai[2]
//	 /Ai at 2 of 28 is Ai[@speed=0.5] after Ai[@id=3] before Ai[@id=7]
//	-duration int 1000
//	+duration int 800
//	@+ /ItemData after Item[@id=950001]
//	+<Item id="950099" level="1" name="my_box" dc:keys="id" />
//	@- /Dungeon/Spawn[3]
//	 /Spawn at 3 of 5 then 0 of 4 sum 9a20feb6 then 80ebad4a
//	-<Spawn time="1" />
//	# end
//
//	patch   = "lorefs-patch 1" NL { NAME ":" text NL } { block | "#" text NL | "!" text NL | NL }
//	block   = "@ " PATH NL { context } { ("-"|"+") (NAME | "%keys" | "%flags") " " VALUE NL }
//	        | "@+ " PATH [ (" after "|" before ") STEP ] NL { context } { "+" XML-LINE NL }
//	        | "@- " PATH [ (" after "|" before ") STEP ] NL { context } { "-" XML-LINE NL }
//	context = " " ( "/" STEP { "/" STEP } | ("after "|"before ") STEP | "+" STEP )
//	          [ " at " n " of " m [ " then " n " of " m ] ] [ " sum " HEX8 [ " then " HEX8 ] ]
//	          [ (" is "|" like ") FACTS ] [ " after " FACTS ] [ " before " FACTS ] NL
//	FACTS   = STEP { "/" STEP }                             ; without places
//	VALUE   = "int " DEC | "float " FLOAT | "bool " ("true"|"false") | "string " JSON-STRING
//	        | "keys" { " " NAME } | "flags " DEC
//
// Lines may end in CR LF, and the text may begin with a byte order mark. A line with # is a
// comment. A line with ! says why a block was rejected; a reader skips it. What a line of a context says
// has the order of the grammar, and the lines have that of the steps. A file may hold several patches, one
// behind the other, as cat(1) makes it: [ParseAll] reads them, and they are applied in turn.
//
// # A patch that was cut off
//
// A patch without a line end behind its last line was cut off, and is an error. What a patch begins
// with promises its last line: "end: # end". A patch with that field and without the line "# end" is
// an error too. So the end of a patch that lorefs has written can't be missing unnoticed, unless all
// behind its first line is. A patch written by hand without the field may lack whole lines: a "-" line
// without its "+" line then removes the attribute.
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
// # Context
//
// Another version of the file may have other siblings, so that a place [n] is another node's, and may
// give the ids of nodes to others: 5 became 6, and 6 became 7. The lines behind the path say what told
// each node from its siblings. A line begins with a step of the path, with the step of the sibling that
// "after" or "before" names, or with "+" for a node that is added. If the path has such a step twice,
// steps before it stand in the line as well.
//
//   - "at" is the place among the siblings that the step finds, before the patch and, behind "then",
//     after it. 0 is the place of a node that is not there.
//   - "is" says what only this node held: values, or values of a node below it. "like" says what others
//     held as well, so that the siblings beside the node have to tell it from those.
//   - "after" and "before" say what the siblings beside it hold.
//   - "sum" is a hash, before and after the patch, for what a few values can't tell. With "at" it is of all
//     siblings that the step finds, without it of the node alone but for what the step asks for.
//
// The patch changes nothing of what "is", "like", "after" and "before" say, so they hold for the patch
// reversed, too.
//
// A place without a context is taken as it is, as that of most patches written by hand. Otherwise it is that of
// the one node that "is" and that has one of the neighbours, whatever its number. With a sum it is the
// number, if all siblings are as before the patch or after it. Anything else is a conflict.
//
// A node that was found by values is another one if a sibling holds what "is" says and the node does not,
// or if its sum is another one. If the values of "is" are nowhere, the version changed them. The node is
// the right one then, unless it has other neighbours, and another line of the patch shows that these
// siblings got others' values. Neighbours alone only count against a node if such a line exists. "like" also
// counts against one that has other neighbours, if it holds the values, or if a sibling does instead. A node is
// not added beside a sibling whose own neighbours are all other ones.
// If there is no node with these values, but one that "is", or that has the sum, that is a conflict too.
//
// A step has such a line only if the block could do something to another node: to a change, if a
// sibling has the same old value at the same place below it.
//
// To overrule a conflict, delete the line in the rejects, correct the place and the values, and apply them.
//
// # How a patch is applied
//
// All paths are followed before anything is changed. Then each pair of lines is judged by itself.
// If the attribute has the value from before the patch, it is set. If it has the value from after
// it, it is left. Anything else is a conflict. A node is removed if it equals the XML, and it is a
// conflict if it does not; if it is gone, it counts as removed. A node is added unless there is one
// with the same keys or id, which is a conflict unless it is equal. A node without keys and id
// counts as added if there is an equal one, unless its context says that all siblings are as before.
// So applying a patch again changes nothing. Blocks that contradict each other conflict: the first
// is applied.
//
// [Settle] compares what several patches want before they are applied. Each is judged by the file, with what
// those before it add. If they conflict when they are applied in turn, and want different values of one
// attribute, a preference decides, and the parts of the others yield. So it does if one removes a node that
// another changes, or if they add different nodes of one key. A sheet or a node that is removed and
// added yields as a whole.
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
// # Figures
//
// Applied, there already, and conflicts, of mods whose other version has other ids, twins, and nodes that
// came and went; behind them the conflicts with hashes of all that a node and its neighbours hold
// in place of values, as patches had them first:
//
//	p115_small onto p100, 535 parts            505    2    30     30
//	p100 onto p115_small, 535 parts             66   12   457    457
//	p100 onto a version made up, 1,050 parts   480  149   421    400
//	another one                                459  145   446    425
//
// None is wrong in these, nor in 6,000 small files made up. Of the first patch's 2,052 lines 14 have a
// sum, and of the third's 4,224 lines 206; of one that changes the prices of 10,000 items none does. A place
// needs its sum: with both neighbours in place of it, a twin was changed that stands between such ones.
//
// # What is not supported
//
//   - Names with line breaks can't be written.
//   - A node with more than a million nodes and attributes below it can't be added or removed.
//   - If two nodes exchanged their keys, applying the patch twice exchanges them twice.
//   - If another version gives the values by which a node is found to another sheet, the wrong sheet
//     is changed. So is a node that holds the same as the right one, its neighbours included.
//   - A patch that was made without the file has no context of nodes that are found by values.
package patch
