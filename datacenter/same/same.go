// Package same finds the sheets of a data center that a folder holds byte for byte but for their layout, so
// that nobody has to parse them. Without it diff with a folder that was edited in one place takes 3.9 times
// as long.
package same

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/cores"
)

// Sheets are sheets of a data center by the paths of the files that hold them, and nothing
// else, as the data center's own bytes but for the layout.
type Sheets map[string]sheets.Sheet

// Names returns the names of the sheets by the paths of their files.
func (s Sheets) Names() map[string]string {
	names := make(map[string]string, len(s))
	for file, sheet := range s {
		names[file] = sheet.Name
	}
	return names
}

// Places returns the ascending places of the sheets among those of their name.
func (s Sheets) Places() map[string][]int {
	places := map[string][]int{}
	for _, sheet := range s {
		places[sheet.Name] = append(places[sheet.Name], int(sheet.Ordinal))
	}
	for _, list := range places {
		slices.Sort(list)
	}
	return places
}

// Find compares the sheets of a data center with a folder that [pack.Pack] could pack. What
// it returns would be packed to sheets equal to those of the data center: it may have other white space
// between tags, between the parts of a tag and at the ends of lines, and the schema beside them
// knows all of their types and keys, or has the data center's own bytes. Without a schema they are
// equal only if [pack.Options.Template] knows those of the data center. For a name of which the folder has
// more or fewer files than the data center has sheets it returns none. all is true if the
// folder holds all sheets of the data center so, and no others. In a large folder, of which hardly any sheet
// is the same, it may miss some that are.
//
// An error means that ctx has ended. Sheets that can't be read, from either side, are not the same.
// progress may be nil. It is called with the number of sheets done and the total; not in parallel.
func Find(ctx context.Context, src *sheets.Source, folder *pack.Folder, progress func(done, total int64)) (found Sheets, all bool, err error) {
	s := &search{src: src, fsys: folder.FS(), progress: progress}
	files := s.list(folder)
	if err := s.schemas(ctx); err != nil {
		return nil, false, err
	}
	if err := s.sheets(ctx); err != nil {
		return nil, false, err
	}
	found, n := Sheets{}, 0
	for _, c := range s.candidates {
		for i := range c.files {
			if f := &c.files[i]; !c.differs.Load() && !f.differs {
				found[f.path] = f.sheet
			}
		}
	}
	for _, f := range src.Families() {
		n += f.Count()
	}
	return found, len(found) == files && len(found) == n, nil
}

// search compares sheets.
type search struct {
	src        *sheets.Source
	fsys       iofs.FS
	candidates []*candidate
	buffers    sync.Pool // of *[bufferSize]byte

	progress func(done, total int64)
	mu       sync.Mutex
	done     int64 // guarded by mu
	total    int64
}

// candidate is a family of which the folder has files of the same names.
type candidate struct {
	family *sheets.Family
	files  []sheetFile
	size   int64 // of all files
	// outline is the schema beside the files, or nil if there is none. Then the family's own
	// is used, which all of its sheets have to be visited for; so is it for the sheets that are
	// not plain.
	outline *sheets.Outline
	own     func() error
	// differs is set once something is found that is not the same for all sheets.
	differs atomic.Bool
}

// sheetFile is a sheet and its file.
type sheetFile struct {
	sheet sheets.Sheet
	of    *candidate
	path  string
	// differs is set once something is found that is not the same.
	differs bool
}

// list finds the candidates, and returns how many files there are.
func (s *search) list(folder *pack.Folder) (files int) {
	type sized struct {
		path string
		size int64
	}
	in := map[string][]sized{} // the files by their folders
	for p, size := range folder.Sheets() {
		dir := path.Dir(p)
		in[dir] = append(in[dir], sized{p, size})
		files++
	}
	for _, family := range s.src.Families() {
		c := &candidate{family: family}
		for sheet := range family.Sheets(0) {
			c.files = append(c.files, sheetFile{sheet: sheet, of: c, path: path.Join(family.File, family.SheetFile(sheet.Ordinal))})
		}
		slices.SortFunc(c.files, func(a, b sheetFile) int { return spell.Compare(a.path, b.path) })
		there := in[family.File]
		if len(there) == 0 || !slices.EqualFunc(c.files, there, func(f sheetFile, is sized) bool { return f.path == is.path }) {
			continue
		}
		for i, is := range there {
			c.files[i].differs = is.size < 0
			c.size += max(is.size, 0)
		}
		s.candidates = append(s.candidates, c)
		s.total += int64(len(c.files))
	}
	return files
}

// schemas reads the schemas. It begins with the largest families, which keep a core busy
// for longest if there is no schema beside them.
func (s *search) schemas(ctx context.Context) error {
	slices.SortFunc(s.candidates, func(a, b *candidate) int { return cmp.Compare(b.size, a.size) })
	return onAllCores(ctx, s.candidates, func(c *candidate) error { return s.schema(ctx, c) })
}

// errDiffers means that something is not the same.
var errDiffers = errors.New("not the same")

// schema reads the schema that pack would take for a family. If there is none, it finds out the
// family's own.
func (s *search) schema(ctx context.Context, c *candidate) error {
	files, err := s.schemaFiles(c)
	if err != nil {
		return err
	}
	c.own = sync.OnceValue(func() error { return ownSchema(ctx, c.family, files) })
	if len(files) != 1 {
		return c.own()
	}
	schema, err := xsd.Read(files[0].path, files[0].text)
	if err != nil {
		return err
	}
	if schema.Sheet != c.family.Name {
		return errDiffers
	}
	c.outline = c.family.Outline(schema)
	return nil
}

// schemaFile is a schema beside the files of a family.
type schemaFile struct {
	path string
	text []byte
}

// schemaFiles reads the files that pack could take for the schema of a family.
func (s *search) schemaFiles(c *candidate) (files []schemaFile, err error) {
	names := []string{spell.EscapeName(c.family.Name) + ".xsd", c.family.SchemaFile()}
	for _, name := range slices.Compact(names) {
		name = path.Join(c.family.File, name)
		err := regular(s.fsys, name)
		if errors.Is(err, iofs.ErrNotExist) {
			if _, err := iofs.Lstat(s.fsys, name); errors.Is(err, iofs.ErrNotExist) {
				continue
			}
			return nil, errDiffers // a link that leads to nothing
		}
		if err != nil {
			return nil, err
		}
		text, err := iofs.ReadFile(s.fsys, name)
		if err != nil {
			return nil, err
		}
		files = append(files, schemaFile{name, text})
	}
	return files, nil
}

// ownSchema compares the own schema of a family with some files.
func ownSchema(ctx context.Context, family *sheets.Family, files []schemaFile) error {
	schema, err := family.Schema(ctx)
	if err != nil {
		return err
	}
	var want []byte
	for _, f := range files {
		if want == nil {
			want = schema.AppendXSD(nil)
		}
		if !bytes.Equal(f.text, want) {
			return errDiffers
		}
	}
	return nil
}

// regular looks at a file. Anything but a regular file is not opened, since that may block
// forever.
func regular(fsys iofs.FS, name string) error {
	info, err := iofs.Stat(fsys, name)
	if err == nil && !info.Mode().IsRegular() {
		return errDiffers
	}
	return err
}

const (
	// sampleSize is how many sheets show whether it is worth to compare the others.
	sampleSize = 256
	// sampleShare is the least share of them that must be the same.
	sampleShare = 1. / 8
)

// sheets compares the sheets of the families whose schemas are the same. A folder that another program
// has written may differ in all of them. A sample shows that, and the other sheets are not compared.
func (s *search) sheets(ctx context.Context) error {
	files := s.comparable()
	if len(files) < 4*sampleSize {
		return s.compareAll(ctx, files)
	}
	var sample, others []*sheetFile
	for i, f := range files {
		if i%(len(files)/sampleSize) == 0 {
			sample = append(sample, f)
		} else {
			others = append(others, f)
		}
	}
	if err := s.compareAll(ctx, sample); err != nil {
		return err
	}
	sample = slices.DeleteFunc(sample, func(f *sheetFile) bool { return f.differs })
	if len(sample) >= sampleSize*sampleShare {
		return s.compareAll(ctx, others)
	}
	for _, f := range others {
		f.differ()
	}
	s.add(len(others))
	return nil
}

// comparable returns the sheets of the families whose schemas are the same.
func (s *search) comparable() (files []*sheetFile) {
	for _, c := range s.candidates {
		if c.differs.Load() {
			s.add(len(c.files))
			continue
		}
		for i := range c.files {
			files = append(files, &c.files[i])
		}
	}
	return files
}

func (s *search) compareAll(ctx context.Context, files []*sheetFile) error {
	return onAllCores(ctx, files, func(f *sheetFile) error {
		defer s.add(1)
		if f.differs {
			return nil
		}
		return s.sheet(ctx, f)
	})
}

// add counts sheets that are done.
func (s *search) add(n int) {
	if s.progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += int64(n)
	s.progress(s.done, s.total)
}

// sheet compares a sheet with its file.
func (s *search) sheet(ctx context.Context, f *sheetFile) error {
	if f.of.outline != nil {
		err := s.compare(f, func(w io.Writer) error { return s.src.WritePlain(ctx, w, f.sheet, f.of.outline) })
		if !errors.Is(err, sheets.ErrNotPlain) {
			return err
		}
	}
	if err := f.of.own(); err != nil {
		return err
	}
	return s.compare(f, func(w io.Writer) error {
		_, err := s.src.WriteSheet(ctx, w, f.sheet)
		return err
	})
}

// compare compares a sheet with its file while it is written.
func (s *search) compare(f *sheetFile, write func(w io.Writer) error) (err error) {
	file, err := s.fsys.Open(f.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buf, ok := s.buffers.Get().(*[bufferSize]byte)
	if !ok {
		buf = new([bufferSize]byte)
	}
	defer s.buffers.Put(buf)
	w := &comparer{file: file, buf: buf[:]}
	if err := write(w); err != nil {
		return err
	}
	return w.end()
}

// part is a candidate or a file of one.
type part interface{ differ() }

func (c *candidate) differ() { c.differs.Store(true) }
func (f *sheetFile) differ() { f.differs = true }

// onAllCores calls work for all parts. If it fails for one, that differs: whoever reads it
// next finds out why. The error is that of ctx.
func onAllCores[P part](ctx context.Context, parts []P, work func(P) error) error {
	var (
		wg   sync.WaitGroup
		next atomic.Int64
	)
	for range min(cores.Count(), len(parts)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if work(parts[i]) != nil {
					parts[i].differ()
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
