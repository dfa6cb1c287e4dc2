package far

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/internal/flight"
)

// MaxGap is how many bytes between two files that will be read are fetched with them, because
// another request would take longer.
const MaxGap = 64 << 10

const (
	// maxRow is how many bytes of small files are fetched at once. They stay in memory until
	// they are read.
	maxRow = 2 << 20
	// maxRowFiles is how many files are fetched at once, since one reader reads all of them.
	maxRowFiles = 512
)

// fileRow are files that lie close to each other in an archive, in the order of their places.
type fileRow struct {
	files []index.GroupEntry
	// brought says that they were fetched together. What is not there any more then, because
	// it came wrong or was read already, is fetched alone.
	brought atomic.Bool
	// failed says that nothing of it came, however often the hosts were asked.
	failed atomic.Bool
	// again has the files that will be read more than once, since several names lead to them. The
	// last of them that was read is held until its reader goes on.
	again map[keys.Short]bool
	last  atomic.Pointer[keys.Key]
}

// setLast keeps a file until the next one is read, if it will be read again.
func (r *fileRow) setLast(f *Object) {
	f.ofRow = r.again[f.Key.Short()]
	now := &f.Key
	if !f.ofRow {
		now = nil
	}
	if old := r.last.Swap(now); old != nil && *old != f.Key {
		f.chunks.drop(*old, whole)
	}
}

// remoteRows are the rows of files that will be read soon, in the order of their places.
type remoteRows struct {
	all      atomic.Pointer[[]*fileRow]
	bringing flight.Group[*fileRow, struct{}]
}

// Rows prepares a storage that is far away for reading all of many encoded files, which are
// given by the beginnings of their keys. It returns their numbers in rows. The files of a row
// are fetched together when the first of them is opened, so one reader should read all of
// them, in their order; several rows may be read at the same time. The next call forgets them.
func (a *Archives) Rows(ctx context.Context, keys [][]byte) ([][]int, error) {
	t, err := a.indexes.get(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var p rowPlan
	for i, key := range keys {
		if err == nil { // or else reading the files says so
			if e, ok := t.group.First(key); ok {
				p.wanted = append(p.wanted, wantedFile{e, i})
				continue
			}
		}
		p.numbers = append(p.numbers, []int{i})
	}
	p.divide()
	a.rows.all.Store(&p.rows)
	return p.numbers, nil
}

// wantedFile is a file to be read, with its number.
type wantedFile struct {
	index.GroupEntry
	number int
}

// rowPlan divides files into rows.
type rowPlan struct {
	wanted []wantedFile
	rows   []*fileRow
	// numbers are those of the files of each row, behind those that are in no archive.
	numbers [][]int
}

func (p *rowPlan) divide() {
	slices.SortFunc(p.wanted, func(a, b wantedFile) int { return comparePlaces(&a.GroupEntry, &b.GroupEntry) })
	var row *fileRow
	end := int64(0)
	for i := range p.wanted {
		w := &p.wanted[i]
		if row == nil || !row.takes(&w.GroupEntry, end) {
			row, end = &fileRow{again: map[keys.Short]bool{}}, 0
			p.rows, p.numbers = append(p.rows, row), append(p.numbers, nil)
		}
		last := len(p.numbers) - 1
		p.numbers[last] = append(p.numbers[last], w.number)
		if n := len(row.files); n > 0 && comparePlaces(&row.files[n-1], &w.GroupEntry) == 0 {
			row.again[w.Key] = true
			continue
		}
		row.files = append(row.files, w.GroupEntry)
		end = max(end, w.Off+w.Size)
	}
}

func comparePlaces(a, b *index.GroupEntry) int {
	return cmp.Or(cmp.Compare(a.Archive, b.Archive), cmp.Compare(a.Off, b.Off))
}

// takes reports whether a file belongs into a row, which ends at end.
func (r *fileRow) takes(e *index.GroupEntry, end int64) bool {
	first := &r.files[0]
	return e.Archive == first.Archive && e.Off <= end+MaxGap && max(end, e.Off+e.Size)-first.Off <= maxRow && len(r.files) < maxRowFiles
}

// row returns the row with a file, or nil.
func (r *remoteRows) row(e *index.GroupEntry) *fileRow {
	all := r.all.Load()
	if all == nil {
		return nil
	}
	i := sort.Search(len(*all), func(i int) bool { return comparePlaces(&(*all)[i].files[0], e) > 0 }) - 1
	if i < 0 {
		return nil
	}
	row := (*all)[i]
	_, has := slices.BinarySearchFunc(row.files, e, func(f index.GroupEntry, e *index.GroupEntry) int { return comparePlaces(&f, e) })
	if !has {
		return nil
	}
	return row
}

// bring fetches the row of a file, and returns it, or nil if it is in none. The error is why the
// context has ended: what did not come is fetched alone, which tells why it can't be had. If that is
// true of the whole row, one try is enough for each.
func (a *Archives) bring(ctx context.Context, archive keys.Key, e index.GroupEntry) (*fileRow, error) {
	row := a.rows.row(&e)
	if row == nil || len(row.files) == 1 || row.brought.Load() {
		return row, nil
	}
	_, err := a.rows.bringing.Do(ctx, row, func(ctx context.Context) (struct{}, error) {
		if !row.brought.Load() {
			a.bringRow(ctx, archive, row)
			row.brought.Store(ctx.Err() == nil)
		}
		return struct{}{}, ctx.Err()
	})
	return row, err
}

// bringRow fetches a row, and keeps what came until it is read.
func (a *Archives) bringRow(ctx context.Context, archive keys.Key, row *fileRow) {
	x, err := a.indexes.read(ctx, archive)
	if err != nil {
		return
	}
	var files []File
	for i := range row.files {
		// The table has only the beginnings of keys.
		e, _, ok := x.Find(row.files[i].Key[:])
		if _, here := a.chunks.get(e.Key, whole); !ok || here || e.Off != row.files[i].Off || e.Size != row.files[i].Size || e.Size == 0 {
			continue
		}
		_, named := a.named[row.files[i].Key]
		files = append(files, File{Key: e.Key, Archive: archive, Off: e.Off, Size: e.Size, Own: named})
	}
	if len(files) == 0 {
		return
	}
	parts, err := a.from.Together(ctx, archive, files, func(i int, b []byte) error { return proveWhole(b, files[i].Key) })
	if err != nil {
		row.failed.Store(true)
		a.indexes.log.Debug("files could not be fetched together", "archive", archive, "err", err)
	}
	for i, b := range parts {
		if b != nil {
			a.chunks.put(files[i].Key, whole, b)
		}
	}
}
