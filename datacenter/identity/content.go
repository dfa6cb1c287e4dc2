package identity

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
)

// Nodes and values with equal hashes may belong together. If they are equal by chance, nodes
// are matched that differ: the list of differences is then longer, but not wrong.

// Contents returns hashes of all that nodes of a Tree hold, except for keys, flags and
// types, which a text does not always have. The hash of a stored run is computed once.
type Contents[N any] struct {
	tree Tree[N]
	runs map[datacenter.Run]uint64
	// exact is set if keys, flags, types and spellings count.
	exact PathTree[N]
}

// maxRuns is the largest number of runs whose hashes are kept.
const maxRuns = 1 << 21

// NewContents returns a Contents. It is not safe for parallel use.
func NewContents[N any](tree Tree[N]) *Contents[N] {
	return &Contents[N]{tree: tree, runs: map[datacenter.Run]uint64{}}
}

// NewExactContents returns a Contents for which nodes hold the same only if their keys, their
// flags, and the types and the spellings of all values are the same. Patches contain its
// hashes: they must never change.
func NewExactContents[N any](tree PathTree[N]) *Contents[N] {
	c := NewContents[N](tree)
	c.exact = tree
	return c
}

// Share makes c use the hashes of stored runs that another Contents of the same file and kind keeps.
func (c *Contents[N]) Share(with *Contents[N]) { c.runs = with.runs }

// Group returns a hash of nodes in their order.
func (c *Contents[N]) Group(nodes iter.Seq[N]) (sum uint64, err error) {
	for n := range nodes {
		h, err := c.Hash(n)
		if err != nil {
			return 0, err
		}
		sum = mix(sum, h)
	}
	return sum, nil
}

// Hash returns a hash of a node, which is equal for nodes that hold the same. It ignores the
// order of attributes, and that of children with different names.
func (c *Contents[N]) Hash(n N) (uint64, error) {
	sum := uint64(golden) // the hash of an empty node is not 0, which stands for no node
	err := c.tree.Attributes(n, func(name string, typ datacenter.Type, text []byte) {
		h := uint64(typ)
		if c.exact != nil {
			h += xxhash.Sum64(text)
		} else {
			h = hashValue(typ, text)
		}
		// Scattered: else other names or nodes with the same values would have the same sum.
		sum += scatter(mix(xxhash.Sum64String(name), h))
	})
	if err != nil {
		return 0, err
	}
	if c.exact != nil {
		sum = mix(sum, uint64(c.exact.Flags(n)))
		for _, key := range c.exact.Keys(n) {
			sum = mix(sum, xxhash.Sum64String(key))
		}
	}
	below, err := c.below(n)
	return scatter(mix(sum, below)), err
}

// below returns the hash of a node's children.
func (c *Contents[N]) below(n N) (sum uint64, err error) {
	run, stored := c.tree.Run(n)
	if h, ok := c.runs[run]; ok && stored {
		return h, nil
	}
	type child struct {
		name string
		node N
	}
	var list []child
	if err := c.tree.Children(n, func(name string, node N) { list = append(list, child{name, node}) }); err != nil {
		return 0, err
	}
	byName := func(a, b child) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(list, byName) {
		slices.SortStableFunc(list, byName)
	}
	last, name := "", uint64(0)
	for i, k := range list {
		if i == 0 || k.name != last {
			last, name = k.name, xxhash.Sum64String(k.name)
		}
		h, err := c.Hash(k.node)
		if err != nil {
			return 0, err
		}
		sum = mix(mix(sum, name), h)
	}
	if stored {
		if len(c.runs) == maxRuns {
			clear(c.runs)
		}
		c.runs[run] = sum
	}
	return sum, nil
}

// HashValues returns a hash of the attributes of n with some names. all reports whether it
// has all of them.
func HashValues[N any](tree Tree[N], n N, names []string) (sum uint64, all bool, err error) {
	var room [4]uint64 // no key definition has more names
	values, err := appendValues(room[:0], tree, n, names)
	all = true
	for _, h := range values {
		all = all && h != 0
		sum = mix(sum, h)
	}
	return sum, all, err
}

// appendValues appends the hash of n's attribute for each of names, or 0 if n does not have
// it.
func appendValues[N any](dst []uint64, tree Tree[N], n N, names []string) ([]uint64, error) {
	from := len(dst)
	for range names {
		dst = append(dst, 0)
	}
	err := visitNamed(tree, n, names, func(name string, typ datacenter.Type, text []byte) {
		if i := slices.Index(names, name); i >= 0 {
			dst[from+i] = hashValue(typ, text) | 1
		}
	})
	return dst, err
}

const golden = 0x9e3779b185ebca87

// mix continues a hash with the next one. Of the last one it only takes the sum.
func mix(h, next uint64) uint64 { return (h<<27|h>>37)*golden + next }

// scatter returns a hash of a hash that can be added to others.
func scatter(h uint64) uint64 {
	h = (h ^ h>>32) * golden
	h = (h ^ h>>29) * golden
	return h ^ h>>32
}

// hashValue returns a hash that is equal for all spellings of a value: 256.000000 and 256,
// 007 and 7, 1 and true, whatever their types.
func hashValue(_ datacenter.Type, text []byte) uint64 { return xxhash.Sum64(plainest(text)) }

// plainest returns one spelling for all texts of a value, whatever its type. So 1 is both
// true and 1.0, which does no harm: see above.
func plainest(text []byte) []byte {
	s := bytes.TrimSpace(text)
	switch {
	case len(s) == 0 || isPlainInt(s):
		return s
	case string(s) == "true":
		return []byte("1")
	case string(s) == "false":
		return []byte("0")
	case strings.IndexByte("+-.0123456789nNiI", s[0]) < 0:
		return text
	}
	if !slices.ContainsFunc(s[1:], notOfInt) {
		if v, err := datacenter.ParseValue(datacenter.Int, string(s)); err == nil {
			return []byte(v.Text())
		}
	}
	if !slices.ContainsFunc(s, notOfFloat) {
		if v, err := datacenter.ParseValue(datacenter.Float, string(s)); err == nil {
			return []byte(v.Text())
		}
	}
	return text
}

// notOfInt reports that a byte is in no int but at its start. Like notOfFloat, it spares the
// making of errors for most texts.
func notOfInt(b byte) bool { return b < '0' || b > '9' }

// notOfFloat reports that a byte is in no spelling of a float: of a decimal one, an infinity, or
// a NaN with its bits in hexadecimal.
func notOfFloat(b byte) bool {
	return strings.IndexByte("0123456789+-.abcdefABCDEFxinItyTYN()", b) < 0
}

// isPlainInt reports whether a text is an integer without leading zeros, as most values of
// real sheets are.
func isPlainInt(s []byte) bool {
	digits := bytes.TrimPrefix(s, []byte("-"))
	if len(digits) == 0 || digits[0] == '0' {
		return len(s) == 1 && s[0] == '0'
	}
	return !slices.ContainsFunc(digits, notOfInt)
}
