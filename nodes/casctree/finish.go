package casctree

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/internal/cache"
	"lorefs/internal/cores"
)

// finish sorts everything and writes the table. The builder can't be used afterwards.
func (b *builder) finish(ctx context.Context, id cache.ID) (t *table, sealed []byte, err error) {
	order, from := b.byDir()
	b.sortDirs(order, from)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	dirs := b.orderDirs()
	for d := range b.dirs {
		b.markStandIns(order[from[d]:from[d+1]])
		if err := b.nameApart(order[from[d]:from[d+1]]); err != nil {
			return nil, nil, err
		}
	}
	if err := b.avoidDirs(order, from); err != nil {
		return nil, nil, err
	}
	b.sortIDs()
	t, sealed, err = b.write(id, order, from, dirs)
	if err == nil {
		t.faults = b.faults
	}
	return t, sealed, err
}

// sortIDs sorts the IDs of files, and those of one ID like files of one name.
func (b *builder) sortIDs() {
	slices.SortFunc(b.ids.files, func(i, j awaited) int {
		if c := cmp.Compare(i.number, j.number); c != 0 {
			return c
		}
		x, y := b.files.at(int(i.file)), b.files.at(int(j.file))
		return cmp.Or(x.rank()-y.rank(), x.distance()-y.distance(), cmp.Compare(i.file, j.file))
	})
}

// byDir returns all files grouped by directory, and where each directory's begin.
func (b *builder) byDir() (order, from []uint32) {
	from = make([]uint32, len(b.dirs)+1)
	for i := range b.files.len {
		from[b.files.at(i).dir+1]++
	}
	for d := range b.dirs {
		from[d+1] += from[d]
	}
	next := slices.Clone(from)
	order = make([]uint32, b.files.len)
	for i := range b.files.len {
		at := &next[b.files.at(i).dir]
		order[*at] = uint32(i)
		*at++
	}
	return order, from
}

// sortDirs sorts the files of each directory, on all processors because it is most of the
// work.
func (b *builder) sortDirs(order, from []uint32) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range cores.Count() {
		wg.Go(func() {
			for {
				d := int(next.Add(1)) - 1
				if d >= len(b.dirs) {
					return
				}
				b.sortFiles(order[from[d]:from[d+1]])
			}
		})
	}
	wg.Wait()
}

// sortFiles sorts files by name. Of one name, the file that the game loads comes first,
// then the one in the right language or one that stands for it, then the root's order.
func (b *builder) sortFiles(files []uint32) {
	slices.SortFunc(files, func(i, j uint32) int {
		x, y := b.files.at(int(i)), b.files.at(int(j))
		if c := compareNames(b.name(x), b.name(y)); c != 0 {
			return c
		}
		return cmp.Or(x.rank()-y.rank(), x.distance()-y.distance(), cmp.Compare(i, j))
	})
}

// rank is root.ContentFlags.Rank of the file.
func (x *buildFile) rank() int { return int(x.state >> stateRankBit) }

// distance returns how far the language of the file is from the storage's.
func (x *buildFile) distance() int {
	switch {
	case x.state&statePreferred != 0:
		return 0
	case x.state&stateFallback != 0:
		return 1
	}
	return 2
}

// orderDirs returns the directories level by level, and by name within a directory.
func (b *builder) orderDirs() []uint32 {
	children := make([][]uint32, len(b.dirs))
	for d := 1; d < len(b.dirs); d++ {
		p := b.dirs[d].parent
		children[p] = append(children[p], uint32(d))
	}
	dirs := make([]uint32, 1, len(b.dirs))
	for i := 0; i < len(dirs); i++ {
		in := children[dirs[i]]
		slices.SortFunc(in, func(x, y uint32) int { return compareNames([]byte(b.dirs[x].name), []byte(b.dirs[y].name)) })
		dirs = append(dirs, in...)
	}
	return dirs
}

// maxCompared is how many files of one name another is compared with. There are as many as
// languages.
const maxCompared = 64

// nameApart gives all but the first of the files with one name in a directory names of
// their own, except for stand-ins, and drops those with equal content.
func (b *builder) nameApart(files []uint32) error {
	renamed := false
	for first := 0; first < len(files); {
		end := first + 1
		name := b.name(b.files.at(int(files[first])))
		for end < len(files) && bytes.Equal(b.name(b.files.at(int(files[end]))), name) {
			end++
		}
		n := 1
		for i := first + 1; i < end; i++ {
			x := b.files.at(int(files[i]))
			before := files[first:min(i, first+maxCompared)]
			if same := b.findSame(before, x); same >= 0 {
				x.state |= stateDropped
				x.dir = before[same] // which stands for it
				continue
			}
			if b.standsIn(before, x) {
				x.flags |= flagStandIn
				continue
			}
			n++
			if err := b.rename(x, appendOrdinal(bytes.Clone(name), n)); err != nil {
				return err
			}
			renamed = true
		}
		first = end
	}
	if renamed {
		b.sortFiles(files)
	}
	return nil
}

// markStandIns marks stand-ins in roots that have the language at the end of names: NAME:enUS
// if there is NAME:enGB.
func (b *builder) markStandIns(files []uint32) {
	if !b.only || b.locale.Fallback() == 0 {
		return
	}
	for _, i := range files {
		x := b.files.at(int(i))
		at := bytes.LastIndexByte(b.name(x), ':')
		if x.distance() != 1 || at < 0 {
			continue
		}
		wanted := append(bytes.Clone(b.name(x)[:at+1]), b.locale.String()...)
		n, _ := slices.BinarySearchFunc(files, wanted, func(i uint32, name []byte) int {
			return compareFolded(b.name(b.files.at(int(i))), name)
		})
		if n == len(files) {
			continue
		}
		if y := b.files.at(int(files[n])); compareFolded(b.name(y), wanted) == 0 && y.distance() == 0 {
			x.flags |= flagStandIn
		}
	}
}

// standsIn reports whether x is for a language that stands for the one that the user wants,
// and one of files is for that itself.
func (b *builder) standsIn(files []uint32, x *buildFile) bool {
	return b.only && x.distance() == 1 && slices.ContainsFunc(files, func(i uint32) bool { return b.files.at(int(i)).distance() == 0 })
}

// findSame returns which of files has the content of x and is not dropped, or -1.
func (b *builder) findSame(files []uint32, x *buildFile) int {
	return slices.IndexFunc(files, func(i uint32) bool {
		y := b.files.at(int(i))
		if y.state&stateDropped != 0 || y.size != x.size || y.flags&^flagStandIn != x.flags&^flagStandIn {
			return false
		}
		return y.key == x.key || x.flags&(flagForms|flagSpans) != 0 && bytes.Equal(b.moreOf(x), b.moreOf(y))
	})
}

// moreOf returns the records that a file refers to.
func (b *builder) moreOf(x *buildFile) []byte {
	size := spanSize
	if x.flags&flagForms != 0 {
		size = len(x.key.Short())
	}
	at := int(binary.LittleEndian.Uint32(x.key[:]))
	return b.further[at : at+1+size*int(b.further[at])]
}

func (b *builder) rename(x *buildFile, name []byte) error {
	at, ok := b.names.add(name)
	if !ok || len(name) > maxName {
		return fmt.Errorf("casctree: %w: another %s", errTooMany, name)
	}
	x.name, x.nameLen = at, uint8(len(name))
	return nil
}

// avoidDirs renames files that have the name of a directory.
func (b *builder) avoidDirs(order, from []uint32) error {
	for d := 1; d < len(b.dirs); d++ {
		name, p := []byte(b.dirs[d].name), b.dirs[d].parent
		files := order[from[p]:from[p+1]]
		at, found := slices.BinarySearchFunc(files, name, func(i uint32, name []byte) int {
			return compareNames(b.name(b.files.at(int(i))), name)
		})
		if !found {
			continue
		}
		for ; at < len(files); at++ {
			x := b.files.at(int(files[at]))
			if !bytes.Equal(b.name(x), name) {
				break
			}
			if x.state&stateDropped == 0 {
				if err := b.rename(x, appendOrdinal(bytes.Clone(name), 0)); err != nil {
					return err
				}
			}
		}
		b.sortFiles(files)
	}
	return nil
}

// write writes the table into the frame of a cached file.
func (b *builder) write(id cache.ID, order, from, dirs []uint32) (t *table, sealed []byte, err error) {
	var sizes struct{ files, dirNames, fileNames int }
	for i := range b.files.len {
		if x := b.files.at(i); x.state&stateDropped == 0 {
			sizes.files++
			sizes.fileNames += int(x.nameLen)
		}
	}
	for d := range b.dirs {
		sizes.dirNames += len(b.dirs[d].name)
	}
	if max(sizes.dirNames, sizes.fileNames) > maxTableString {
		return nil, nil, fmt.Errorf("casctree: %w: %d bytes", errTooMany, max(sizes.dirNames, sizes.fileNames))
	}
	parts := sections(len(b.dirs), sizes.files, sizes.dirNames, sizes.fileNames, len(b.further), len(b.ids.files))
	w := tableWriter{b: b, data: id.Begin(tableHead + sum(parts[:]))}
	at := len(w.data)
	w.head(len(b.dirs), sizes.files, sizes.dirNames, sizes.fileNames)
	for i := range w.parts {
		w.parts[i] = w.data[len(w.data):][:0:parts[i]]
		w.data = w.data[:len(w.data)+parts[i]]
	}
	w.tree(order, from, dirs)
	copy(w.data[at+tableHead:][sum(parts[:5]):], b.further)
	t, err = openTable(w.data[at:])
	return t, cache.Seal(w.data), err
}

func sum(sizes []int) (total int) {
	for _, n := range sizes {
		total += n
	}
	return total
}

// tableWriter fills the parts of a table, whose sizes in data are fixed.
type tableWriter struct {
	b     *builder
	data  []byte
	parts [7][]byte
}

func (w *tableWriter) head(dirs, files, dirNames, fileNames int) {
	var kind [kindSize]byte
	copy(kind[:], w.b.kind)
	w.data = append(w.data, kind[:]...)
	c := &w.b.counts
	for _, n := range [...]int{dirs, files, dirNames, fileNames, len(w.b.further), c.rootRows, c.named, c.unnamed, len(w.b.ids.files)} {
		w.data = binary.LittleEndian.AppendUint32(w.data, uint32(n))
	}
}

// tree writes the directories in order, each with its files.
func (w *tableWriter) tree(order, from, dirs []uint32) {
	le := binary.LittleEndian
	number := make([]uint32, len(dirs)) // of a directory of the builder
	children := make([]uint32, len(dirs))
	for n, d := range dirs {
		number[d] = uint32(n)
		if n > 0 {
			children[w.b.dirs[d].parent]++
		}
	}
	nextDir, files := uint32(1), uint32(0)
	numbers := make([]uint32, w.b.files.len) // of the files of the builder
	dirRecord := func(parent uint32) {
		for _, v := range [...]uint32{uint32(len(w.parts[3])), parent, nextDir, files} {
			w.parts[0] = le.AppendUint32(w.parts[0], v)
		}
	}
	for _, d := range dirs {
		dirRecord(number[w.b.dirs[d].parent])
		w.parts[3] = append(w.parts[3], w.b.dirs[d].name...)
		nextDir += children[d]
		for _, i := range order[from[d]:from[d+1]] {
			x := w.b.files.at(int(i))
			if x.state&stateDropped != 0 {
				continue
			}
			numbers[i] = files
			files++
			w.parts[1] = le.AppendUint32(w.parts[1], uint32(len(w.parts[4])))
			w.parts[2] = append(append(append(w.parts[2], x.flags), x.key[:len(x.key.Short())]...), x.size[:]...)
			w.parts[4] = append(w.parts[4], w.b.name(x)...)
		}
	}
	dirRecord(0)
	w.parts[1] = le.AppendUint32(w.parts[1], uint32(len(w.parts[4])))
	w.ids(numbers)
}

// ids writes the IDs, with the numbers that files of the builder have in the table.
func (w *tableWriter) ids(numbers []uint32) {
	for _, f := range w.b.ids.files {
		i := f.file
		if x := w.b.files.at(int(i)); x.state&stateDropped != 0 {
			i = x.dir
		}
		w.parts[6] = binary.LittleEndian.AppendUint32(w.parts[6], uint32(f.number))
		w.parts[6] = binary.LittleEndian.AppendUint32(w.parts[6], numbers[i])
	}
}
