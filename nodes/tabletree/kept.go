package tabletree

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"maps"
	"sync"

	"lorefs/internal/cache"
	"lorefs/nodes"
)

// keptKind must change whenever the bytes of a file of rows change, or what is kept of it.
const keptKind = "client table sizes 1"

// made identifies the bytes of a file of rows: it is a hash of all that they are made from.
type made [sha256.Size]byte

// keptSize is the size of what is kept of a file: made, and its size.
const keptSize = sha256.Size + 8

// mostKept is how many sizes are kept of one source, those of other builds and definitions included.
const mostKept = 1 << 16

// kept are the sizes of files of rows, also those of runs before.
type kept struct {
	begin sync.Once

	mu sync.Mutex // guards the fields below
	// sizes has all, and own those of the files of this tree.
	sizes, own map[made]int64
	// fresh is set if some were not saved yet.
	fresh bool
	// sums are the hashes of definitions, by the places of tables.
	sums map[int]string
}

// keptID is where they are kept.
func (t *Tree) keptID() cache.ID {
	return cache.ID{Kind: keptKind, Of: sha256.Sum256([]byte(t.opts.Source))}
}

// made returns what a file of rows is made from. ok is false if nobody can tell.
func (t *Tree) made(id nodes.ID) (m made, ok bool) {
	i, form, ok := t.table(id)
	if !ok || t.opts.Index == nil || t.tables[i].Key == nil {
		return m, false
	}
	key := t.tables[i].Key()
	sum, known := t.definitionSum(i)
	if key == "" || !known {
		return m, false
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %v %d %d %q", key, t.tables[i].Name, sum, t.opts.Build, t.opts.Locale, form, t.opts.Secrets)), true
}

// definitionSum returns a hash of the definition of a table. It is not known if the table's own hash says
// which definition it has.
func (t *Tree) definitionSum(i int) (sum string, known bool) {
	if t.opts.Library == nil {
		return "", true
	}
	t.kept.mu.Lock()
	sum, known = t.kept.sums[i]
	t.kept.mu.Unlock()
	if known {
		return sum, sum != ""
	}
	sum, err := t.opts.Library.Sum(t.tables[i].Name)
	if err != nil {
		return "", false // who reads the table says why
	}
	t.kept.mu.Lock()
	defer t.kept.mu.Unlock()
	if t.kept.sums == nil {
		t.kept.sums = map[int]string{}
	}
	t.kept.sums[i] = sum
	return sum, sum != ""
}

// keptSize returns the size of a file of rows that a run before has kept.
func (t *Tree) keptSize(id nodes.ID) (size int64, ok bool) {
	m, ok := t.made(id)
	if !ok {
		return 0, false
	}
	t.kept.begin.Do(t.loadKept)
	t.kept.mu.Lock()
	defer t.kept.mu.Unlock()
	if size, ok = t.kept.sizes[m]; ok {
		t.kept.own[m] = size
	}
	return size, ok
}

// loadKept loads what runs before have kept.
func (t *Tree) loadKept() {
	k := &t.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sizes, k.own = map[made]int64{}, map[made]int64{}
	data, err := t.keptID().Load(t.opts.Index)
	if errors.Is(err, iofs.ErrNotExist) {
		return
	}
	if err == nil && len(data)%keptSize != 0 {
		err = fmt.Errorf("%d bytes, want %d for each", len(data), keptSize)
	}
	if err != nil {
		t.opts.Logger.Warn("the sizes of client tables are damaged and found anew", slog.Any("err", err))
		return
	}
	for ; len(data) > 0; data = data[keptSize:] {
		k.sizes[made(data[:sha256.Size])] = int64(binary.LittleEndian.Uint64(data[sha256.Size:]))
	}
}

// keep notes the size of a file of rows. When all are known, they are saved, so that a crash does not
// lose them.
func (t *Tree) keep(id nodes.ID, size int64) {
	m, ok := t.made(id)
	if !ok {
		return
	}
	k := &t.kept
	k.begin.Do(t.loadKept)
	k.mu.Lock()
	k.sizes[m], k.own[m] = size, size
	k.fresh = true
	all := len(k.own) == 2*len(t.tables)
	k.mu.Unlock()
	if all {
		t.Keep()
	}
}

// Keep saves the sizes that were found since the last time. Whoever made the tree should call it at the
// end.
func (t *Tree) Keep() {
	k := &t.kept
	k.mu.Lock()
	fresh, list := k.fresh, k.own
	if len(k.sizes) <= mostKept {
		list = k.sizes
	}
	k.fresh, list = false, maps.Clone(list)
	k.mu.Unlock()
	if !fresh {
		return
	}
	id := t.keptID()
	b := id.Begin(len(list) * keptSize)
	for m, size := range list {
		b = binary.LittleEndian.AppendUint64(append(b, m[:]...), uint64(size))
	}
	if err := id.Save(t.opts.Index, cache.Seal(b)); err != nil {
		t.opts.Logger.Warn("the sizes of client tables can't be saved", slog.Any("err", err))
	}
}
