package mounted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/fs"
)

// Answer is the answer of a mount to a request. Error is empty if the request succeeded.
type Answer struct {
	// More says that the answer goes on in the next frames.
	More bool `json:"more,omitempty"`
	// Data is a piece of the output of a command, and Progress how far a save is. Their frames
	// have nothing else.
	Data     []byte         `json:"data,omitempty"`
	Progress *save.Progress `json:"progress,omitempty"`

	// Code is the exit code that goes with Error; 0 if it is one that the command knows.
	Error  string  `json:"error,omitempty"`
	Code   int     `json:"code,omitempty"`
	Busy   bool    `json:"busy,omitempty"`
	Status *Status `json:"status,omitempty"`
	Opened *Opened `json:"opened,omitempty"`
	// Saved has a report of each session; it is empty if the mount is read-only.
	Saved []save.Report `json:"saved,omitempty"`
	// Left lists what the save did not write.
	Left kinds.LeftOut `json:"left,omitzero"`
	// Kept is the folder that will get the texts that are not saved by the end of the mount.
	Kept string `json:"kept,omitempty"`
	// Unsaved says that Error is about edits that were not saved, and NotSaved has the sources of
	// which they are.
	Unsaved  bool       `json:"unsaved,omitempty"`
	NotSaved []NotSaved `json:"not_saved,omitempty"`
	// Editing says that another answer follows when all is saved, and Begun what will be
	// saved.
	Editing bool    `json:"editing,omitempty"`
	Begun   []Begun `json:"begun,omitempty"`
	// Discarded lists what was given up, besides Left.
	Discarded []Begun `json:"discarded,omitempty"`
	// Edits is the number of edits that were listed, or of those and the texts that were taken
	// back.
	Edits int64 `json:"edits,omitempty"`
}

// left returns the part of the answer with what is not saved.
func (a *Answer) left() *kinds.LeftOut {
	if a.Status != nil && a.Status.Editing != nil {
		return &a.Status.Editing.LeftOut
	}
	return &a.Left
}

// textsAtOnce is the largest number of texts of a kind in a frame. Each has a path and a
// reason of some hundred bytes, at worst some thousand.
const textsAtOnce = 64

// sendTo sends the answer; many texts take several frames.
func (a Answer) sendTo(c *daemon.Client) error {
	left := a.left()
	for len(left.Refused) > textsAtOnce {
		if err := c.Send(Answer{More: true, Left: kinds.LeftOut{Refused: left.Refused[:textsAtOnce]}}); err != nil {
			return err
		}
		left.Refused = left.Refused[textsAtOnce:]
	}
	for len(left.Failed) > textsAtOnce {
		if err := c.Send(Answer{More: true, Left: kinds.LeftOut{Failed: left.Failed[:textsAtOnce]}}); err != nil {
			return err
		}
		left.Failed = left.Failed[textsAtOnce:]
	}
	return c.Send(a)
}

// output sends what is written to it as pieces of output, each of which should have some
// KiB at least.
type output struct{ to *daemon.Client }

// dataAtOnce is the largest number of bytes in a frame of Data.
const dataAtOnce = 256 << 10

func (o output) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, dataAtOnce) {
		if err := o.to.Send(Answer{More: true, Data: piece}); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// NextAnswer reads the frames of an answer. It calls meanwhile with those that have Data or
// Progress; nil means that there are none, or that they don't matter. If the process has
// ended the error is [daemon.ErrNone].
func NextAnswer(line *daemon.Line, meanwhile func(*Answer) error) (Answer, error) {
	refused, failed := []kinds.RefusedText{}, []kinds.RefusedText{}
	for {
		var a Answer
		if err := line.Next(&a); err != nil {
			return Answer{}, err
		}
		left := a.left()
		refused, failed = append(refused, left.Refused...), append(failed, left.Failed...)
		switch {
		case !a.More:
			left.Refused, left.Failed = refused, failed
			return a, nil
		case meanwhile != nil && (a.Data != nil || a.Progress != nil):
			if err := meanwhile(&a); err != nil {
				return Answer{}, err
			}
		}
	}
}

// Begun describes edits that will be saved once nobody uses the mount any more.
type Begun struct {
	Path  string `json:"path"`
	Edits int64  `json:"edits"`
	// Converts is the layout that the save will give the source, or empty if it does not
	// change.
	Converts string `json:"converts,omitempty"`
}

// AnswerOf returns the answer about a save; tell makes the text of its error. reports is
// empty if there was nothing to save.
func AnswerOf(reports []save.Report, left kinds.LeftOut, err error, tell func(error) string) Answer {
	a := Answer{Saved: reports, Left: left}
	if err != nil {
		a.Error = tell(err)
		var e *SaveError
		if e, a.Unsaved = errors.AsType[*SaveError](err); a.Unsaved {
			a.NotSaved = e.NotSaved()
		}
	}
	return a
}

// NotSaved returns the sources that could not be saved.
func (e *SaveError) NotSaved() (list []NotSaved) {
	for _, f := range e.Failed {
		list = append(list, NotSaved{f.Path, f.Err.Error()})
	}
	return list
}

// NotSaved is a source that could not be saved, and why.
type NotSaved struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Wrote reports whether something was saved.
func (a *Answer) Wrote() bool {
	return slices.ContainsFunc(a.Saved, func(r save.Report) bool { return r.Path != "" })
}

// Talk sends a request to the mount with a [daemon.Name], and reads the answer as
// [NextAnswer] does. If there is no error the line stays open.
func Talk(name string, r daemon.Request, meanwhile func(*Answer) error) (a Answer, line *daemon.Line, err error) {
	line, err = daemon.Talk(name, r)
	if err != nil {
		return Answer{}, nil, err
	}
	if a, err = NextAnswer(line, meanwhile); err != nil {
		return Answer{}, nil, errors.Join(err, line.Close())
	}
	return a, line, nil
}

// answer does what a request asks for. stays says that the caller waits for the end of the
// process.
func (m *Mount) answer(ctx context.Context, r daemon.Request, c *daemon.Client) (stays bool) {
	a := Answer{Error: fmt.Sprintf("unknown request %q", r.Do)}
	if r.Do != daemon.Status {
		m.asked.Add(1)
	}
	switch r.Do {
	case daemon.Status:
		a = Answer{Status: m.Status()}
	case daemon.Commit:
		saved := make(chan struct{})
		go func() {
			defer close(saved)
			a = m.commit(howOf(&r))
		}()
		m.follow(ctx, c, saved)
		m.settle(ctx)
	case daemon.Apply:
		a = m.apply(ctx, &r, c)
		m.settle(ctx)
	case daemon.Unmount:
		return m.unmount(ctx, &r, c)
	case daemon.Opened:
		a = m.opened()
	case daemon.Edits:
		a = m.edits(ctx, &r, c)
	case daemon.Revert:
		a = m.revert(ctx, &r, c)
		m.settle(ctx)
	}
	m.tell(c, &a)
	return false
}

// settleTime bounds how long an answer waits for the kernel, which may itself wait for a file on a
// server that is slow.
const settleTime = 5 * time.Second

// settle waits until the mount shows what a request has changed: whoever made that looks there next.
func (m *Mount) settle(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, settleTime)
	defer stop()
	m.server.Settle(ctx)
}

// tell sends an answer to a client, which may have gone.
func (m *Mount) tell(c *daemon.Client, a *Answer) {
	if err := a.sendTo(c); err != nil {
		m.opts.Logger.Debug("a client gets no answer", "err", err)
	}
}

// unmount unmounts, and tells the client what came of saving.
func (m *Mount) unmount(ctx context.Context, r *daemon.Request, c *daemon.Client) (stays bool) {
	before := m.ending.Swap(r)
	if err := m.served.Unmount(r.Lazy); err != nil {
		m.ending.Store(before)
		m.tell(c, &Answer{Error: err.Error(), Busy: errors.Is(err, syscall.EBUSY) || errors.Is(err, fs.ErrDetached)})
		return false
	}
	m.tell(c, m.granted(r.Lazy && !r.Discard))
	m.follow(ctx, c, m.saved)
	m.tell(c, &m.last)
	return true
}

// tellEvery is how often the progress of a save is sent.
const tellEvery = 200 * time.Millisecond

// follow sends the progress of a save until that is done, whether or not the client waits for
// it.
func (m *Mount) follow(ctx context.Context, c *daemon.Client, done <-chan struct{}) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			<-done
			return
		case <-tick.C:
			if s := m.saves.status(); s != nil {
				m.tell(c, &Answer{More: true, Progress: &s.Progress})
			}
		}
	}
}

// granted returns the answer to an unmount that will happen. A caller that does not wait for
// the end learns what there is to save.
func (m *Mount) granted(lazy bool) *Answer {
	a := &Answer{Editing: m.source.Sessions != nil}
	if !lazy || !a.Editing {
		return a
	}
	for _, e := range m.source.Sessions {
		if e.Pending() > 0 || e.Converts() != "" {
			a.Begun = append(a.Begun, Begun{e.Path(), e.Pending(), e.Converts()})
		}
	}
	a.Left, a.Kept = m.source.LeftOut(), kinds.RefusedPath()
	return a
}

// Listen starts to answer requests.
func (m *Mount) Listen() (*daemon.Control, error) {
	notes := daemon.Notes{Made: m.opts.Made}
	if len(m.source.Sessions) > 1 {
		notes.Beside = m.source.Sessions[1].Path()
	}
	return daemon.Listen(m.opts.Dir, notes, m.answer, m.opts.Logger)
}
