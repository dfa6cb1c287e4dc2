package identity

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
)

// Hashes tell what may belong together. Two that are equal by chance put together what
// does not: that costs a longer list of differences, but no wrong one.

// Contents gives hashes of all that nodes of a Tree hold but for keys, flags and types,
// which a text does not always say. That of a stored run is found out once.
type Contents[N any] struct {
	tree Tree[N]
	runs map[datacenter.Run]uint64
	// exact is set if keys, flags, types and spellings count.
	exact PathTree[N]
}

// maxRuns bounds how many runs are remembered.
const maxRuns = 1 << 21

// NewContents makes one. It is for one goroutine.
func NewContents[N any](tree Tree[N]) *Contents[N] {
	return &Contents[N]{tree: tree, runs: map[datacenter.Run]uint64{}}
}

// NewExactContents makes one for which nodes hold the same only if their keys, their flags,
// and the types and the spellings of all values are the same. Its hashes stand in patches:
// they must stay what they are.
func NewExactContents[N any](tree PathTree[N]) *Contents[N] {
	c := NewContents[N](tree)
	c.exact = tree
	return c
}

// Group is the hash of nodes in their order.
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

// Hash is the same for nodes that hold the same. Neither the order of attributes counts,
// nor that of children of different names.
func (c *Contents[N]) Hash(n N) (uint64, error) {
	sum := uint64(0)
	err := c.tree.Attributes(n, func(name string, typ datacenter.Type, text []byte) {
		h := uint64(typ)
		if c.exact != nil {
			h += xxhash.Sum64(text)
		} else {
			h = hashValue(text)
		}
		sum += mix(h, xxhash.Sum64String(name))
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
	return mix(sum, below), err
}

// below is the hash of a node's children.
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
		sum = mix(sum, h+name)
	}
	if stored {
		if len(c.runs) == maxRuns {
			clear(c.runs)
		}
		c.runs[run] = sum
	}
	return sum, nil
}

// HashValues gives a hash of the attributes of n that are called names; all tells that it
// lacks none of them.
func HashValues[N any](tree Tree[N], n N, names []string) (sum uint64, all bool, err error) {
	var room [4]uint64 // a key definition has no more names
	values, err := appendValues(room[:0], tree, n, names)
	all = true
	for _, h := range values {
		all = all && h != 0
		sum = mix(sum, h)
	}
	return sum, all, err
}

// appendValues appends, for each of names, the hash of n's attribute; 0 if it has none.
func appendValues[N any](dst []uint64, tree Tree[N], n N, names []string) ([]uint64, error) {
	from := len(dst)
	for range names {
		dst = append(dst, 0)
	}
	err := tree.Attributes(n, func(name string, _ datacenter.Type, text []byte) {
		if i := slices.Index(names, name); i >= 0 {
			dst[from+i] = hashValue(text) | 1
		}
	})
	return dst, err
}

const golden = 0x9e3779b185ebca87

func mix(h, next uint64) uint64 { return (h<<27|h>>37)*golden + next }

// hashValue does not tell spellings of a value apart: 256.000000 is 256, 007 is 7, 1 is
// true.
func hashValue(text []byte) uint64 { return xxhash.Sum64(plainest(text)) }

// plainest gives the texts of one value, of whatever type, one spelling. That 1 is then
// both true and 1.0 does no harm, see above.
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
	for _, t := range []datacenter.Type{datacenter.Int, datacenter.Float} {
		if v, err := datacenter.ParseValue(t, string(s)); err == nil {
			return []byte(v.Text())
		}
	}
	return text
}

// isPlainInt tells of what most values of real sheets are: whole numbers as they are
// written out.
func isPlainInt(s []byte) bool {
	digits := bytes.TrimPrefix(s, []byte("-"))
	if len(digits) == 0 || digits[0] == '0' {
		return len(s) == 1 && s[0] == '0'
	}
	return !slices.ContainsFunc(digits, func(b byte) bool { return b < '0' || b > '9' })
}
