package patch

import (
	"fmt"
	"slices"
	"strings"
)

// Merged is what two versions of a patch become.
type Merged struct {
	// Conflicts are the parts that both versions have changed, and not alike.
	Conflicts []Unmerged
	// Parts is how many parts of blocks it has.
	Parts  int
	pieces []piece
	header []Field
	notes  []string
}

// Unmerged is a part that two versions of a patch have changed, and not alike.
type Unmerged struct {
	// Name of an attribute, %keys or %flags; empty for a whole node.
	Path, Name string
	// Ours and Theirs are the lines of both, empty where there are none.
	Ours, Theirs string
}

// Side is the side of a conflict [Merge] takes.
type Side uint8

// The sides.
const (
	Neither Side = iota
	Ours
	Theirs
)

// piece is a part of a patch that is merged as a whole: a line of a change, or a node that is added or removed.
type piece struct {
	key   string
	block *Block
	// line is the one of a change, else nil.
	line *Line
	// conflicted says that the versions do not agree about it.
	conflicted bool
}

// text are its lines.
func (p *piece) text() string {
	switch {
	case p == nil:
		return ""
	case p.line != nil:
		return string(p.line.append(nil))
	}
	b := *p.block
	b.Notes, b.Contexts = nil, nil
	return string(b.Append(nil))
}

// pieces returns those of a patch, by their keys and in their order.
func (p *Patch) pieces() (order []piece, byKey map[string]*piece, err error) {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if b.Kind != Change {
			order = append(order, piece{key: fmt.Sprintf("%s %s", b.Kind, b.Path.Text), block: b})
			if last := &order[len(order)-1]; b.Kind == Add {
				last.key = "add " + b.addedName()
			}
			continue
		}
		for k := range b.Lines {
			l := &b.Lines[k]
			order = append(order, piece{key: fmt.Sprintf("change %s %s", b.Path.Text, l.Label()), block: b, line: l})
		}
	}
	byKey = map[string]*piece{}
	for i := range order {
		x := &order[i]
		if first := byKey[x.key]; first != nil {
			at := x.block.Line
			if x.line != nil {
				at = x.line.At
			}
			return nil, nil, &SyntaxError{File: p.Name, Line: at, What: fmt.Sprintf("the block of line %d does the same: want one of them", first.block.Line)}
		}
		byKey[x.key] = x
	}
	return order, byKey, nil
}

// Merge merges two versions of a patch that were made of a base. Each part is merged by itself, so lines that
// only stand side by side do not conflict. Of what the versions agree about, ours has the context and the order.
func Merge(base, ours, theirs *Patch, prefer Side) (*Merged, error) {
	_, was, err := base.pieces()
	if err != nil {
		return nil, err
	}
	mine, we, err := ours.pieces()
	if err != nil {
		return nil, err
	}
	others, they, err := theirs.pieces()
	if err != nil {
		return nil, err
	}
	m := &Merged{header: ours.Header, notes: ours.Notes}
	if slices.Equal(ours.Header, base.Header) {
		m.header = theirs.Header
	}
	if slices.Equal(ours.Notes, base.Notes) {
		m.notes = theirs.Notes
	}
	for _, key := range mergedKeys(mine, others) {
		m.take(was[key], we[key], they[key], prefer)
	}
	return m, nil
}

// mergedKeys returns the keys of both: those of ours in their order, and each other one behind the one before it.
func mergedKeys(ours, theirs []piece) (keys []string) {
	behind := map[string][]string{} // which keys of theirs come behind a key of ours
	has := map[string]bool{}
	for i := range ours {
		has[ours[i].key] = true
	}
	last := ""
	for i := range theirs {
		if key := theirs[i].key; has[key] {
			last = key
		} else {
			behind[last] = append(behind[last], key)
		}
	}
	keys = behind[""]
	for i := range ours {
		keys = append(append(keys, ours[i].key), behind[ours[i].key]...)
	}
	return keys
}

// take merges a part, of which each version may have none.
func (m *Merged) take(was, ours, theirs *piece, prefer Side) {
	before, a, b := was.text(), ours.text(), theirs.text()
	chosen := ours
	switch {
	case a == b || b == before:
	case a == before:
		chosen = theirs
	case prefer == Theirs:
		chosen = theirs
	case prefer == Neither:
		some := *ours.or(theirs)
		u := Unmerged{Path: some.block.Path.Text, Ours: a, Theirs: b}
		if some.line != nil {
			u.Name = some.line.Label()
		}
		m.Conflicts = append(m.Conflicts, u)
		some.conflicted = true
		m.pieces = append(m.pieces, some)
		m.Parts++
		return
	}
	if chosen != nil {
		m.pieces = append(m.pieces, *chosen)
		m.Parts++
	}
}

func (p *piece) or(q *piece) *piece {
	if p != nil {
		return p
	}
	return q
}

// Append appends the merged patch as a file. Conflicts stand between the marks of git, so that no command takes
// it before they are resolved.
func (m *Merged) Append(dst []byte) []byte {
	whole := (&Patch{Header: m.header, Notes: m.notes}).Append(nil)
	head, end, _ := strings.Cut(string(whole), "\n\n")
	dst = append(append(dst, head...), "\n\n"...)
	conflicts := m.Conflicts
	last := "" // the path of the block that is open
	for i := range m.pieces {
		x := &m.pieces[i]
		if x.block.Kind != Change {
			last = ""
		} else if x.block.Path.Text != last {
			last = x.block.Path.Text
			b := *x.block
			b.Lines = nil
			dst = b.Append(dst)
		}
		switch {
		case x.conflicted:
			u := &conflicts[0]
			conflicts = conflicts[1:]
			dst = fmt.Appendf(dst, "<<<<<<< ours\n%s=======\n%s>>>>>>> theirs\n", u.Ours, u.Theirs)
		case x.line != nil:
			dst = x.line.append(dst)
		default:
			dst = x.block.Append(dst)
		}
	}
	return append(dst, end...)
}
