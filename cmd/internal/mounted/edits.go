package mounted

import (
	"context"
	"fmt"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
)

// edits sends the client what is edited and not saved.
func (m *Mount) edits(ctx context.Context, r *daemon.Request, c *daemon.Client) Answer {
	a := Answer{Left: m.source.LeftOut()}
	for _, e := range m.source.SessionsOf(r.Source) {
		a.Edits += e.Pending()
	}
	return m.failing(a, m.source.WriteEdits(ctx, output{c}, kinds.EditsFormat(r.Format), r.Source, r.Paths...))
}

// revert takes edits back, and sends the client what they were.
func (m *Mount) revert(ctx context.Context, r *daemon.Request, c *daemon.Client) Answer {
	if m.source.Sessions == nil {
		return Answer{Error: fmt.Sprintf("%s is mounted read-only", m.opts.Dir)}
	}
	back, err := m.source.Revert(ctx, r.Source, r.Paths, r.All)
	a := Answer{Edits: int64(len(back.Edits) + len(back.Texts))}
	if writeErr := back.Write(output{c}, kinds.EditsFormat(r.Format)); err == nil {
		err = writeErr
	}
	return m.failing(a, err)
}

// failing returns an answer with the error of the request, if there is one.
func (m *Mount) failing(a Answer, err error) Answer {
	if err != nil {
		a.Error, a.Code = m.opts.Tell(err), m.opts.Code(err)
	}
	return a
}

// discard gives up everything that is not saved, after the mount is gone.
func (m *Mount) discard() error {
	m.saves.running.Lock() // a commit that was begun ends first
	defer m.saves.running.Unlock()
	m.last.Left = m.source.LeftOut()
	for _, e := range m.source.Sessions {
		m.last.Discarded = append(m.last.Discarded, Begun{Path: e.Path(), Edits: e.Pending()})
	}
	err := m.source.Discard()
	m.last = m.failing(m.last, err)
	return err
}
