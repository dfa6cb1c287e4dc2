package plan

import (
	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/internal/align"
)

// siblings are the children of one name that a node has, and those that it is to have.
type siblings struct {
	parent datacenter.Number
	xs     []oldKid
	ys     []newKid
	// to tells which of ys belongs to each of xs.
	to []int32
	// classes tells of each of ys among which of them its order counts: where keys
	// order them, only among those with equal ones. It is nil if it counts among all.
	classes []uint64
	// rekeyed tells that some of what belongs together has other keys than before.
	rekeyed bool
}

// diffSiblings adds the edits for siblings.
func (p *planner) diffSiblings(s siblings) error {
	if s.unchanged() {
		return nil
	}
	if err := p.align(&s); err != nil {
		return err
	}
	taken := make([]bool, len(s.ys))
	for i, j := range s.to {
		if j == align.None {
			p.edits = append(p.edits, datacenter.Edit{Op: datacenter.RemoveNode, Node: s.xs[i].number})
			continue
		}
		taken[j] = true
		if err := p.diff(s.xs[i].oldNode, s.ys[j].newRef); err != nil {
			return err
		}
	}
	return p.order(&s, taken)
}

// unchanged tells that all is as it was, which costs little to find out.
func (s *siblings) unchanged() bool {
	if len(s.xs) != len(s.ys) {
		return false
	}
	for i, x := range s.xs {
		if y := s.ys[i]; y.at >= 0 || y.old.number != x.number {
			return false
		}
	}
	return true
}

// align finds out what belongs together.
func (p *planner) align(s *siblings) error {
	s.to = make([]int32, len(s.xs))
	for i := range s.to {
		s.to[i] = align.None
	}
	s.alignEqual()
	keys, err := p.keysOf(s)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		err = p.alignByKeys(s, keys)
	} else {
		err = p.alignByContent(s)
	}
	if err == nil {
		s.alignByPlace()
	}
	return err
}

// alignEqual takes what was found to be equal when the text was read.
func (s *siblings) alignEqual() {
	var places map[datacenter.Number]int32
	next := int32(0)
	for j, y := range s.ys {
		if y.at >= 0 {
			continue
		}
		if int(next) < len(s.xs) && s.xs[next].number == y.old.number {
			s.to[next] = int32(j)
			next++
			continue
		}
		if places == nil {
			places = make(map[datacenter.Number]int32, len(s.xs))
			for i, x := range s.xs {
				places[x.number] = int32(i)
			}
		}
		if i, ok := places[y.old.number]; ok {
			s.to[i] = int32(j)
			next = i + 1
		}
	}
}

// keysOf gives the key definition that orders siblings.
func (p *planner) keysOf(s *siblings) (datacenter.KeyDefinition, error) {
	if len(s.xs) > 0 {
		keys, _, err := p.oldKeys(s.xs[0].oldNode)
		return keys, err
	}
	keys, has, _, err := p.wantedKeys(s.ys[0].newRef)
	if has || err != nil {
		return keys, err
	}
	return p.typesHere().keys(), nil
}

// rest gives the places of what is not aligned yet.
func (s *siblings) rest() (xs, ys []int32) {
	taken := make([]bool, len(s.ys))
	for i, j := range s.to {
		if j == align.None {
			xs = append(xs, int32(i))
		} else {
			taken[j] = true
		}
	}
	for j := range s.ys {
		if !taken[j] {
			ys = append(ys, int32(j))
		}
	}
	return xs, ys
}

// match aligns what is left by hashes.
func (s *siblings) match(xs, ys []int32, p, q []uint64) {
	to := make([]int32, len(xs))
	for i := range to {
		to[i] = align.None
	}
	align.InTurn(p, q, to)
	for i, j := range to {
		if j != align.None {
			s.to[xs[i]] = ys[j]
		}
	}
}

// alignByKeys aligns what has equal keys. All of ys need the hashes of their keys, for
// their order.
func (p *planner) alignByKeys(s *siblings, def datacenter.KeyDefinition) error {
	names := p.namesOf(def)
	s.classes = make([]uint64, len(s.ys))
	for j := range s.ys {
		h, _, err := p.newHash(s.ys[j].newRef, names)
		if err != nil {
			return err
		}
		s.classes[j] = h
	}
	xs, ys := s.rest()
	hx, _, err := p.oldHashes(s, xs, names)
	if err != nil {
		return err
	}
	hy := make([]uint64, len(ys))
	for i, j := range ys {
		hy[i] = s.classes[j]
	}
	s.match(xs, ys, hx, hy)
	return nil
}

func (p *planner) namesOf(def datacenter.KeyDefinition) []vocab.NameID {
	names := make([]vocab.NameID, len(def))
	for i, name := range def {
		names[i] = p.names.id([]byte(name))
	}
	return names
}

// alignByContent aligns what has no keys: by an id, if no two have the same, else what
// is equal, which may have moved.
func (p *planner) alignByContent(s *siblings) error {
	xs, ys := s.rest()
	if len(xs) == 0 || len(ys) == 0 || len(xs)+len(ys) == 2 && s.between(xs[0], ys[0]) {
		return nil
	}
	id := []vocab.NameID{p.names.id([]byte("id"))}
	hx, all, err := p.oldHashes(s, xs, id)
	if err != nil {
		return err
	}
	hy, allNew, err := p.newHashes(s, ys, id)
	if err != nil {
		return err
	}
	if !all || !allNew || !distinct(hx) || !distinct(hy) {
		if hx, _, err = p.oldHashes(s, xs, nil); err != nil {
			return err
		}
		if hy, _, err = p.newHashes(s, ys, nil); err != nil {
			return err
		}
	}
	s.match(xs, ys, hx, hy)
	return nil
}

// between tells whether what is next to a place in xs belongs to what is on the same
// side of one in ys. Then it is only a matter of the place, whatever both hold.
func (s *siblings) between(i, j int32) bool {
	for k := i - 1; k >= 0; k-- {
		if s.to[k] != align.None {
			if s.to[k] > j {
				return false
			}
			break
		}
	}
	for _, k := range s.to[i+1:] {
		if k != align.None {
			return k > j
		}
	}
	return true
}

func distinct(hashes []uint64) bool {
	seen := make(map[uint64]struct{}, len(hashes))
	for _, h := range hashes {
		seen[h] = struct{}{}
	}
	return len(seen) == len(hashes)
}

// alignByPlace aligns what lies between the same two that stay where they are.
func (s *siblings) alignByPlace() {
	stays := align.Ascending(s.to)
	stay := make([]int32, len(s.to))
	left := 0
	for i, j := range s.to {
		switch {
		case j == align.None:
			left++
			stay[i] = align.None
		case stays[i]:
			stay[i] = j
		default:
			stay[i] = moved
		}
	}
	if left == 0 {
		return
	}
	taken := make([]bool, len(s.ys))
	for _, j := range s.to {
		if j != align.None {
			taken[j] = true
		}
	}
	j := 0 // in ys, what comes before is aligned or too early
	for i := 0; i < len(stay); {
		end, jEnd := i, len(s.ys)
		for end < len(stay) && stay[end] < 0 {
			end++
		}
		if end < len(stay) {
			jEnd = int(stay[end])
		}
		for ; i < end; i++ {
			if stay[i] == moved {
				continue
			}
			for j < jEnd && taken[j] {
				j++
			}
			if j < jEnd {
				s.to[i] = int32(j)
				s.rekeyed = s.classes != nil
				j++
			}
		}
		i, j = end+1, jEnd+1
	}
}

// moved marks what is aligned, but not in order.
const moved = align.None - 1
