package identity

import "lorefs/datacenter"

// Tree is what is to be known of nodes N.
type Tree[N any] interface {
	// Attributes gives those of n, __value__ among them, in any order. The type is 0 where
	// nothing says it. The text is that of a mount, and used before the next one is given.
	Attributes(n N, visit func(name string, typ datacenter.Type, text []byte)) error
	// Children gives those of n in their order.
	Children(n N, visit func(name string, child N)) error
	// Run names the stored run that the children of n are; ok is false if they are none.
	Run(n N) (run datacenter.Run, ok bool)
}
