package casctree

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
	"lorefs/internal/wtf8"
)

// walker is manifest.walk.
type walker = func(ctx context.Context, from int, each eachLine) error

// line is a line of JSON while it is made: an object of the fields that are added.
type line []byte

func (l *line) begin() { *l = append((*l)[:0], '{') }

func (l *line) name(name string) {
	if len(*l) > 1 {
		*l = append(*l, ',')
	}
	*l = append(wtf8.AppendJSON(*l, name), ':')
}

func (l *line) text(name, value string)     { l.name(name); *l = wtf8.AppendJSON(*l, value) }
func (l *line) number(name string, n int64) { l.name(name); *l = strconv.AppendInt(*l, n, 10) }
func (l *line) hex(name string, b []byte)   { l.name(name); *l = appendHex(*l, b) }
func (l *line) key(name string, k keys.Key) { l.hex(name, k[:]) }
func (l *line) texts(name string, s []string) {
	l.name(name)
	*l = appendStrings(*l, s)
}

func (l *line) end() []byte {
	*l = append(*l, "}\n"...)
	return *l
}

// encodingPerFile is how many pages of the encoding file a file of its manifests has: some
// 3,400 entries, or 5,200.
const encodingPerFile = 32

// contentLines walks the content keys of the encoding file.
func contentLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		enc := st.Encoding()
		var l line
		for page := from; page < enc.ContentPages(); page++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			for row, err := range enc.ContentRows(ctx, page, page+1) {
				if err != nil {
					if !each(page, pageError(&l, page, err)) {
						return nil
					}
					break
				}
				l.begin()
				l.key("ckey", row.CKey())
				l.number("size", row.Size())
				l.name("ekeys")
				for i := range row.Forms() {
					l = append(l, "[,"[min(i, 1)])
					k := row.EKey(i)
					l = appendHex(l, k[:])
				}
				l = append(l, ']')
				if !each(page, l.end()) {
					return nil
				}
			}
		}
		return nil
	}
}

// encodedLines walks the encoding keys of the encoding file.
func encodedLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		enc := st.Encoding()
		var l line
		for page := from; page < enc.EncodedPages(); page++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			for row, err := range enc.EncodedRows(ctx, page, page+1) {
				if err != nil {
					if !each(page, pageError(&l, page, err)) {
						return nil
					}
					break
				}
				l.begin()
				l.key("ekey", row.EKey)
				l.number("size", row.Size)
				l.text("espec", enc.Spec(row.Spec))
				if !each(page, l.end()) {
					return nil
				}
			}
		}
		return nil
	}
}

// pageError makes a line in place of entries that can't be read.
func pageError(l *line, page int, err error) []byte {
	l.begin()
	l.number("page", int64(page))
	l.text("error", err.Error())
	return l.end()
}

// rootLines walks the files of the root. rows is how many it is known to have, from a time when
// it could be read as a whole, or 0.
func rootLines(st *casc.Storage, rows int) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		var l line
		i := 0
		for f, err := range st.Walk(ctx) {
			if err != nil {
				rootEnds(max(i+1, rows), i, from, err, each)
				return nil
			}
			if i++; i <= from {
				continue
			}
			if (i-1)&(entriesPerFile-1) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			l.begin()
			rootLine(&l, &f)
			if !each(i-1, l.end()) {
				return nil
			}
		}
		rootEnds(rows, i, from, fmt.Errorf("the root has %d files, where %d were found before", i, rows), each)
		return nil
	}
}

// rootEnds makes a line in place of the rows of a root from one on: the first, and the first of
// each file that follows, so that no file which is listed is empty.
func rootEnds(rows, row, from int, why error, each eachLine) {
	for ; row < rows; row = (row/entriesPerFile + 1) * entriesPerFile {
		if row < from {
			continue
		}
		var l line
		l.begin()
		l.text("error", why.Error())
		if !each(row, l.end()) {
			return
		}
	}
}

func rootLine(l *line, f *root.File) {
	if f.Name != "" {
		l.text("name", f.Name)
	}
	if f.HasID {
		l.number("id", int64(f.ID))
	}
	if f.HasHash {
		l.text("hash", strconv.FormatUint(f.NameHash, 16))
	}
	if f.Locale != 0 {
		l.text("locale", f.Locale.String())
	}
	if f.Flags != 0 {
		l.text("flags", "0x"+strconv.FormatUint(uint64(f.Flags), 16))
	}
	if !f.CKey.IsZero() {
		l.key("ckey", f.CKey)
	}
	if f.Size >= 0 {
		l.number("size", f.Size)
	}
	if f.Err != nil {
		l.text("error", f.Err.Error())
	}
	if len(f.Spans) == 0 {
		return
	}
	l.name("spans")
	for i := range f.Spans {
		s := &f.Spans[i]
		*l = append(append(*l, "[,"[min(i, 1)]), '{')
		*l = appendHex(append(*l, `"ekey":`...), s.EKey[:s.KeySize])
		*l = strconv.AppendInt(append(*l, `,"offset":`...), s.Off, 10)
		*l = strconv.AppendInt(append(*l, `,"size":`...), s.Size, 10)
		*l = append(*l, '}')
	}
	*l = append(*l, ']')
}

// manifestLines are the manifests that the build configuration names: their lines, and how many
// those are.
var manifestLines = map[string]struct {
	lines func(*casc.Storage) walker
	count func(context.Context, *casc.Storage) (int, error)
}{
	"INSTALL":     {installLines, counted((*casc.Storage).Install, func(m *manifests.Install) int { return len(m.Entries) })},
	"DOWNLOAD":    {downloadLines, counted((*casc.Storage).Download, (*manifests.Download).Len)},
	"SIZE":        {sizeLines, counted((*casc.Storage).SizeManifest, (*manifests.Size).Len)},
	"PATCH":       {patchLines, counted((*casc.Storage).Patch, func(m *manifests.Patch) int { return len(m.Files) })},
	"PATCH-INDEX": {patchIndexLines, counted((*casc.Storage).PatchIndex, (*manifests.PatchIndex).Len)},
}

func counted[M any](open func(*casc.Storage, context.Context) (*M, error), count func(*M) int) func(context.Context, *casc.Storage) (int, error) {
	return func(ctx context.Context, st *casc.Storage) (int, error) {
		m, err := open(st, ctx)
		if err != nil {
			return 0, err
		}
		return count(m), nil
	}
}

// tagsOf returns the names of the tags of entry i.
func tagsOf(tags []manifests.Tag, i int, names []string) []string {
	for n := range tags {
		if tags[n].Has(i) {
			names = append(names, tags[n].Name)
		}
	}
	return names
}

func installLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		m, err := st.Install(ctx)
		if err != nil {
			return err
		}
		var tags []string
		return numbered(ctx, from, len(m.Entries), each, func(l *line, i int) {
			e := &m.Entries[i]
			tags = tagsOf(m.Tags, i, tags[:0])
			l.text("name", e.Name)
			l.key("ckey", e.CKey)
			l.number("size", e.Size)
			l.texts("tags", tags)
		})
	}
}

func downloadLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		m, err := st.Download(ctx)
		if err != nil {
			return err
		}
		var tags []string
		return numbered(ctx, from, m.Len(), each, func(l *line, i int) {
			e := m.Entry(i)
			tags = tagsOf(m.Tags, i, tags[:0])
			l.key("ekey", e.EKey)
			l.number("size", e.Size)
			l.number("priority", int64(e.Priority))
			if e.Checksum != 0 {
				l.number("checksum", int64(e.Checksum))
			}
			if len(e.Flags) > 0 {
				l.hex("flags", e.Flags)
			}
			l.texts("tags", tags)
		})
	}
}

func sizeLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		m, err := st.SizeManifest(ctx)
		if err != nil {
			return err
		}
		var tags []string
		return numbered(ctx, from, m.Len(), each, func(l *line, i int) {
			e := m.Entry(i)
			tags = tagsOf(m.Tags, i, tags[:0])
			l.hex("ekey", e.EKey)
			l.number("size", e.Size)
			l.texts("tags", tags)
		})
	}
}

func patchLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		m, err := st.Patch(ctx)
		if err != nil {
			return err
		}
		return numbered(ctx, from, len(m.Files), each, func(l *line, i int) {
			f := &m.Files[i]
			l.key("ckey", f.CKey)
			l.number("size", f.Size)
			l.name("patches")
			*l = append(*l, '[')
			for n, s := range f.Patches {
				if n > 0 {
					*l = append(*l, ',')
				}
				*l = appendHex(append(*l, `{"from":`...), s.From[:])
				*l = strconv.AppendInt(append(*l, `,"from_size":`...), s.FromSize, 10)
				*l = appendHex(append(*l, `,"ekey":`...), s.EKey[:])
				*l = strconv.AppendInt(append(*l, `,"size":`...), s.Size, 10)
				*l = append(*l, '}')
			}
			*l = append(*l, ']')
		})
	}
}

func patchIndexLines(st *casc.Storage) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		m, err := st.PatchIndex(ctx)
		if err != nil {
			return err
		}
		return sequence(ctx, from, m.Entries(), each, func(l *line, e manifests.PatchIndexEntry) {
			l.key("from", e.From)
			l.number("from_size", e.FromSize)
			l.key("to", e.To)
			l.number("to_size", e.ToSize)
			l.number("encoded_size", e.EncodedSize)
			l.key("ekey", e.EKey)
		})
	}
}

// numbered makes the lines of n entries that have numbers.
func numbered(ctx context.Context, from, n int, each eachLine, fill func(l *line, i int)) error {
	var l line
	for i := from; i < n; i++ {
		if i&(entriesPerFile-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l.begin()
		fill(&l, i)
		if !each(i, l.end()) {
			return nil
		}
	}
	return nil
}

// sequence makes the lines of a sequence of entries.
func sequence[E any](ctx context.Context, from int, entries iter.Seq[E], each eachLine, fill func(l *line, e E)) error {
	var l line
	i := -1
	for e := range entries {
		if i++; i < from {
			continue
		}
		if i&(entriesPerFile-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l.begin()
		fill(&l, e)
		if !each(i, l.end()) {
			return nil
		}
	}
	return nil
}
