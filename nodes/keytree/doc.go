// Package keytree shows the nodes of a data center by their keys: a [nodes.Tree] of symbolic
// links into the tree of package dctree.
//
//	by-key/ItemData/Item/950000             -> ../../../tree/ItemData.3/Item.41
//	by-key/NpcData/2/Template/1001          -> ../../../../tree/NpcData.17/Template.5
//	by-key/VillagerMenu/Villager/57         -> ../../../tree/VillagerMenu/Villager.3
//
// Names in tree/ count siblings, so they change from one version of the game to the next; a
// key does not. Only sheets and their children are here. Anything deeper is found below the
// target of a link.
//
// # Which nodes
//
// A node has the name that its keys give it: the values of the attributes of its key
// definition, with commas between them. A node without a key definition goes by its attribute
// id. In a real data center (patch 100) 73 % of the children of sheets have key definitions,
// and another 10 % have an id. A node that lacks one of these attributes is not listed, nor is
// a directory in which there would be nothing.
//
// Sheets of one name, a family, are one: their children are listed together. If any of them
// has a key definition, each sheet is a directory instead, again with the name that its keys
// give it. That is so for NpcData, SkillData, SkillEffectData, SkillSoundData, QuestDialog and
// VillagerDialog. (Quest has keys, too, but none of its children has anything to go by.)
//
// Of equal names the first stays as it is, and the others are KEYS~2, KEYS~3 and so on, in the
// order of their numbers (see [edit.Number]): the file's order, and then that in which they
// were made. names.go says how values are spelled.
//
// # No objects
//
// Nothing is held for a node. A listing is made when it is needed, for a list or a look-up, and
// some are kept until nodes in them are edited (listing.go). The directory of all families and
// the look-up of one only find out which families have anything to show.
//
// Nothing here can be changed. Where the nodes are those of a [edit.Draft], edits show at once:
// watch.go decides which names they may have changed, and says so.
package keytree
