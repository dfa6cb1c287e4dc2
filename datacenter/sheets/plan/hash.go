package plan

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
)

// Hashes tell what may belong together. Two that are equal by chance put together what
// does not: that costs more edits, but makes no wrong ones.

// oldHashes gives a hash of the attributes called names of some nodes or, if names is
// nil, of all that they hold. all tells that none lacks one of the names.
func (p *planner) oldHashes(s *siblings, xs []int32, names []vocab.NameID) (hashes []uint64, all bool, err error) {
	all = true
	for _, i := range xs {
		h, has, err := p.oldHash(s.xs[i].oldNode, names)
		if err != nil {
			return nil, false, err
		}
		all = all && has
		hashes = append(hashes, h)
	}
	return hashes, all, nil
}

func (p *planner) newHashes(s *siblings, ys []int32, names []vocab.NameID) (hashes []uint64, all bool, err error) {
	all = true
	for _, j := range ys {
		h, has, err := p.newHash(s.ys[j].newRef, names)
		if err != nil {
			return nil, false, err
		}
		all = all && has
		hashes = append(hashes, h)
	}
	return hashes, all, nil
}

// hashOf gives a hash of attributes, in order if names says which. Their types do not
// count: those of the text are not known.
func (p *planner) hashOf(list []wanted, names []vocab.NameID) (sum uint64, has bool) {
	if names == nil {
		for i := range list {
			sum += p.attributeHash(&list[i])
		}
		return sum, true
	}
	has = true
	for _, name := range names {
		i := slices.IndexFunc(list, func(w wanted) bool { return w.name == name })
		h := uint64(0)
		if i >= 0 {
			h = p.attributeHash(&list[i])
		}
		has = has && i >= 0
		sum = mix(sum, h)
	}
	return sum, has
}

func mix(h, next uint64) uint64 { return (h<<27|h>>37)*golden + next }

// attributeHash does not tell spellings of a value apart: 256.000000 is 256, 007 is 7,
// 1 is true.
func (p *planner) attributeHash(w *wanted) uint64 {
	return xxhash.Sum64(plainest(w.text)) + uint64(w.name)*golden
}

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

const golden = 0x9e3779b185ebca87

// oldHash gives the hash of a node, see oldHashes.
func (p *planner) oldHash(o oldNode, names []vocab.NameID) (uint64, bool, error) {
	return p.newHash(newRef{at: -1, old: o}, names)
}

// newHash likewise.
func (p *planner) newHash(y newRef, names []vocab.NameID) (h uint64, has bool, err error) {
	if err := p.check(); err != nil {
		return 0, false, err
	}
	list, err := p.wantedAttributes(y)
	if err != nil {
		return 0, false, err
	}
	h, has = p.hashOf(list, names)
	if names == nil {
		below, err := p.hashBelow(y)
		return mix(h, below), true, err
	}
	return h, has, nil
}

// hashBelow is the hash of a node's children. That of a run of the file is remembered.
func (p *planner) hashBelow(y newRef) (sum uint64, err error) {
	stored := y.at < 0 && !y.old.touched
	var run datacenter.Run
	if stored {
		run = y.old.node.ChildRun()
		if h, ok := p.hashes[run]; ok {
			return h, nil
		}
	}
	kids, err := p.wantedKids(y)
	if err != nil {
		return 0, err
	}
	// Those of other names come in any order.
	slices.SortStableFunc(kids, func(a, b newKid) int { return int(a.name) - int(b.name) })
	for _, k := range kids {
		h, _, err := p.newHash(k.newRef, nil)
		if err != nil {
			return 0, err
		}
		sum = mix(sum, h+uint64(k.name))
	}
	if stored {
		p.hashes[run] = sum
	}
	return sum, nil
}
