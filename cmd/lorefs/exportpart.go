package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/partof"
	"lorefs/datacenter/sheets"
	"lorefs/internal/origin"
)

// below returns a filter for the folder of all that is exported. It takes what another one takes by paths below
// the directory or file at, and nothing else.
func below(at string, inner treecopy.Filter) treecopy.Filter {
	inside := func(name string) (rest string, ok bool) {
		rest, ok = strings.CutPrefix(name+"/", at+"/")
		return strings.TrimSuffix(rest, "/"), ok
	}
	return treecopy.Filter{
		Dir: func(name string) bool {
			rest, ok := inside(name)
			return ok && (rest == "" || inner.Dir == nil || inner.Dir(rest)) || strings.HasPrefix(at, name+"/")
		},
		File: func(name string) bool {
			rest, ok := inside(name)
			if ok && rest == "" { // at is a file
				rest = path.Base(at)
			}
			return ok && (inner.File == nil || inner.File(rest))
		},
	}
}

// marking writes what a folder of sheets is a part of, see package partof.
type marking struct {
	// folder is where the sheets are written, and inside its path in what is exported.
	folder, inside string
	mark           *partof.Mark
	data           *kinds.DataCenter
	of             string
	takes          func(file string) bool
	// failed are files and folders that could not be written, by their paths in what is exported.
	failed map[string]bool
}

// newMarking returns the marking of an export of the directory from, or nil if no sheets are exported.
func (f *exporting) newMarking(s *kinds.Source, from, to string) (*marking, error) {
	d, is := s.DataCenter()
	if !is || from != "" && from != s.Kind.Exports {
		return nil, nil //nolint:nilnil // there is none
	}
	m := &marking{folder: to, data: d, of: origin.Parse(f.name).Base(), failed: map[string]bool{}}
	if from == "" {
		m.inside = s.Kind.Exports
		m.folder = filepath.Join(to, m.inside)
	}
	m.takes = func(file string) bool { return f.files.File == nil || f.files.File(path.Join(m.inside, file)) }
	e := d.Part(m.of, m.takes)
	if len(e.Kinds) == 0 {
		return nil, nil //nolint:nilnil // schemas only
	}
	if err := otherLayout(m.folder, e); err != nil {
		return nil, err
	}
	var err error
	if m.mark, err = kinds.MarkOf(m.folder); err != nil {
		return nil, err
	}
	if m.mark == nil {
		m.mark = &partof.Mark{}
	}
	return m, nil
}

// otherLayout returns an error if a folder has sheets of an export beside the folders of their kinds, where once PATH
// sheets/ItemData put them. With both, there would be two of each.
func otherLayout(folder string, e partof.Export) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil //nolint:nilerr // there is no such folder, or writing tells why it can't be used
	}
	for _, entry := range entries {
		kind := entry.Name()[:max(strings.LastIndexByte(entry.Name(), '-'), 0)]
		if _, is := e.Kinds[kind]; !is || entry.IsDir() {
			continue
		}
		if _, is := sheets.FileOrdinal(kind, entry.Name()); is {
			return usageErrorf("%s is of an earlier export, which put it beside the folder %s: move such sheets into that, or export to another folder",
				filepath.Join(folder, entry.Name()), kind)
		}
	}
	return nil
}

// begin notes of which kinds there will be sheets. Until end, none of them counts as written, also if the export is
// killed.
func (m *marking) begin(ctx context.Context) error {
	return m.write(ctx, m.data.Part(m.of, m.takes).None())
}

// end notes the sheets that are written.
func (m *marking) end(ctx context.Context) error {
	return m.write(ctx, m.data.Part(m.of, func(file string) bool {
		at := path.Join(m.inside, file)
		return m.takes(file) && !m.failed[at] && !m.failed[path.Dir(at)]
	}))
}

func (m *marking) write(ctx context.Context, e partof.Export) error {
	m.mark.Add(e)
	m.mark.Program = version()
	text, err := m.mark.Append(nil)
	if err != nil {
		return err
	}
	files := func(yield func(treecopy.File) bool) {
		yield(treecopy.File{Path: partof.File, Write: func(_ context.Context, w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(text))
			return err
		}})
	}
	_, err = treecopy.Write(ctx, files, m.folder, treecopy.Options{Overwrite: true})
	return err
}

// around calls copy, and has what it writes noted.
func (m *marking) around(ctx context.Context, o treecopy.Options, copying func(treecopy.Options) (treecopy.Report, error)) (treecopy.Report, error) {
	if m == nil {
		return copying(o)
	}
	if err := m.begin(ctx); err != nil {
		return treecopy.Report{}, err
	}
	told := o.Failed
	o.Failed = func(path string, why treecopy.Reason, err error) error {
		if why != treecopy.Present {
			m.failed[path] = true
		}
		return told(path, why, err)
	}
	r, err := copying(o)
	if err == nil {
		err = m.end(ctx)
	}
	return r, err
}
