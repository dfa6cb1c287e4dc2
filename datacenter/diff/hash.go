package diff

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
)

// Hashes tell what may belong together. Two that are equal by chance put together
// what does not, and cost a longer list of differences, but no wrong one.

// keyHashes gives for each node a hash of its values of the keys def, the numbers
// of names. all tells that no node lacks one of them.
func (c *comparer) keyHashes(s *side, list []child, def []uint32) (hashes []uint64, all bool, err error) {
	hashes, all = make([]uint64, len(list)), true
	for i, n := range list {
		b := c.xText[:0]
		for _, name := range def {
			var a datacenter.Attribute
			ok := s.indexes[name] != 0
			if ok {
				if a, ok, err = n.node.Attribute(s.indexes[name]); err != nil {
					return nil, false, err
				}
			}
			if !ok {
				all = false
				b = append(b, 0)
				continue
			}
			if b, err = appendValue(b, a); err != nil {
				return nil, false, err
			}
		}
		hashes[i], c.xText = xxhash.Sum64(b), b
	}
	return hashes, all, nil
}

// appendValue appends a value such that no two lists of values give the same bytes.
func appendValue(b []byte, a datacenter.Attribute) ([]byte, error) {
	b = append(b, byte(a.Type()))
	b, err := a.AppendText(b)
	return append(b, 0), err // no text has a NUL
}

// contentHashes gives for each node a hash of all that it holds.
func (c *comparer) contentHashes(s *side, list []child) ([]uint64, error) {
	hashes := make([]uint64, len(list))
	for i, n := range list {
		var err error
		if hashes[i], err = c.contentHash(s, n); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

func (c *comparer) contentHash(s *side, n child) (uint64, error) {
	attributes, err := c.attributesHash(s, n.node)
	if err != nil {
		return 0, err
	}
	children, err := c.childrenHash(s, n.node)
	if err != nil {
		return 0, err
	}
	var b [28]byte
	binary.LittleEndian.PutUint32(b[:], n.name)
	if !c.opts.IgnoreKeys {
		binary.LittleEndian.PutUint32(b[4:], s.keysOf(n.node))
	}
	if !c.opts.IgnoreFlags {
		binary.LittleEndian.PutUint32(b[8:], uint32(n.node.Flags()))
	}
	binary.LittleEndian.PutUint64(b[12:], attributes)
	binary.LittleEndian.PutUint64(b[20:], children)
	return xxhash.Sum64(b[:]), nil
}

// attributesHash is a sum, so that their order does not count.
func (c *comparer) attributesHash(s *side, n datacenter.Node) (sum uint64, err error) {
	for a, err := range n.Attributes() {
		if err != nil {
			return 0, err
		}
		b := binary.LittleEndian.AppendUint32(c.xText[:0], s.names[a.NameIndex()])
		if b, err = appendValue(b, a); err != nil {
			return 0, err
		}
		sum += xxhash.Sum64(b)
		c.xText = b
	}
	return sum, nil
}

// childrenHash is remembered for each stored run.
func (c *comparer) childrenHash(s *side, n datacenter.Node) (uint64, error) {
	run := n.ChildRun()
	if h, ok := s.hashes[run]; ok || run.Count == 0 {
		return h, nil
	}
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	list, err := s.children(n, c.take())
	defer func() { c.give(list) }()
	if err != nil {
		return 0, err
	}
	h := uint64(len(list))
	for _, k := range list {
		one, err := c.contentHash(s, k)
		if err != nil {
			return 0, err
		}
		h = bits.RotateLeft64(h, 27)*0x9e3779b185ebca87 + one
	}
	s.hashes[run] = h
	return h, nil
}
