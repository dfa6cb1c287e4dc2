// Package treepath spells the paths that nodes and attributes of a data center have in the
// tree/ folder of a mount, such as ItemData.3/Item.41/rank. You can append such a path to the
// path of that folder. It stays the same as long as the file does.
//
// A node's path ends in its name, or in Name.N if N siblings of that name are before it. An
// attribute's path ends in its name, or in @ and its name if a child of the node has the same
// name. Names that a file system can't hold are escaped, see [Escape].
package treepath
