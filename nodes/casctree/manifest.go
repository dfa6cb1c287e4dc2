package casctree

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"lorefs/casc"
	"lorefs/nodes"
)

// manifest is a directory of manifests/: a table of the storage as lines of JSON. Each of
// its files has a number of units, which are entries or pages of the encoding file.
type manifest struct {
	name   string
	number int
	// perFile is how many units a file has.
	perFile int
	// walk renders the units from one on, in order. A line includes its end, and is valid
	// until the next one.
	walk walker
	// units counts the units and renders none; nil if it can't. counted is 1 more than it
	// returned, 0 before.
	units   func(context.Context) (int, error)
	counted atomic.Int64
	// sizes are the sizes of the files, nil until they were measured.
	sizes atomic.Pointer[[]int64]
}

// eachLine is called with each line and its unit. It returns false to stop.
type eachLine func(unit int, line []byte) bool

const (
	entriesPerFile = 4096
	// filesPerBlock is how many files are rendered at once, because everything before them
	// in a root has to be read each time.
	filesPerBlock = 16
	pageSuffix    = ".jsonl"
	pageDigits    = 6
)

// known returns the number of files, or 0 if nobody has looked yet.
func (m *manifest) known() int {
	if sizes := m.sizes.Load(); sizes != nil {
		return len(*sizes)
	}
	return m.filesOf(max(int(m.counted.Load())-1, 0))
}

// filesOf returns how many files hold a number of units.
func (m *manifest) filesOf(units int) int { return (units + m.perFile - 1) / m.perFile }

// files returns the number of files. It renders them only if they can't be counted otherwise.
func (m *manifest) files(ctx context.Context, t *Tree) (int, error) {
	if m.units == nil {
		sizes, err := m.measure(ctx, t)
		return len(sizes), err
	}
	if m.sizes.Load() == nil && m.counted.Load() == 0 {
		n, err := m.units(ctx)
		if err != nil {
			return 0, fmt.Errorf("manifests/%s: %w", m.name, err)
		}
		m.counted.Store(int64(n) + 1)
	}
	return m.known(), nil
}

// measure returns the sizes of all files. The first time it renders them.
func (m *manifest) measure(ctx context.Context, t *Tree) ([]int64, error) {
	if sizes := m.sizes.Load(); sizes != nil {
		return *sizes, nil
	}
	// The cache makes others wait for the same work; the block itself is empty.
	_, err := block(ctx, t.opts.Blocks, m.blockNumber(measureBlock), func(ctx context.Context) ([]byte, error) {
		if m.sizes.Load() != nil {
			return nil, nil
		}
		sizes := make([]int64, m.known()) // so that each file that is listed has a size
		err := m.walk(ctx, 0, func(unit int, line []byte) bool {
			file := unit / m.perFile
			for len(sizes) <= file {
				sizes = append(sizes, 0)
			}
			sizes[file] += int64(len(line))
			return true
		})
		if err := cmp.Or(err, ctx.Err()); err != nil { // else a page that nobody waited for counts as damaged
			return nil, fmt.Errorf("manifests/%s: %w", m.name, err)
		}
		m.sizes.Store(&sizes)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	return *m.sizes.Load(), nil
}

// measureBlock is a number that no block of files has.
const measureBlock = 1<<pageShift - 1

func (m *manifest) blockNumber(n int) uint64 {
	return uint64(m.number+1)<<pageShift | uint64(n)
}

// page returns the content of a file.
func (m *manifest) page(ctx context.Context, t *Tree, n int) ([]byte, error) {
	sizes, err := m.measure(ctx, t)
	if err != nil {
		return nil, err
	}
	first := n / filesPerBlock * filesPerBlock
	in := sizes[first:min(first+filesPerBlock, len(sizes))]
	all, err := block(ctx, t.opts.Blocks, m.blockNumber(n/filesPerBlock), func(ctx context.Context) ([]byte, error) {
		return m.render(ctx, first, in)
	})
	if err != nil {
		return nil, err
	}
	for _, size := range in[:n-first] {
		all = all[size:]
	}
	return all[:sizes[n]], nil
}

// render renders files from a number on. Their sizes must be as measured.
func (m *manifest) render(ctx context.Context, first int, sizes []int64) ([]byte, error) {
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	end := (first + len(sizes)) * m.perFile
	b, file, fit := make([]byte, 0, total), 0, true
	left := sizes[0]
	err := m.walk(ctx, first*m.perFile, func(unit int, line []byte) bool {
		if unit >= end {
			return false
		}
		for file < unit/m.perFile-first {
			fit = fit && left == 0
			file++
			left = sizes[file]
		}
		left -= int64(len(line))
		fit = fit && left >= 0
		b = append(b, line...)
		return fit
	})
	if err == nil {
		err = ctx.Err() // else a page that nobody waited for counts as damaged
	}
	if err == nil && (!fit || int64(len(b)) != total) {
		err = nodes.ErrChanged
	}
	if err != nil {
		return nil, fmt.Errorf("manifests/%s: %w", m.name, err)
	}
	return b, nil
}

func (t *Tree) manifestEntries() []nodes.Entry {
	entries := make([]nodes.Entry, len(t.manifests))
	for i, m := range t.manifests {
		entries[i] = nodes.Entry{Name: m.name, ID: makeID(kindManifest, i), Kind: nodes.Dir, Next: uint64(i) + 1}
	}
	return entries
}

// pageOf splits the number of a page.
func (t *Tree) pageOf(value int) (m *manifest, page int, ok bool) {
	number := value >> pageShift
	if number >= len(t.manifests) {
		return nil, 0, false
	}
	return t.manifests[number], value & (1<<pageShift - 1), true
}

func pageEntry(manifest, page int, size int64) nodes.Entry {
	return nodes.Entry{
		Name: fmt.Sprintf("%0*d%s", pageDigits, page, pageSuffix), ID: makeID(kindPage, manifest<<pageShift|page),
		Kind: nodes.File, Size: size,
	}
}

func (t *Tree) findPage(ctx context.Context, i int, name string) (nodes.Entry, error) {
	digits, ok := strings.CutSuffix(strings.ToLower(name), pageSuffix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	sizes, err := t.manifests[i].measure(ctx, t)
	if err != nil {
		return nodes.Entry{}, err
	}
	if n >= 0 && n < len(sizes) {
		if e := pageEntry(i, n, sizes[n]); strings.EqualFold(e.Name, name) {
			return e, nil
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

func (t *Tree) listPages(ctx context.Context, i int, cursor uint64, yield func(nodes.Entry, error) bool) {
	m := t.manifests[i]
	files, err := m.files(ctx, t)
	if err != nil {
		yield(nodes.Entry{}, err)
		return
	}
	sizes := m.sizes.Load()
	for n := min(cursor, uint64(files)); n < uint64(files); n++ {
		e := pageEntry(i, int(n), nodes.UnknownSize)
		if sizes != nil {
			e.Size = (*sizes)[n]
		}
		e.Next = n + 1
		if !yield(e, nil) {
			return
		}
	}
}

// findManifests finds the storage's manifests that are local.
// whole is whether the table has all of the root.
func findManifests(ctx context.Context, st *casc.Storage, names *table, whole bool) ([]*manifest, error) {
	found := []*manifest{
		{name: "encoding", perFile: encodingPerFile, walk: contentLines(st), units: known(st.Encoding().ContentPages())},
		{name: "encoding-keys", perFile: encodingPerFile, walk: encodedLines(st), units: known(st.Encoding().EncodedPages())},
	}
	root := &manifest{name: "root"}
	if whole {
		root.walk, root.units = rootLines(st, names.rootRows), known(names.rootRows)
	} else {
		root.walk = rootLines(st, 0)
	}
	found = append(found, root)
	files, err := st.Manifests()
	if err != nil {
		return nil, err
	}
	for i := range files {
		named, ok := manifestLines[files[i].Name]
		if !ok {
			continue
		}
		if info, err := st.Stat(ctx, &files[i]); err == nil && info.State == casc.StateNotLocal {
			continue
		}
		found = append(found, &manifest{name: strings.ToLower(files[i].Name), walk: named.lines(st), units: func(ctx context.Context) (int, error) { return named.count(ctx, st) }})
	}
	tables, err := tableManifests(st)
	if err != nil {
		return nil, err
	}
	found = append(found, tables...)
	for i, m := range found {
		m.number = i
		if m.perFile == 0 {
			m.perFile = entriesPerFile
		}
	}
	if names.rootRows == 0 {
		root.sizes.Store(&[]int64{})
	}
	return found, nil
}

func known(n int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return n, nil }
}
