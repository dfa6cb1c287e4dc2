package packettree

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"lorefs/nodes"
	"lorefs/protocol/dissect"
)

// linesEnd follows a name in the name of the file with its packets.
const linesEnd = ".jsonl"

// markEvery is for how many lines one place is kept.
const markEvery = 64

// lines is a file of lines as far as it is known: of all packets, or of those of one name.
type lines struct {
	// numbers are those of the packets; nil for all packets.
	numbers []uint32
	n       int
	size    int64
	// marks says where each markEvery-th line begins.
	marks []int64
}

func (l *lines) add(line *dissect.Line) {
	if l.n%markEvery == 0 {
		l.marks = append(l.marks, l.size)
	}
	l.n++
	l.size += int64(line.Text)
}

func (l *lines) number(k int) int {
	if l.numbers == nil {
		return k
	}
	return int(l.numbers[k])
}

// span is a packet, and where its line begins in what is read.
type span struct {
	number, at, size int
}

// within returns the lines of n bytes from off on.
func (l *lines) within(s *session, off int64, n int) (list []span) {
	k, found := slices.BinarySearch(l.marks, off)
	if !found {
		k--
	}
	at := l.marks[k]
	for k *= markEvery; k < l.n && at < off+int64(n); k++ {
		i := l.number(k)
		size := int(s.size(i).Load() - 1)
		if at+int64(size) > off {
			list = append(list, span{i, int(at - off), size})
		}
		at += int64(size)
	}
	return list
}

// measured describes the lines of the packets from 0 on.
type measured struct {
	// turn is held by the one who measures.
	turn chan struct{}

	mu sync.RWMutex // guards the fields below
	// n is the number of packets that are known.
	n     int
	all   lines
	names []*lines // by place
	tally dissect.Tally
	// summary is the content of summary.json for summed packets.
	summary []byte
	summed  int
}

func (m *measured) init() {
	m.turn = make(chan struct{}, 1)
	m.summed = -1
}

// measure decodes the packets of a session that are not known yet. If it is stopped, the next
// one goes on from there.
func (m *measured) measure(ctx context.Context, s *session) error {
	if m.known() >= s.len() {
		return nil
	}
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-m.turn }()
	for b, err := range s.recording.Lines(ctx, dissect.Selection{From: m.known(), To: s.len()}) {
		if err != nil {
			return notEnd(err)
		}
		m.add(s, b)
	}
	return nil
}

func (m *measured) known() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.n
}

func (m *measured) add(s *session, b *dissect.Block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range b.Lines {
		line := &b.Lines[i]
		s.size(line.Number).Store(uint32(line.Text) + 1)
		m.all.add(line)
		place := s.recording.Code(line.Code).Place
		for len(m.names) <= place {
			m.names = append(m.names, &lines{})
		}
		m.names[place].numbers = append(m.names[place].numbers, uint32(line.Number))
		m.names[place].add(line)
		m.tally.Add(line)
		m.n = line.Number + 1
	}
}

// file returns what is known of a file of lines. The caller holds mu.
func (m *measured) file(id nodes.ID) *lines {
	if id == linesID {
		return &m.all
	}
	if _, place := split(id); place < len(m.names) {
		return m.names[place]
	}
	return &lines{}
}

// size returns the size of a file of lines as far as it is known.
func (m *measured) size(id nodes.ID) int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.file(id).size
}

// isLines reports whether a node is a file of lines.
func (t *Tree) isLines(s *session, id nodes.ID) bool {
	k, i := split(id)
	return s != nil && (id == linesID || k == kindName && i < len(s.recording.Names()))
}

// linesEntry describes a file of lines. With lazy set, its size may be left out.
func (t *Tree) linesEntry(ctx context.Context, s *session, id nodes.ID, lazy bool) (nodes.Entry, error) {
	e := nodes.Entry{Name: linesName, ID: id, Kind: nodes.File, Size: nodes.UnknownSize}
	if k, i := split(id); k == kindName {
		e.Name = s.recording.Names()[i] + linesEnd
	}
	if lazy && t.measured.known() < s.len() {
		return e, nil
	}
	err := t.measured.measure(ctx, s)
	e.Size = t.measured.size(id)
	return e, err
}

// readLines reads from a file of lines.
func (t *Tree) readLines(ctx context.Context, id nodes.ID, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	if off+int64(len(p)) > t.measured.size(id) {
		if err := t.measured.measure(ctx, t.now.Load()); err != nil {
			return 0, err
		}
	}
	s := t.now.Load() // has all that is measured
	t.measured.mu.RLock()
	size := t.measured.file(id).size
	var list []span
	if off < size {
		list = t.measured.file(id).within(s, off, len(p))
	}
	t.measured.mu.RUnlock()
	r := s.take()
	defer s.put(r)
	for _, line := range list {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		c, err := t.copyLine(ctx, s, r, p, line)
		n += c
		if err != nil {
			return n, err
		}
	}
	if n < len(p) && off+int64(n) >= size {
		return n, io.EOF
	}
	return n, nil
}

// copyLine puts the part of a line that is asked for in its place in p.
func (t *Tree) copyLine(ctx context.Context, s *session, r *reader, p []byte, line span) (n int, err error) {
	if line.at < 0 || line.at+line.size > len(p) {
		text, err := t.cached(ctx, makeID(kindJSON, line.number))
		if err == nil && len(text) != line.size {
			err = wrongSize(line)
		}
		if err != nil {
			return 0, notEnd(err)
		}
		return copy(p[max(line.at, 0):], text[max(-line.at, 0):]), nil
	}
	text, err := s.text(r, line.number)
	if err == nil && len(text) != line.size {
		err = wrongSize(line)
	}
	if err != nil {
		return 0, err
	}
	return copy(p[line.at:], text), nil
}

func wrongSize(line span) error {
	return fmt.Errorf("packet %d changed since it was decoded: %w", line.number, nodes.ErrChanged)
}

// Stream implements [nodes.Streamer]: packets are decoded on all cores.
func (t *Tree) Stream(ctx context.Context, file nodes.ID, w io.Writer) (n int64, ok bool, err error) {
	s := t.now.Load()
	if err := t.check(ctx); err != nil || !t.isLines(s, file) {
		return 0, false, err
	}
	want := s.recording.All()
	if k, place := split(file); k == kindName {
		want.Code = func(c *dissect.Code) bool { return c.Place == place }
	}
	for b, err := range s.recording.Lines(ctx, want) {
		if err != nil {
			return n, true, notEnd(err)
		}
		c, err := w.Write(b.Text)
		n += int64(c)
		if err != nil {
			return n, true, err
		}
	}
	return n, true, t.opts.Check()
}
