package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/partof"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/internal/cores"
)

// Folder is a folder that was looked through for sheets.
type Folder struct {
	fsys    iofs.FS
	files   []sheetFile // in the order in which they are packed
	ignored []string
	size    int64 // of all files together, in bytes
}

type sheetFile struct {
	path string
	size int64
	// broken says why the file can't be read at all.
	broken *xmltext.SyntaxError
	// lent comes from a [Loan], and is nil for a file.
	lent func() ([]byte, error)
}

// Look looks through a folder for the sheets that [Pack] would pack.
func Look(ctx context.Context, fsys iofs.FS) (*Folder, error) {
	s := &Folder{fsys: fsys}
	err := iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			if isHidden(name) {
				s.ignored = append(s.ignored, name)
				return iofs.SkipDir
			}
			return nil
		}
		s.add(name)
		return nil
	})
	if err == nil {
		// A folder has tens of thousands of files, and the system takes some microseconds for each.
		err = inParallel(cores.Count(), len(s.files), func(_, i int) error { return s.files[i].look(ctx, fsys) })
	}
	if err != nil {
		return nil, fmt.Errorf("sheets: looking for sheets: %w", err)
	}
	if len(s.files) == 0 {
		return nil, fmt.Errorf("sheets: %w", ErrNoSheets)
	}
	for i := range s.files {
		s.size += s.files[i].size
	}
	slices.Sort(s.ignored)
	if err := s.order(); err != nil {
		return nil, err
	}
	return s, nil
}

// FS returns the folder itself.
func (s *Folder) FS() iofs.FS { return s.fsys }

// Sheets yields the paths of the sheets in the order in which [Pack] packs them, with their sizes. The size of one that
// can't be read is -1.
func (s *Folder) Sheets() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, f := range s.files {
			size := f.size
			if f.broken != nil {
				size = -1
			}
			if !yield(f.path, size) {
				return
			}
		}
	}
}

// Names returns the names of the sheets, which are those of their first elements. It leaves out the names of sheets
// that can't be read: whoever packs them finds out why.
func (s *Folder) Names(ctx context.Context) (map[string]bool, error) {
	names, mu := map[string]bool{}, sync.Mutex{}
	err := inParallel(cores.Count(), len(s.files), func(_, i int) error {
		if name, ok := s.files[i].name(s.fsys); ok {
			mu.Lock()
			defer mu.Unlock()
			names[name] = true
		}
		return ctx.Err()
	})
	return names, err
}

// name returns the name of a sheet. Most show it in their first bytes.
func (f *sheetFile) name(fsys iofs.FS) (name string, ok bool) {
	if f.broken != nil {
		return "", false
	}
	if f.lent == nil {
		if name, ok = f.begins(fsys); ok {
			return name, true
		}
	}
	data, err := f.read(fsys, nil)
	if err != nil {
		return "", false
	}
	return firstName(f.path, data)
}

// begins returns the name of a sheet if its first bytes show it.
func (f *sheetFile) begins(fsys iofs.FS) (name string, ok bool) {
	const first = 4 << 10
	file, err := fsys.Open(f.path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	data := make([]byte, first)
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false
	}
	return firstName(f.path, data[:n])
}

// firstName returns the name of the first element.
func firstName(file string, data []byte) (name string, ok bool) {
	p, err := xmlsheet.New(file, data)
	if err != nil {
		return "", false
	}
	if event, err := p.Next(); err != nil || event != xmlsheet.Begin {
		return "", false
	}
	return string(p.Node().Name), true
}

// Loan is a sheet from elsewhere that a folder is taken to have.
type Loan struct {
	// Path is where it would be in the folder.
	Path string
	// Size is about how many bytes it has.
	Size int64
	// Text returns the sheet.
	Text func() ([]byte, error)
}

// Loans yields the sheets of the folder, for another one.
func (s *Folder) Loans() iter.Seq[Loan] {
	return func(yield func(Loan) bool) {
		for i := range s.files {
			f := &s.files[i]
			text := func() ([]byte, error) {
				if f.broken != nil {
					return nil, f.broken
				}
				return f.read(s.fsys, nil)
			}
			if !yield(Loan{f.path, f.size, text}) {
				return
			}
		}
	}
}

// With returns the folder with sheets that it has no files for.
func (s *Folder) With(loans []Loan) (*Folder, error) {
	all := *s
	all.files = slices.Clone(s.files)
	for _, l := range loans {
		all.files = append(all.files, sheetFile{path: l.Path, size: l.Size, lent: l.Text})
		all.size += l.Size
	}
	return &all, all.order()
}

// order brings the files in the order in which they are packed. There can be too many.
func (s *Folder) order() error {
	slices.SortFunc(s.files, func(a, b sheetFile) int { return comparePaths(a.path, b.path) })
	if len(s.files) > datacenter.MaxRun {
		return fmt.Errorf("sheets: %s is sheet number %d: %w", s.files[datacenter.MaxRun].path, datacenter.MaxRun+1, datacenter.ErrTooLarge)
	}
	return nil
}

// without returns the folder without some files.
func (s *Folder) without(files map[string]string) *Folder {
	left := *s
	left.files = slices.DeleteFunc(slices.Clone(s.files), func(f sheetFile) bool {
		_, omitted := files[f.path]
		if omitted {
			left.size -= f.size
		}
		return omitted
	})
	return &left
}

// IsInput reports whether Pack reads files of this name.
func IsInput(name string) bool { return isSchema(name) || isSheet(name) }

func isSchema(name string) bool { return path.Ext(name) == schemaSuffix }

func isSheet(name string) bool {
	const pattern = "?*-?*.xml"
	is, err := path.Match(pattern, path.Base(name))
	return err == nil && is && !isHidden(name)
}

func isHidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") }

// add adds a file, or notes that it is ignored.
func (s *Folder) add(name string) {
	switch {
	case isSchema(name):
	case name == partof.File, name == partof.Record:
	case isSheet(name):
		s.files = append(s.files, sheetFile{path: name})
	default:
		s.ignored = append(s.ignored, name)
	}
}

// look looks at a file with the name of a sheet. One that can't be a sheet is an error: nobody wants
// a data center without it.
func (f *sheetFile) look(ctx context.Context, fsys iofs.FS) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := regular(fsys, f.path)
	if broken, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		f.broken = broken
		return nil
	}
	if err != nil {
		return err
	}
	f.size = info.Size()
	return nil
}

// regular looks at a file that is to be read. Anything but a regular file is not opened,
// since that may block forever.
func regular(fsys iofs.FS, name string) (iofs.FileInfo, error) {
	info, err := iofs.Stat(fsys, name)
	if errors.Is(err, iofs.ErrNotExist) {
		if _, linkErr := iofs.Lstat(fsys, name); linkErr == nil {
			return nil, &xmltext.SyntaxError{File: name, What: "a link that leads to nothing"}
		}
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, &xmltext.SyntaxError{File: name, What: "not a regular file"}
	}
	return info, err
}

// unreadable adds the file's name to an error that lacks it.
func unreadable(err error) error {
	if _, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		return err
	}
	return fmt.Errorf("sheets: %w", err)
}

// maxFile bounds a file, in bytes. The largest real sheet has 116 MB.
const maxFile = 1 << 30

// readStep is how much of a file is read at once.
const readStep = 1 << 20

// tooLong returns the error for a file with a longer name or text than a data center can
// hold, or with absurd amounts of white space or comment. It is reported before the rest of
// the file is read, so these can't be distinguished.
func tooLong(name string, data []byte, at int) error {
	line, column := xmltext.Place(data, at)
	err := fmt.Errorf("a name or text of more than %d bytes is %w; if this is a comment or white space, shorten it", xmltext.MaxSpelled, datacenter.ErrTooLarge)
	return &xmltext.ValueError{File: name, Line: line, Column: column, Err: err}
}

// roomFor returns how many bytes readFile needs for a file: one more than expected shows the end of the
// file without growing.
func roomFor(size int64) int { return int(min(max(size, 0), maxFile)) + 1 }

// readFile reads a file that nobody has looked at.
func readFile(fsys iofs.FS, name string) (data []byte, err error) {
	info, err := regular(fsys, name)
	if err != nil {
		return nil, unreadable(err)
	}
	return readRegular(fsys, name, info.Size(), nil)
}

// read reads a sheet whose file is not broken: into buf, which it may replace by a larger one, or to memory of its own.
func (f *sheetFile) read(fsys iofs.FS, buf []byte) (data []byte, err error) {
	if f.lent != nil {
		return f.lent()
	}
	return readRegular(fsys, f.path, f.size, buf)
}

// readRegular reads a regular file of about a size.
func readRegular(fsys iofs.FS, name string, size int64, buf []byte) (data []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("sheets: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if size > maxFile {
		return nil, fmt.Errorf("sheets: %s has %d bytes, more than %d: %w", name, size, maxFile, datacenter.ErrTooLarge)
	}
	// New memory is not touched before something is read into it.
	data = buf[:0]
	if need := roomFor(size); cap(data) < need {
		data = make([]byte, 0, need)
	}
	run := 0 // how many bytes ago something ended that is no text
	for {
		part := data[len(data):min(cap(data), len(data)+readStep)]
		n, err := f.Read(part)
		data = data[:len(data)+n]
		if last := bytes.LastIndexAny(part[:n], `<>"'`); last >= 0 {
			run = n - last - 1
		} else {
			run += n
		}
		switch {
		case run > xmltext.MaxSpelled*xmltext.UnitSize(data):
			return nil, tooLong(name, data, len(data)-run)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("sheets: %w", err)
		case len(data) > maxFile:
			return nil, fmt.Errorf("sheets: %s has more than %d bytes: %w", name, maxFile, datacenter.ErrTooLarge)
		case len(data) == cap(data):
			data = slices.Grow(data, len(data))
		}
	}
}
