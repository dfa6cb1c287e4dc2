// Package treepath has the paths of nodes and attributes of a data center in the tree/
// folder of a mount: ItemData.3/Item.41/rank. Such a path can be appended to the mount
// point, and stays the same as long as the file does.
//
// A child has its node's name; if N siblings of that name are before it, it is Name.N. An
// attribute has its name, or @ and its name if a child of the node has the same. Names that
// a file system can't hold are escaped, see [Escape].
package treepath
