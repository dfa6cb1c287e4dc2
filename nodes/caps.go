package nodes

import "context"

// Caps is the set of optional interfaces that a tree can serve.
//
// A tree made of others, such as that of [NewMux], has the methods of all of them. It
// implements Capable to say what its parts can do. Without that, a mount would pay a round
// trip for each file to ask for extended attributes that do not exist.
type Caps uint8

// The abilities.
const (
	CapXattr    Caps = 1 << iota // [Xattrer]
	CapSetXattr                  // [XattrSetter]
	CapEdit                      // [Mutable]
	CapLink                      // [Linker]
	CapChange                    // [Changing]
)

// Capable is implemented by trees that have more methods than they can use.
type Capable interface {
	// Caps never changes.
	Caps() Caps
}

// Xattrs returns the tree as an [Xattrer] if it has extended attributes.
func Xattrs(tree Tree) (Xattrer, bool) { return able[Xattrer](tree, CapXattr) }

// XattrSets returns the tree as an [XattrSetter] if its extended attributes can be set.
func XattrSets(tree Tree) (XattrSetter, bool) { return able[XattrSetter](tree, CapSetXattr) }

// Edits returns the tree as a [Mutable] if it can be changed.
func Edits(tree Tree) (Mutable, bool) { return able[Mutable](tree, CapEdit) }

// Changes returns the tree as a [Changing] if it changes by itself, or others change it.
func Changes(tree Tree) (Changing, bool) { return able[Changing](tree, CapChange) }

// Links returns the tree as a [Linker] if it has symbolic links.
func Links(tree Tree) (Linker, bool) { return able[Linker](tree, CapLink) }

func able[T any](tree Tree, want Caps) (T, bool) {
	t, ok := tree.(T)
	if c, limited := tree.(Capable); ok && limited && c.Caps()&want == 0 {
		var none T
		return none, false
	}
	return t, ok
}

func capsOf(tree Tree) (c Caps) {
	if _, ok := Xattrs(tree); ok {
		c |= CapXattr
	}
	if _, ok := XattrSets(tree); ok {
		c |= CapSetXattr
	}
	if _, ok := Edits(tree); ok {
		c |= CapEdit
	}
	if _, ok := Links(tree); ok {
		c |= CapLink
	}
	if _, ok := Changes(tree); ok {
		c |= CapChange
	}
	return c
}

// Readlink reads a link of a tree that may be no [Linker].
func Readlink(ctx context.Context, tree Tree, link ID) (string, error) {
	if l, ok := Links(tree); ok {
		return l.Readlink(ctx, link)
	}
	return "", ErrInvalid
}
