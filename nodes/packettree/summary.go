package packettree

import (
	"bytes"
	"context"

	"lorefs/internal/jsonout"
)

// summaryText returns the content of summary.json. It decodes the packets that nobody has
// asked for yet.
func (t *Tree) summaryText(ctx context.Context) ([]byte, error) {
	m := &t.measured
	s := t.now.Load()
	if err := m.measure(ctx, s); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.summed == m.n {
		return m.summary, nil
	}
	s = t.now.Load() // has all that is measured
	var b bytes.Buffer
	err := jsonout.Object(&b, m.tally.Summary(s.recording))
	m.summary, m.summed = b.Bytes(), m.n
	return m.summary, err
}
