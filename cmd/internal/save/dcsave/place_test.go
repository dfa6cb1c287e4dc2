package dcsave

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/savetest"
	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/verify"
	"lorefs/internal/source"
)

// The tests edit the children of one sheet, each of which has its own name and one attribute. The
// model of a file has the values of the attributes by the names of the nodes.
const (
	sheetName     = "Sheet"
	attributeName = "v"
	// sheet is the number of the sheet: only the root comes before it.
	sheet edit.Number = 1
)

type model = savetest.Model

// first is the first content of a place.
func first() model { return model{"A": "a0", "B": "b0", "C": "c0"} }

// build makes a file of a model, with about pad more bytes that can't be compressed.
func build(m model, pad int) []byte {
	sheet := &dctest.Node{Name: sheetName}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: name, Attrs: []dctest.Attr{{Name: attributeName, Value: m[name]}}})
	}
	root := dctest.Root(sheet, others())
	r := rand.New(rand.NewPCG(1, 2))
	for pad > 0 {
		text := make([]uint16, min(pad/2, 30_000)+1)
		for i := range text {
			text[i] = uint16(r.IntN(0xD000) + 1)
		}
		pad -= 2 * len(text)
		root.Children = append(root.Children, &dctest.Node{Name: "Tail", Attrs: []dctest.Attr{{Name: attributeName, Value: text}}})
	}
	return dctest.Build(dctest.Doc{Root: root}, dctest.Options{})
}

// others returns a sheet with all names that the tests give to nodes, and so many nodes that a save
// of a few edits can splice the file.
func others() *dctest.Node {
	const nodes = 600
	n := &dctest.Node{Name: "Tail"}
	for i := range nodes {
		n.Children = append(n.Children, &dctest.Node{
			Name: string(rune('A' + i*26/nodes)), Attrs: []dctest.Attr{{Name: attributeName, Value: fmt.Sprint("other ", i)}},
		})
	}
	return n
}

// place is a folder with a source, and a state folder.
type place struct {
	t    *testing.T
	dir  string // where the source lies
	path string
	// state is the folder that XDG_STATE_HOME names.
	state string
	// how says how the sessions save. The counter counts the files that their saves have spliced, of
	// sessions without a Logger of their own.
	how save.How
	*splicedCounter
}

func newPlace(t *testing.T, pad int) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{
		t: t, dir: filepath.Join(base, "source"), state: filepath.Join(base, "state"),
		splicedCounter: newSplicedCounter(),
	}
	p.path = filepath.Join(p.dir, "a.dat")
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", p.state)
	p.put(build(first(), pad))
	return p
}

// put replaces the source, as another program does.
func (p *place) put(data []byte) {
	p.t.Helper()
	temp := filepath.Join(p.dir, "put")
	if err := errors.Join(os.WriteFile(temp, data, 0o600), os.Rename(temp, p.path)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) bytes() []byte {
	p.t.Helper()
	b, err := os.ReadFile(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// journal returns the path of the source's journal.
func (p *place) journal() string {
	p.t.Helper()
	path, err := Kind.JournalPath(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

// all are the kinds of journals that the tests make.
var all = save.Kinds{Kind}

// drop drops the edits of a source, and returns their number.
func drop(path string) (edits int, err error) {
	j, err := all.Find(path)
	if err == nil {
		err = j.Drop()
	}
	return j.Edits, err
}

// describe describes the journal, as Find does.
func (p *place) describe() save.Journal {
	p.t.Helper()
	j, err := all.Find(p.journal())
	if err != nil {
		p.t.Fatal(err)
	}
	return j
}

func (p *place) hasJournal() bool {
	_, err := os.Lstat(p.journal())
	return err == nil
}

// want checks that a file is intact and has the content of a model.
func (p *place) want(path string, m model) {
	p.t.Helper()
	got, err := read(p.t.Context(), path)
	if err != nil {
		p.t.Fatal(err)
	}
	if !maps.Equal(got, m) {
		p.t.Errorf("%s holds %v, want %v", filepath.Base(path), got, m)
	}
}

// read checks a file against all rules and returns its model.
func read(ctx context.Context, path string) (model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	for finding, err := range verify.File(ctx, f, info.Size(), datacenter.Options{}) {
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %v", path, finding)
	}
	dc, err := datacenter.Open(ctx, f, info.Size(), datacenter.Options{})
	if err != nil {
		return nil, err
	}
	root, err := dc.Root()
	if err != nil {
		return nil, err
	}
	m := model{}
	for top, err := range root.Children() {
		if err != nil || top.Name() != sheetName {
			return m, err
		}
		for n, err := range top.Children() {
			if err != nil {
				return nil, err
			}
			if err := addTo(m, n); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// addTo adds a node to a model. A node that is there twice is an error.
func addTo(m model, n datacenter.Node) error {
	if _, twice := m[n.Name()]; twice || n.AttributeCount() != 1 {
		return fmt.Errorf("%s comes twice, or has %d attributes", n.Name(), n.AttributeCount())
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return err
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return err
		}
		m[n.Name()] = string(text)
	}
	return nil
}

// splicedCounter counts the files that are spliced, as its logger is told.
type splicedCounter struct {
	slog.Handler
	spliced atomic.Int32
}

func newSplicedCounter() *splicedCounter { return &splicedCounter{Handler: slog.DiscardHandler} }

func (c *splicedCounter) logger() *slog.Logger { return slog.New(c) }

// Enabled implements [slog.Handler].
func (*splicedCounter) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (c *splicedCounter) Handle(_ context.Context, r slog.Record) error {
	if r.Message == splicedMessage {
		c.spliced.Add(1)
	}
	return nil
}

// editing is a session and the place of its source.
type editing struct {
	*Session
	p   *place
	src *source.File
	dc  *datacenter.File
}

// open begins a session of the place's source.
func (p *place) open(o Options) (*editing, error) { return p.openAt(p.path, o) }

func (p *place) openAt(path string, o Options) (*editing, error) {
	if o.Logger == nil {
		o.Logger = p.logger()
	}
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	dc, err := datacenter.Open(p.t.Context(), src, src.Size(), datacenter.Options{})
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	s, err := Open(p.t.Context(), src, dc, o)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return &editing{s, p, src, dc}, nil
}

func (p *place) mustOpen(o Options) *editing {
	p.t.Helper()
	e, err := p.open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

// close ends a session without saving.
func (e *editing) close() {
	e.p.t.Helper()
	if err := errors.Join(e.Close(), e.src.Close()); err != nil {
		e.p.t.Error(err)
	}
}

// set gives a node a value, and makes the node if it is missing. It removes the node if the value
// is empty.
func (e *editing) set(name, value string) error {
	d := e.Draft()
	if err := d.Open(sheet); err != nil {
		return err
	}
	var edits []edit.Edit
	child, there := d.Child(sheet, name, 0)
	if value == "" {
		return d.Apply(e.p.t.Context(), edit.Edit{Op: edit.RemoveNode, Node: child.Number})
	}
	if !there {
		child.Number = d.NewNumber()
		edits = append(edits, edit.Edit{Op: edit.AddNode, Node: child.Number, Parent: sheet, Name: name})
	}
	v, err := datacenter.StringValue(value)
	if err != nil {
		return err
	}
	return d.Apply(e.p.t.Context(), append(edits,
		edit.Edit{Op: edit.SetAttribute, Node: child.Number, Name: attributeName, Value: v})...)
}

func (e *editing) mustSet(name, value string) {
	e.p.t.Helper()
	if err := e.set(name, value); err != nil {
		e.p.t.Fatal(err)
	}
}

func (e *editing) save() (save.Report, error) {
	return e.Save(e.p.t.Context(), e.p.how, func(save.Progress) {})
}

func (e *editing) mustSave() save.Report {
	e.p.t.Helper()
	r, err := e.save()
	if err != nil {
		e.p.t.Fatal(err)
	}
	return r
}

// only checks that the folder of the source has these files and no others.
func (p *place) only(names ...string) {
	p.t.Helper()
	var got []string
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		p.t.Errorf("in the folder are %v, want %v", got, names)
	}
}
