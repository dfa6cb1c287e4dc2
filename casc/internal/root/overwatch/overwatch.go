// Package overwatch reads the root of Overwatch, by description only.
package overwatch

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

const overwatch format.Name = "Overwatch root"

// Root is the root of Overwatch, by description only: there was no real one to test
// with. It is a text whose first line, after a #, names columns. FILENAME and MD5, the
// content key, are needed.
//
//	#FILEID|MD5|CHUNK_ID|PRIORITY|MPRIORITY|FILENAME|INSTALLPATH
//
// Files *.cmf in it are content manifests, which list assets by number.
type Root struct {
	files []root.File
	load  root.Loader
	// lines are the bad lines; faults are those of the last run of Files.
	lines, faults root.Faults
}

// Parse reads a root. load reads the content manifests; without it they are not
// opened. A bad line is a fault, unless all are bad.
func Parse(data []byte, load root.Loader) (*Root, error) {
	r := &Root{load: load}
	if len(data) == 0 {
		return nil, overwatch.Bad(0, "no columns")
	}
	name, key := -1, -1
	for off, line := range format.Lines(data) {
		cells := strings.Split(line, "|")
		switch {
		case off == 0:
			cells[0] = strings.TrimPrefix(cells[0], "#")
			if name, key = slices.Index(cells, "FILENAME"), slices.Index(cells, "MD5"); name < 0 || key < 0 {
				return nil, overwatch.Bad(0, "no columns FILENAME and MD5 in %.80q", line)
			}
		case line == "":
		default:
			f, err := overwatchFile(off, cells, name, key)
			if err != nil {
				r.lines.Add(err)
				continue
			}
			r.files = append(r.files, f)
		}
	}
	if len(r.files) == 0 && r.lines.N > 0 {
		return nil, r.lines.List[0]
	}
	return r, nil
}

// overwatchFile reads the cells of a line. name and key are the numbers of their columns.
func overwatchFile(off int64, cells []string, name, key int) (root.File, error) {
	if len(cells) <= max(name, key) {
		return root.File{}, overwatch.Bad(off, "%d cells: the line is left out", len(cells))
	}
	k, err := keys.Parse(cells[key])
	if err != nil {
		return root.File{}, &format.Error{Format: string(overwatch), Off: off, What: "the line is left out", Err: err}
	}
	file := root.CleanName(cells[name])
	if file == "" {
		return root.File{}, overwatch.Bad(off, "no name in %.80q: the line is left out", strings.Join(cells, "|"))
	}
	return root.File{Name: file, CKey: k, Size: -1}, nil
}

// Kind returns "overwatch".
func (r *Root) Kind() string { return "overwatch" }

// Problems returns the lines that were left out, and the content manifests that the last
// run of Files could not read.
func (r *Root) Problems() []error {
	return slices.Concat(r.lines.Reported(overwatch), r.faults.Reported(overwatch))
}

// Files yields the lines in order. The assets of a content manifest follow it as
// ContentManifestFiles/NAME/NUMBER, in hex.
func (r *Root) Files() iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		r.faults = root.Faults{}
		for _, f := range r.files {
			if !yield(f, nil) {
				return
			}
			if r.load == nil || !strings.EqualFold(path.Ext(f.Name), ".cmf") {
				continue
			}
			if !r.assets(&f, yield) {
				return
			}
		}
	}
}

func (r *Root) assets(f *root.File, yield func(root.File, error) bool) bool {
	var m *ContentManifest
	data, err := r.load.Content(f.CKey)
	if err == nil {
		m, err = ParseContentManifest(data)
	}
	if err != nil {
		r.faults.Add(fmt.Errorf("content manifest %s: %w", f.Name, err))
		return true
	}
	base := path.Base(f.Name)
	dir := "ContentManifestFiles/" + base[:len(base)-len(path.Ext(base))]
	for a := range m.Assets() {
		if !yield(root.File{Name: fmt.Sprintf("%s/%016X", dir, a.GUID), CKey: a.CKey, Size: a.Size}, nil) {
			return false
		}
	}
	return true
}
