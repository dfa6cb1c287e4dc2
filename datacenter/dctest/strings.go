package dctest

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/hash"
)

// stringTable collects the strings of a table in the order of their indices.
type stringTable struct {
	units     [][]uint16
	valueHash []uint16
	index     map[string]int
}

func newStringTable() *stringTable { return &stringTable{index: map[string]int{}} }

// add returns the zero-based index of a string.
func (t *stringTable) add(s string) int {
	if i, ok := t.index[s]; ok {
		return i
	}
	units := Units(s)
	if !utf8.ValidString(s) {
		// Several byte strings may stand for the same units.
		canonical := Text8(units)
		if canonical != s {
			return t.add(canonical)
		}
	}
	t.index[s] = len(t.units)
	t.units = append(t.units, units)
	t.valueHash = append(t.valueHash, hash.Value(units))
	return t.index[s]
}

// placedStrings are strings in their segments.
type placedStrings struct {
	segments  [][]uint16
	addresses []datacenter.Address
}

func (t *stringTable) place(o Options) placedStrings {
	p := placedStrings{addresses: make([]datacenter.Address, len(t.units))}
	owners := t.owners(o.ShareSuffixes)
	sp := space{limit: o.stringSegmentSize()}
	for i, units := range t.units {
		if owners[i] == i {
			p.addresses[i] = p.store(&sp, units)
		}
	}
	for i, owner := range owners {
		if owner != i {
			a := p.addresses[owner]
			inside := len(t.units[owner]) - len(t.units[i])
			p.addresses[i] = address(int(a.Segment), int(a.Element)+inside)
		}
	}
	if o.OmitNUL {
		p.omitNULs()
	}
	return p
}

func (p *placedStrings) store(sp *space, units []uint16) datacenter.Address {
	a := sp.take(len(units) + 1)
	if int(a.Segment) == len(p.segments) {
		p.segments = append(p.segments, nil)
	}
	s := append(p.segments[a.Segment], units...)
	p.segments[a.Segment] = append(s, 0)
	return a
}

// owners returns for each string the one that it is stored in: itself, or a longer one with
// the same end.
func (t *stringTable) owners(share bool) []int {
	owners := make([]int, len(t.units))
	for i := range owners {
		owners[i] = i
	}
	if !share {
		return owners
	}
	// Sorted by its end, a string comes right before those that end with it.
	order := slices.Clone(owners)
	slices.SortFunc(order, func(a, b int) int { return compareReversed(t.units[a], t.units[b]) })
	for k := len(order) - 2; k >= 0; k-- {
		i, next := order[k], order[k+1]
		owner := owners[next]
		// Beyond the last element index of a segment nothing has an address.
		if endsWith(t.units[next], t.units[i]) && len(t.units[owner])-len(t.units[i]) <= maxRun {
			owners[i] = owner
		}
	}
	return owners
}

func compareReversed(a, b []uint16) int {
	for i := 1; i <= len(a) && i <= len(b); i++ {
		if c := cmp.Compare(a[len(a)-i], b[len(b)-i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func endsWith(s, end []uint16) bool {
	return len(s) >= len(end) && slices.Equal(s[len(s)-len(end):], end)
}

// omitNULs drops the last NUL of each segment, unless that is the whole of an empty string.
func (p *placedStrings) omitNULs() {
	needed := map[datacenter.Address]bool{}
	for _, a := range p.addresses {
		needed[a] = true
	}
	for i, s := range p.segments {
		last := len(s) - 1
		if last > maxRun || !needed[address(i, last)] {
			p.segments[i] = s[:last]
		}
	}
}
