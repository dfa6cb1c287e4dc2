package diff

import (
	"fmt"
	"strconv"

	"lorefs/internal/shown"
)

// Kind is what a Difference is about.
type Kind uint8

// The kinds.
const (
	// NodeRemoved and NodeAdded are of a node and all below it.
	NodeRemoved Kind = iota + 1
	NodeAdded
	AttributeRemoved
	AttributeAdded
	// AttributeChanged is of another type or another value.
	AttributeChanged
	KeysChanged
	FlagsChanged
	// OrderChanged is of a node that others of its name have passed.
	OrderChanged
)

var kindNames = [...]string{
	NodeRemoved: "node removed", NodeAdded: "node added",
	AttributeRemoved: "attribute removed", AttributeAdded: "attribute added", AttributeChanged: "attribute changed",
	KeysChanged: "keys changed", FlagsChanged: "flags changed", OrderChanged: "order changed",
}

// String is as in "node removed".
func (k Kind) String() string {
	if k >= NodeRemoved && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// MarshalText is String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Value is one side of a difference.
type Value struct {
	// Type is int, float, string or bool of an attribute, else keys or flags.
	Type string `json:"type"`
	// Text is spelled as in a mount. Keys have spaces between them.
	Text string `json:"text"`
}

// Difference is one thing that is not the same in two data centers.
type Difference struct {
	Kind Kind `json:"kind"`
	// Path is where it lies below the tree/ of a mount: of what was added in the
	// second file, else in the first.
	Path string `json:"path"`
	// NewPath is where it lies in the second file if that is elsewhere, because of
	// siblings that came, went or moved; else it is empty.
	NewPath string `json:"new_path,omitempty"`
	// Old and New are what the two files have. They are unset where there is
	// nothing, and of nodes and their order.
	Old Value `json:"old,omitzero"`
	New Value `json:"new,omitzero"`
	// Entries is how many nodes and attributes were removed or added with a node,
	// itself included.
	Entries uint32 `json:"entries,omitempty"`
}

// Append appends the difference as lines that begin with - for what the first file
// has and with + for what the second has, each with its newline:
//
//   - Item.4/rank = int 3
//   - Item.4/rank = int 4
//
// Texts are spelled as [strconv.Quote] does; a node has a slash at its end and the
// number of entries behind it.
func (d Difference) Append(dst []byte) []byte {
	path := d.NewPath
	if path == "" {
		path = d.Path
	}
	switch d.Kind {
	case NodeRemoved:
		return d.appendNode(dst, '-', d.Path)
	case NodeAdded:
		return d.appendNode(dst, '+', path)
	case OrderChanged:
		dst = fmt.Appendf(dst, "- %s/ order\n", spelled(d.Path))
		return fmt.Appendf(dst, "+ %s/ order\n", spelled(path))
	}
	if d.Old.Type != "" {
		dst = d.Old.append(dst, '-', d.Path)
	}
	if d.New.Type != "" {
		dst = d.New.append(dst, '+', path)
	}
	return dst
}

func (d Difference) appendNode(dst []byte, sign byte, path string) []byte {
	return fmt.Appendf(dst, "%c %s/ (%d)\n", sign, spelled(path), d.Entries)
}

func (v Value) append(dst []byte, sign byte, path string) []byte {
	dst = fmt.Appendf(dst, "%c %s = %s ", sign, spelled(path), v.Type)
	if v.Type == typeString {
		dst = strconv.AppendQuote(dst, v.Text)
	} else {
		dst = append(dst, v.Text...)
	}
	return append(dst, '\n')
}

// spelled is a path as it is printed. Names may hold anything, also what would begin
// a line or control a terminal.
func spelled(path string) string {
	if shown.Text(path) != path {
		return strconv.Quote(path)
	}
	return path
}
