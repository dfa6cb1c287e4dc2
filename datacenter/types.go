package datacenter

import (
	"io"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
)

// What follows is defined in package form, which describes a file as it is stored.

type (
	// Options are the options of Open. The zero value is right for a file that is opened once.
	Options = form.Options
	// BlockCache keeps inflated blocks. Package nodes/blockcache has one with a budget.
	BlockCache = form.BlockCache
	// IndexStore keeps the result of the first pass over a file, so that the next Open inflates nothing.
	IndexStore = form.IndexStore
	// WriteOptions are the options for writing a data center.
	WriteOptions = write.Options

	// Key is the key with which one build of the client decrypts its data center.
	Key = form.Key
	// Layout is one of the three layouts of a data center.
	Layout = form.Layout
	// Header is the header of the inflated data.
	Header = form.Header
	// Counts are the sizes of a file.
	Counts = form.Counts
	// Address is the place of an element in a segmented region.
	Address = form.Address
	// KeyNames is a stored key definition: name indexes, with 0 for none.
	KeyNames = form.KeyNames
	// KeyDefinition is a set of attribute names by which clients look nodes up.
	KeyDefinition = form.KeyDefinition
	// KeyFlags are the flags of a node.
	KeyFlags = form.KeyFlags
	// Type is the type of an attribute's value.
	Type = form.Type
	// FormatError reports data that breaks the format.
	FormatError = form.FormatError
)

// The layouts. LayoutAuto makes Open find out the layout.
const (
	LayoutAuto  = form.LayoutAuto
	LayoutV3    = form.LayoutV3
	LayoutV6X86 = form.LayoutV6X86
	LayoutV6X64 = form.LayoutV6X64
)

// The types, in the order in which key values sort.
const (
	Int    = form.Int
	Float  = form.Float
	String = form.String
	Bool   = form.Bool
)

// KeyFlagUncached tells the client not to cache queries against a node.
const KeyFlagUncached = form.KeyFlagUncached

const (
	// RootName is the name of the root.
	RootName = form.RootName
	// ValueName is the name of the attribute that is a node's text.
	ValueName = form.ValueName
)

// Limits of the format, which form explains.
const (
	// LeastSize is the number of bytes that the smallest data center has.
	LeastSize = form.LeastSize
	// MaxNames is the number of names that an index can distinguish, __root__ and __value__ included.
	MaxNames = form.MaxNames
	// MaxRun is the maximum number of attributes, and of children, of a node.
	MaxRun = form.MaxRun
	// MaxDepth is the maximum depth of nodes.
	MaxDepth = form.MaxDepth
	// MaxEntries is the maximum number of nodes and attributes of a file, each counted once for every path
	// that leads to it.
	MaxEntries = form.MaxEntries
)

var (
	// ErrKey means that no key that was tried opens the file.
	ErrKey = form.ErrKey
	// ErrChanged means that the file no longer holds what was read from it before.
	ErrChanged = form.ErrChanged
	// ErrAddress means that nothing is stored at an address.
	ErrAddress = form.ErrAddress
	// ErrTooLarge means that something exceeds a limit of the format.
	ErrTooLarge = form.ErrTooLarge
	// ErrValue means that the format cannot hold a value or a name.
	ErrValue = form.ErrValue
)

// ParseLayout is the inverse of [Layout.String].
func ParseLayout(s string) (Layout, error) { return form.ParseLayout(s) }

// ParseKey parses a key and an IV of 32 hex digits each.
func ParseKey(name, key, iv string) (Key, error) { return form.ParseKey(name, key, iv) }

// DefaultKeys returns the published keys, in the order in which they are tried.
func DefaultKeys() []Key { return form.DefaultKeys() }

// CheckKey returns an error unless one of some keys opens r. It reads only the start.
func CheckKey(r io.ReaderAt, size int64, keys []Key) error { return form.CheckKey(r, size, keys) }
