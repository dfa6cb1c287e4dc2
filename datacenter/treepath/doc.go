// Package treepath spells where a node or an attribute of a data center lies, as
// the tree/ folder of a mount does: ItemData.3/Item.41/rank. Such a path can be
// typed behind the mount point, and stays the same for as long as the file does.
//
// A child is called by its node's name; one that has N siblings of that name
// before it is Name.N, but for the first. An attribute is called by its name, or
// by @ and its name if a child of the node has the same. Names that a file system
// can't hold are escaped, see [Escape].
package treepath
