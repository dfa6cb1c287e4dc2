package dctree

import (
	"context"
	"fmt"
	"strings"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// OpenWrite implements [nodes.Mutable].
func (e *Editable) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	if err := e.opts.Check(); err != nil {
		return nil, err
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	c, err := e.content(ctx, id)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[id] = c
	return e.owner.Open(&c.Text, handle{e, c}), nil
}

// room tells whether a content can have a size, and takes it into account. The caller
// holds editing.
func (e *Editable) room(c *content, size int64) error {
	if err := editing.CheckSize(size, maxContent); err != nil {
		return err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if size <= c.Cap() {
		return nil
	}
	more := size + size/4 - c.Cap() // a text grows by more than it has to
	if e.texts+more > e.opts.MaxTexts {
		e.texts = 0 // it knows nothing of what was committed, or forgotten
		for _, c := range e.files {
			e.texts += c.Cap()
		}
	}
	if e.texts+more > e.opts.MaxTexts {
		return fmt.Errorf("%w: files that are no values yet have %d bytes together, where %d are the most", nodes.ErrNoSpace, e.texts, e.opts.MaxTexts)
	}
	e.texts += more
	return nil
}

// handle is a content that is open for writing.
type handle struct {
	e *Editable
	c *content
}

var _ editing.Refuser = handle{}

func (h handle) Hold(ctx context.Context) error   { return h.e.owner.Hold(ctx, h.c.id, &h.c.Text) }
func (h handle) Room(size int64) error            { return h.e.room(h.c, size) }
func (h handle) Touched()                         { h.e.times.Touch(h.c.id) }
func (h handle) Commit(ctx context.Context) error { return h.e.commit(ctx, h.c) }
func (h handle) Revert()                          { h.e.revert(h.c) }
func (h handle) Settle()                          { h.e.settle(h.c) }

// Incomplete tells of a new file, which is to be a value, that it is empty.
func (h handle) Incomplete() bool {
	c := h.c
	return !c.attribute && c.name != "" && !editing.IsScratch(c.name) && c.Size() == 0
}

// Refuse is the error of a text that the program goes on with from here, but which is
// hopeless.
func (h handle) Refuse(p []byte, off int64) error {
	e, c := h.e, h.c
	size := c.Size()
	if c.name == "" || editing.IsScratch(c.name) || off > size || off+int64(len(p)) < size {
		return nil
	}
	t, err := e.typeOf(c)
	if err != nil || t == 0 || t == datacenter.String {
		return err
	}
	return hopeless(t, string(c.Bytes()[:off])+string(p))
}

// hopeless is the error of a text that begins in a way in which no value of the
// type does. A line of nothing is taken for a value that is missing: shells write
// it for a variable that is not set, and look at no error but this.
func hopeless(t datacenter.Type, begin string) error {
	const spaces = " \t\n\v\f\r" // space around a number does not matter
	_, err := datacenter.ParseValue(t, begin)
	text := strings.TrimLeft(begin, spaces)
	if begin == "\n" && err != nil {
		return refusal(err)
	}
	if err == nil || text == "" || (!strings.ContainsRune(spaces, rune(text[len(text)-1])) && mayGrow(t, text)) {
		return nil
	}
	return refusal(err)
}

// mayGrow tells whether a text that is no value of the type may become one by what
// follows it.
func mayGrow(t datacenter.Type, text string) bool {
	switch t {
	case datacenter.Int:
		return text == "-" || text == "+"
	case datacenter.Bool:
		return strings.HasPrefix("true", text) || strings.HasPrefix("false", text)
	}
	other := func(r rune) bool { return !strings.ContainsRune("0123456789abcdefintxyABCDEFINTXY+-.()", r) }
	return !strings.ContainsFunc(text, other)
}
