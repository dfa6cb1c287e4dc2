// Package repeat finds elements of sheets that repeat others. Most of a real folder has been read
// before: four of five start tags, and nearly half of all bytes as whole elements. To compare an
// element with the one that it is likely to repeat is much faster than to read it.
//
// Without [Memory] packing all sheets takes twice the time. Without [Shapes] it takes 1.4 times as long, and
// validating twice.
package repeat

import (
	"bytes"
	"encoding/binary"

	"lorefs/datacenter/internal/prefix"
	"lorefs/datacenter/sheets/internal/intern"
)

const (
	// window is how many bytes of sheets are remembered, with the current one. A larger sheet is
	// remembered alone.
	window = 8 << 20
	// mostTags is how many bytes of start tags are remembered. Then they are forgotten: more would be
	// of little use, and slower, because they would not stay in the CPU's cache.
	mostTags = 4 << 20
	// mostElements is how many elements are remembered, a power of two.
	mostElements = 1 << 15
	// comparisons bounds the bytes that are compared for each byte of a sheet. Real sheets take one;
	// some could be made that take one for each level of nesting.
	comparisons = 8
)

// Memory remembers elements and start tags of the sheets that were read lately. K is what its caller
// knows of an element, or of a start tag.
//
// An element repeats another if it has the same bytes in a parent of the same group at the same depth.
// For a start tag, depth makes no difference. The caller has to choose the groups so that then they
// mean the same, and must say which do not.
//
// A Memory is for one goroutine. The zero value is empty.
type Memory[K any] struct {
	tags  intern.Table // the note of each is its place in known
	known []tag[K]
	// elements is a ring. next is the number of the one that is remembered next, less one.
	elements []element[K]
	next     uint32
	// sheets are those that are remembered; first is the number of the first one. The last one is
	// current.
	sheets []sheet
	first  uint32
	// buffer is a ring in which texts lie, and taken what is taken for the next one.
	buffer []byte
	taken  span
	open   []open

	// The current sheet has the same bytes as another, shifted, up to same.
	same  int
	of    uint32
	shift int
	// budget is how many bytes may still be compared in the current sheet.
	budget int

	// found has what Find found last: the number of an element or none, what is known of it, and where
	// it repeats it.
	found number
	what  K
	at    int
}

// number is one more than the number of an element, of those ever remembered, or none.
type number uint32

const none number = 0

// tag is a start tag: what is known of it, and the last element with it.
type tag[K any] struct {
	what K
	last number
}

// element is one that is remembered.
type element[K any] struct {
	sheet, from uint32
	// length counts the bytes of the whole element, tag those of the start tag.
	length, tag uint32
	group       uint32
	depth       uint16
	// plain is set if the start tag means the same elsewhere, and whole if all of the element does.
	plain, whole bool
	// behind is the next element that is not inside this one. first is the first one inside, if there
	// is one. For an element that was passed over, that is inside the one that it repeated.
	behind, first number
	what          K
}

// open is an element that is not ended.
type open struct {
	number number
	// like is the element that the next child is likely to repeat.
	like  number
	plain bool // as far as it has been read
}

// sheet is one that is remembered, and what it takes of the buffer.
type sheet struct {
	text  []byte
	taken span
}

// span is a part of the buffer.
type span struct{ from, to int }

// Room returns memory for the next sheet, without bytes but with a capacity. It forgets the sheets that
// lie there.
func (m *Memory[K]) Room(size int) []byte {
	if size > window {
		m.forget(len(m.sheets))
		m.taken = span{}
		return make([]byte, 0, size)
	}
	if m.buffer == nil {
		m.buffer = make([]byte, window)
	}
	from := m.taken.to
	if from+size > window {
		m.forgetFrom(from, window)
		from = 0
	}
	m.taken = span{from, from + size}
	m.forgetFrom(from, from+size)
	return m.buffer[from:from:m.taken.to]
}

// forgetFrom forgets the sheets in a part of the buffer, which are the oldest ones, and those that lie
// elsewhere.
func (m *Memory[K]) forgetFrom(from, to int) {
	n := 0
	for n < len(m.sheets) {
		at := m.sheets[n].taken
		if at.from < at.to && (at.to <= from || to <= at.from) {
			break
		}
		n++
	}
	m.forget(n)
}

// forget forgets the first n sheets.
func (m *Memory[K]) forget(n int) {
	clear(m.sheets[:n])
	m.sheets = m.sheets[n:]
	m.first += uint32(n)
}

// Sheet begins a sheet for which Room was called. Its text must not be changed.
func (m *Memory[K]) Sheet(text []byte) {
	m.sheets = append(m.sheets, sheet{text, m.taken})
	m.open = m.open[:0]
	m.same, m.found = 0, none
	m.budget = comparisons * len(text)
}

// text returns the current sheet.
func (m *Memory[K]) text() []byte { return m.sheets[len(m.sheets)-1].text }

// Find looks for an element that repeats another, or at least its start tag, and returns the length of
// what repeats, or 0. The element begins at an offset of the current sheet, and is a child of the open
// element that was begun last.
func (m *Memory[K]) Find(from int, group uint32) (length int, whole bool) {
	m.at, m.found = from, none
	if length, whole = m.repeats(m.open[len(m.open)-1].like, group); length > 0 {
		return length, whole
	}
	text := m.text()[from:]
	start := text[:bytes.IndexByte(text, '>')+1]
	at, ok := m.tags.Find(group, start)
	if !ok {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(m.tags.Note(at))
	if length, whole = m.repeats(m.known[n].last, group); length > 0 {
		return length, whole
	}
	m.what = m.known[n].what
	return len(start), false
}

// Known returns what is known of what Find found.
func (m *Memory[K]) Known() *K { return &m.what }

// repeats is Find for an element that it may repeat.
func (m *Memory[K]) repeats(n number, group uint32) (length int, whole bool) {
	e := m.element(n)
	if e == nil || e.group != group || !e.plain {
		return 0, false
	}
	same := m.common(e)
	switch {
	case e.whole && int(e.length) <= same && int(e.depth) == len(m.open):
		length, whole = int(e.length), true
	case int(e.tag) <= same:
		length = int(e.tag)
	default:
		return 0, false
	}
	m.found, m.what = n, e.what
	return length, whole
}

// element returns an element, or nil if it is forgotten.
func (m *Memory[K]) element(n number) *element[K] {
	if n == none || m.next-uint32(n) >= mostElements {
		return nil
	}
	if e := &m.elements[uint32(n)%mostElements]; e.sheet >= m.first {
		return e
	}
	return nil
}

// common returns how many bytes of the current sheet are those of an element and of what follows it.
func (m *Memory[K]) common(e *element[K]) int {
	shift := m.at - int(e.from)
	if m.at < m.same && m.of == e.sheet && m.shift == shift {
		return m.same - m.at
	}
	if m.budget < 0 {
		return 0
	}
	n := prefix.Common(m.text()[m.at:], m.sheets[e.sheet-m.first].text[e.from:])
	m.budget -= n
	m.same, m.of, m.shift = m.at+n, e.sheet, shift
	return n
}

// Pass remembers the whole element that Find found.
func (m *Memory[K]) Pass() {
	e := *m.element(m.found)
	e.sheet, e.from = m.current(), uint32(m.at)
	m.open[len(m.open)-1].like = e.behind
	n := m.add(e)
	m.elements[uint32(n)%mostElements].behind = n + 1
}

// current returns the number of the current sheet.
func (m *Memory[K]) current() uint32 { return m.first + uint32(len(m.sheets)) - 1 }

// add remembers an element.
func (m *Memory[K]) add(e element[K]) number {
	if m.elements == nil {
		m.elements = make([]element[K], mostElements)
	}
	m.next++
	m.elements[m.next%mostElements] = e
	return number(m.next)
}

// Begin begins an element whose start tag has a length. recalled is set if Find has found it. plain
// must be set only if the tag means the same wherever it stands, and its first > is its end.
func (m *Memory[K]) Begin(at, length int, group uint32, recalled, plain bool, what K) {
	like := m.found
	if !recalled {
		like = none
	}
	if top := len(m.open) - 1; top >= 0 {
		if like == none { // it has another start tag than the one that it was likely to repeat
			like = m.open[top].like
		}
		if e := m.element(like); e != nil {
			m.open[top].like, like = e.behind, e.first
		}
	}
	n := m.add(element[K]{
		sheet: m.current(), from: uint32(at), tag: uint32(length), group: group, depth: uint16(len(m.open)), plain: plain, what: what,
	})
	m.elements[uint32(n)%mostElements].first = n + 1
	m.open = append(m.open, open{number: n, like: like, plain: plain})
	if plain {
		m.remember(m.text()[at:at+length], group, n, recalled, what)
	}
}

// remember remembers a start tag.
func (m *Memory[K]) remember(start []byte, group uint32, n number, recalled bool, what K) {
	if recalled && m.found != none || len(start) > intern.MaxString {
		return
	}
	if m.tags.Size()+len(start) > mostTags {
		m.tags.Reset()
		m.known = m.known[:0]
	}
	at, isNew := m.tags.Add(group, start)
	note := m.tags.Note(at)
	if isNew {
		binary.LittleEndian.PutUint32(note, uint32(len(m.known)))
		m.known = append(m.known, tag[K]{what: what})
	}
	m.known[binary.LittleEndian.Uint32(note)].last = n
}

// Spoil says that the open element that was begun last does not mean the same where it is repeated, and
// neither do those around it.
func (m *Memory[K]) Spoil() { m.open[len(m.open)-1].plain = false }

// End ends the open element that was begun last, at an offset.
func (m *Memory[K]) End(at int, what K) {
	top := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	if e := m.element(top.number); e != nil {
		e.length, e.what, e.whole, e.behind = uint32(at)-e.from, what, top.plain, number(m.next+1)
	}
	if len(m.open) > 0 && !top.plain {
		m.Spoil()
	}
}
