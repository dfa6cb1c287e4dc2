package diff

import (
	"fmt"
	"strconv"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// Kind is the kind of thing that a Difference is about.
type Kind uint8

// The kinds.
const (
	// NodeRemoved and NodeAdded are about a node and everything below it.
	NodeRemoved Kind = iota + 1
	NodeAdded
	AttributeRemoved
	AttributeAdded
	// AttributeChanged is about an attribute with another type or value.
	AttributeChanged
	KeysChanged
	FlagsChanged
	// OrderChanged is about a node that moved among the nodes of its name.
	OrderChanged
	// NodeMoved is about a node that went to another parent, or got another name. Compare can't know
	// that, and reports that it was removed and added.
	NodeMoved
)

var kindNames = [...]string{
	NodeRemoved: "node_removed", NodeAdded: "node_added",
	AttributeRemoved: "attribute_removed", AttributeAdded: "attribute_added", AttributeChanged: "attribute_changed",
	KeysChanged: "keys_changed", FlagsChanged: "flags_changed", OrderChanged: "order_changed",
	NodeMoved: "node_moved",
}

// String returns a text like "node_removed".
func (k Kind) String() string {
	if k >= NodeRemoved && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// MarshalText returns the same as String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Value is one side of a difference.
type Value struct {
	// Type is int, float, string or bool for an attribute, and else keys or flags.
	Type string `json:"type"`
	// Text is the value as a mount shows it. Keys are separated by spaces.
	Text string `json:"text"`
}

// The types of values that are not attributes, and the type whose text is quoted.
const (
	typeKeys   = "keys"
	typeFlags  = "flags"
	typeString = "string"
)

// KeysValue returns a key definition as a side of a difference.
func KeysValue(keys datacenter.KeyDefinition) Value {
	return Value{Type: typeKeys, Text: keys.String()}
}

// FlagsValue returns flags as a side of a difference.
func FlagsValue(flags datacenter.KeyFlags) Value {
	return Value{Type: typeFlags, Text: strconv.Itoa(int(flags))}
}

// valueOf returns the value of an attribute, which has no type if there is none.
func valueOf(v datacenter.Value) Value {
	if v.Type() == 0 {
		return Value{}
	}
	return Value{Type: v.Type().String(), Text: v.Text()}
}

// OfAttribute returns the difference of an attribute at a path that had one value, and has another one now.
// A value without a type is none.
func OfAttribute(path string, old, now datacenter.Value) Difference {
	d := Difference{Kind: AttributeChanged, Path: path, Old: valueOf(old), New: valueOf(now)}
	switch {
	case now.Type() == 0:
		d.Kind = AttributeRemoved
	case old.Type() == 0:
		d.Kind = AttributeAdded
	}
	return d
}

// Difference is one difference between two data centers.
type Difference struct {
	Kind Kind `json:"kind"`
	// Path is the path below the tree/ of a mount: in the second file if the thing was added
	// there, else in the first.
	Path string `json:"path"`
	// NewPath is the path in the second file if it differs, because siblings were added,
	// removed or moved. Otherwise it is empty.
	NewPath string `json:"new_path,omitempty"`
	// Old and New are the values in the two files. They are zero if there is none, and for
	// nodes, their order and where they are.
	Old Value `json:"old,omitzero"`
	New Value `json:"new,omitzero"`
	// Entries is how many nodes and attributes were removed or added, including the node
	// itself.
	Entries uint32 `json:"entries,omitempty"`
}

// Append appends the difference as lines, such as "- Item.4/rank = int 3" for the first file
// and "+ Item.4/rank = int 4" for the second. Each ends with a newline.
//
// Texts are quoted as by [strconv.Quote]. A node ends with a slash, and its number of
// entries follows.
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
	case OrderChanged, NodeMoved:
		what := "order"
		if d.Kind == NodeMoved {
			what = "moved"
		}
		dst = fmt.Appendf(dst, "- %s/ %s\n", spelled(d.Path), what)
		return fmt.Appendf(dst, "+ %s/ %s\n", spelled(path), what)
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
	dst = append(dst, sign, ' ')
	dst = append(dst, spelled(path)...)
	dst = append(dst, " = "...)
	dst = append(dst, v.Type...)
	dst = append(dst, ' ')
	if v.Type == typeString {
		dst = strconv.AppendQuote(dst, v.Text)
	} else {
		dst = append(dst, v.Text...)
	}
	return append(dst, '\n')
}

// spelled returns a path as it is printed. Names may hold anything, including newlines and
// control sequences of terminals.
func spelled(path string) string {
	if shown.Text(path) != path {
		return strconv.Quote(path)
	}
	return path
}
