package tabletree

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"lorefs/internal/flight"
	"lorefs/nodes"
)

// markEvery is for how many rows one place is kept.
const markEvery = 64

// measured is a file of rows as far as it matters: its size, and where each markEvery-th row begins.
type measured struct {
	size  int64
	marks []int64
}

// lines has the files of rows that were measured.
type lines struct {
	loads flight.Group[nodes.ID, *measured]

	mu    sync.Mutex // guards files
	files map[nodes.ID]*measured
}

// known returns what is known of a file, or nil.
func (l *lines) known(id nodes.ID) *measured {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[id]
}

// measure writes all rows of a file once.
func (t *Tree) measure(ctx context.Context, id nodes.ID) (*measured, error) {
	if m := t.lines.known(id); m != nil {
		return m, nil
	}
	i, form, ok := t.table(id)
	if !ok {
		return nil, nodes.NotExist(id)
	}
	return t.lines.loads.Do(ctx, id, func(ctx context.Context) (*measured, error) {
		if m := t.lines.known(id); m != nil {
			return m, nil
		}
		one, err := t.Open(ctx, i)
		if err != nil {
			return nil, err
		}
		m := &measured{}
		b := one.AppendHead(nil, form)
		for row := range one.Len() {
			if row%markEvery == 0 {
				m.marks = append(m.marks, m.size+int64(len(b)))
				m.size, b = m.size+int64(len(b)), b[:0]
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			if b, err = one.AppendRow(b, form, row); err != nil {
				return nil, t.inFile(i, err)
			}
		}
		m.size += int64(len(b))
		t.keep(id, m.size)
		t.lines.mu.Lock()
		defer t.lines.mu.Unlock()
		if t.lines.files == nil {
			t.lines.files = map[nodes.ID]*measured{}
		}
		t.lines.files[id] = m
		return m, nil
	})
}

// inFile names the file in the error of a table.
func (t *Tree) inFile(i int, err error) error { return fmt.Errorf("%s: %w", t.tables[i].File, err) }

// readLines reads from a file of rows.
func (t *Tree) readLines(ctx context.Context, id nodes.ID, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	m, err := t.measure(ctx, id)
	if err != nil {
		return 0, notEnd(err)
	}
	if off >= m.size {
		return 0, io.EOF
	}
	i, form, _ := t.table(id)
	one, err := t.Open(ctx, i)
	if err != nil {
		return 0, notEnd(err)
	}
	// Begin at the last mark that is not behind off; the head is before the first.
	mark, found := slices.BinarySearch(m.marks, off)
	if !found {
		mark--
	}
	at, row := int64(0), 0
	var b []byte
	if mark >= 0 {
		at, row = m.marks[mark], mark*markEvery
	} else {
		b = one.AppendHead(b, form)
	}
	want := min(off+int64(len(p)), m.size)
	for ; row < one.Len() && at+int64(len(b)) < want; row++ {
		if b, err = one.AppendRow(b, form, row); err != nil {
			return 0, t.inFile(i, err)
		}
		if passed := off - at; row%markEvery == markEvery-1 && int64(len(b)) < passed {
			at, b = at+int64(len(b)), b[:0]
		}
	}
	n = copy(p, b[min(off-at, int64(len(b))):])
	if off+int64(n) >= m.size && n < len(p) {
		return n, io.EOF
	}
	if n < len(p) {
		return n, fmt.Errorf("%s changed since it was measured: %w", t.tables[i].File, nodes.ErrChanged)
	}
	return n, nil
}

// Stream implements [nodes.Streamer]: rows are written once, and not measured before.
func (t *Tree) Stream(ctx context.Context, id nodes.ID, w io.Writer) (n int64, ok bool, err error) {
	i, form, ok := t.table(id)
	if err := t.check(ctx); err != nil || !ok {
		return 0, false, err
	}
	one, err := t.Open(ctx, i)
	if err != nil {
		return 0, true, notEnd(err)
	}
	c := counter{ctx: ctx, w: w}
	if err := one.Write(&c, form); err != nil {
		if c.err == nil {
			err = t.inFile(i, err)
		}
		return c.n, true, notEnd(err)
	}
	return c.n, true, t.opts.Check()
}

// counter counts what is written, and ends when its context does.
type counter struct {
	ctx context.Context //nolint:containedctx // io.Writer takes no context
	w   io.Writer
	n   int64
	err error
}

func (c *counter) Write(p []byte) (n int, err error) {
	if c.err = c.ctx.Err(); c.err == nil {
		n, c.err = c.w.Write(p)
		c.n += int64(n)
	}
	return n, c.err
}
