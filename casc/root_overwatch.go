package casc

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

const overwatch format.Name = "Overwatch root"

// Overwatch is the root of Overwatch, by description only: there was no real one to test
// with. It is a text whose first line, after a #, names columns. FILENAME and MD5, the
// content key, are needed.
//
//	#FILEID|MD5|CHUNK_ID|PRIORITY|MPRIORITY|FILENAME|INSTALLPATH
//
// Files *.cmf in it are content manifests, which list assets by number.
type Overwatch struct {
	files []File
	load  Loader
	// lines are the bad lines; faults are those of the last run of Files.
	lines, faults faults
}

// ParseOverwatch reads a root. load reads the content manifests; without it they are not
// opened. A bad line is a fault, unless all are bad.
func ParseOverwatch(data []byte, load Loader) (*Overwatch, error) {
	r := &Overwatch{load: load}
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
				r.lines.add(err)
				continue
			}
			r.files = append(r.files, f)
		}
	}
	if len(r.files) == 0 && r.lines.n > 0 {
		return nil, r.lines.list[0]
	}
	return r, nil
}

// overwatchFile reads the cells of a line. name and key are the numbers of their columns.
func overwatchFile(off int64, cells []string, name, key int) (File, error) {
	if len(cells) <= max(name, key) {
		return File{}, overwatch.Bad(off, "%d cells: the line is left out", len(cells))
	}
	k, err := keys.Parse(cells[key])
	if err != nil {
		return File{}, &FormatError{Format: string(overwatch), Off: off, What: "the line is left out", Err: err}
	}
	file := cleanName(cells[name])
	if file == "" {
		return File{}, overwatch.Bad(off, "no name in %.80q: the line is left out", strings.Join(cells, "|"))
	}
	return File{Name: file, CKey: k, Size: -1}, nil
}

// Kind returns "overwatch".
func (r *Overwatch) Kind() string { return "overwatch" }

// Problems returns the lines that were left out, and the content manifests that the last
// run of Files could not read.
func (r *Overwatch) Problems() []error {
	return slices.Concat(r.lines.reported(overwatch), r.faults.reported(overwatch))
}

// Files yields the lines in order. The assets of a content manifest follow it as
// ContentManifestFiles/NAME/NUMBER, in hex.
func (r *Overwatch) Files() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		r.faults = faults{}
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

func (r *Overwatch) assets(f *File, yield func(File, error) bool) bool {
	var m *ContentManifest
	data, err := r.load.Content(f.CKey)
	if err == nil {
		m, err = ParseContentManifest(data)
	}
	if err != nil {
		r.faults.add(fmt.Errorf("content manifest %s: %w", f.Name, err))
		return true
	}
	base := path.Base(f.Name)
	dir := "ContentManifestFiles/" + base[:len(base)-len(path.Ext(base))]
	for a := range m.Assets() {
		if !yield(File{Name: fmt.Sprintf("%s/%016X", dir, a.GUID), CKey: a.CKey, Size: a.Size}, nil) {
			return false
		}
	}
	return true
}
