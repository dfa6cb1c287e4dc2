package parts

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/partof"
	"lorefs/datacenter/sheets"
	"lorefs/internal/origin"
)

// Marking writes what a folder of sheets is a part of, see package partof.
type Marking struct {
	// folder is where the sheets are written, and inside its path in what is exported.
	folder, inside string
	mark           *partof.Mark
	data           *dckind.DataCenter
	of, program    string
	takes          func(file string) bool
	// failed are files and folders that could not be written, by their paths in what is exported.
	failed map[string]bool
}

// NewMarking returns the marking of an export of the directory from to the folder to, or nil if no sheets are
// exported. name is how the user spells the source, program is the program that exports, and takes says which files
// are exported, or is nil.
func NewMarking(s *kinds.Source, from, to, name, program string, takes func(file string) bool) (*Marking, error) {
	d, is := dckind.Of(s)
	if !is || from != "" && from != s.Kind.Exports {
		return nil, nil //nolint:nilnil // there is none
	}
	m := &Marking{folder: to, data: d, of: origin.Parse(name).Base(), program: program, failed: map[string]bool{}}
	if from == "" {
		m.inside = s.Kind.Exports
		m.folder = filepath.Join(to, m.inside)
	}
	m.takes = func(file string) bool { return takes == nil || takes(path.Join(m.inside, file)) }
	e := d.Part(m.of, m.takes)
	if len(e.Kinds) == 0 {
		return nil, nil //nolint:nilnil // schemas only
	}
	if err := otherLayout(m.folder, e); err != nil {
		return nil, err
	}
	var err error
	if m.mark, err = dckind.MarkOf(m.folder); err != nil {
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
			return cli.UsageErrorf("%s is of an earlier export, which put it beside the folder %s: move such sheets into that, or export to another folder",
				filepath.Join(folder, entry.Name()), kind)
		}
	}
	return nil
}

// begin notes of which kinds there will be sheets. Until end, none of them counts as written, also if the export is
// killed.
func (m *Marking) begin(ctx context.Context) error {
	return m.write(ctx, m.data.Part(m.of, m.takes).None())
}

// end notes the sheets that are written.
func (m *Marking) end(ctx context.Context) error {
	return m.write(ctx, m.data.Part(m.of, func(file string) bool {
		at := path.Join(m.inside, file)
		return m.takes(file) && !m.failed[at] && !m.failed[path.Dir(at)]
	}))
}

func (m *Marking) write(ctx context.Context, e partof.Export) error {
	m.mark.Add(e)
	m.mark.Program = m.program
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

// Around calls copy, and has what it writes noted.
func (m *Marking) Around(ctx context.Context, o treecopy.Options, copying func(treecopy.Options) (treecopy.Report, error)) (treecopy.Report, error) {
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
