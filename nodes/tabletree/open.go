package tabletree

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/internal/flight"
)

// Opened is a table with its rows.
type Opened struct {
	*db2.View
	Table *db2.Table
	// By says how the version of the definition was chosen; it is empty if there is none, and then
	// Why is the reason.
	By  dbd.By
	Why error

	bytes int64 // of memory
}

// ErrUnnamed means that nothing gives the columns of a table names.
var ErrUnnamed = errors.New("no definition")

// rowMemory is what a row takes besides the file.
const rowMemory = 12

// opened keeps the tables that were used last.
type opened struct {
	loads flight.Group[int, *Opened]

	mu            sync.Mutex // guards the fields below; never held while a table is read
	lru           *simplelru.LRU[int, *Opened]
	bytes, budget int64
	// told is set once somebody knows that a table has no definition.
	told bool
}

func (o *opened) init(budget int64) {
	lru, err := simplelru.NewLRU[int, *Opened](1<<31-1, nil)
	if err != nil {
		panic(fmt.Sprintf("tabletree: BUG: %v", err))
	}
	o.lru, o.budget = lru, budget
}

func (o *opened) get(i int) (*Opened, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lru.Get(i)
}

// add keeps a table. Of those that are too many the ones go that were used longest ago, but never
// the last one: a read of a large table wants it again soon.
func (o *opened) add(i int, one *Opened) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lru.Add(i, one)
	o.bytes += one.bytes
	for o.bytes > o.budget && o.lru.Len() > 1 {
		_, old, _ := o.lru.RemoveOldest()
		o.bytes -= old.bytes
	}
}

// Open opens a table.
func (t *Tree) Open(ctx context.Context, i int) (*Opened, error) {
	if one, ok := t.opened.get(i); ok {
		return one, nil
	}
	return t.opened.loads.Do(ctx, i, func(ctx context.Context) (*Opened, error) {
		if one, ok := t.opened.get(i); ok { // loaded since
			return one, nil
		}
		data, err := t.tables[i].Read(ctx)
		if err != nil {
			return nil, err
		}
		one, err := t.read(i, data)
		if err == nil {
			t.opened.add(i, one)
		}
		return one, err
	})
}

// tell tells of the first table that has no definition.
func (t *Tree) tell(i int, one *Opened) {
	if one.Why == nil {
		return
	}
	t.opened.mu.Lock()
	told := t.opened.told
	t.opened.told = true
	t.opened.mu.Unlock()
	if !told {
		t.opts.Unnamed(t.tables[i].Name, one.Why)
	}
}

// read joins the content of a file with the definition, if there is one that fits.
func (t *Tree) read(i int, data []byte) (*Opened, error) {
	one, err := t.join(i, data)
	if err != nil {
		return nil, t.inFile(i, err)
	}
	t.tell(i, one)
	return one, nil
}

func (t *Tree) join(i int, data []byte) (*Opened, error) {
	table, err := db2.Parse(data)
	if err != nil {
		return nil, err
	}
	one := &Opened{Table: table, Why: ErrUnnamed}
	version, by, err := t.version(i, &table.Header)
	if err != nil {
		one.Why = err // a damaged definition hides no table
	}
	o := db2.Options{Locale: t.opts.Locale}
	if version != nil {
		o.Columns, one.By, one.Why = version.Columns, by, nil
	}
	one.View, err = table.View(o)
	if errors.Is(err, db2.ErrDefinition) {
		one.By, one.Why = "", err
		o.Columns = nil
		one.View, err = table.View(o)
	}
	if err != nil {
		return nil, err
	}
	one.bytes = int64(len(data)) + int64(one.Len())*rowMemory
	return one, nil
}

// version chooses the version of the definition of a table. It is nil if there is none.
func (t *Tree) version(i int, h *db2.Header) (*dbd.Version, dbd.By, error) {
	if t.opts.Library == nil {
		return nil, "", nil
	}
	d, err := t.opts.Library.Definition(t.tables[i].Name)
	if name := t.opts.Library.NameOfHash(h.Table); d == nil && err == nil && name != "" {
		d, err = t.opts.Library.Definition(name)
	}
	if d == nil || err != nil {
		return nil, "", err
	}
	version, by := d.Choose(h, t.opts.Build)
	if version == nil && h.Layout == 0 && t.opts.Build == (dbd.Build{}) {
		return nil, "", fmt.Errorf("%w without the build, which the table does not tell", ErrUnnamed)
	}
	if version == nil {
		return nil, "", fmt.Errorf("%w for layout %08X", ErrUnnamed, h.Layout)
	}
	return version, by, nil
}
