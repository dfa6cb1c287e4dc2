package casc

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
)

const overwatch format = "Overwatch root"

// Overwatch is the root of Overwatch: a text whose first line, after a #, names
// columns, of which FILENAME and MD5, the content key, are needed. By description
// only: no real one was there to test with.
//
//	#FILEID|MD5|CHUNK_ID|PRIORITY|MPRIORITY|FILENAME|INSTALLPATH
//
// Files *.cmf in it are content manifests, which list assets by number.
type Overwatch struct {
	files  []File
	load   Loader
	faults []error
}

// ParseOverwatch reads a root; load reads the content manifests, which are left
// alone if it is nil.
func ParseOverwatch(data []byte, load Loader) (*Overwatch, error) {
	r := &Overwatch{load: load}
	if len(data) == 0 {
		return nil, overwatch.bad(0, "no columns")
	}
	name, key := -1, -1
	for off, line := range textLines(data) {
		cells := strings.Split(line, "|")
		switch {
		case off == 0:
			cells[0] = strings.TrimPrefix(cells[0], "#")
			if name, key = slices.Index(cells, "FILENAME"), slices.Index(cells, "MD5"); name < 0 || key < 0 {
				return nil, overwatch.bad(0, "no columns FILENAME and MD5 in %.80q", line)
			}
		case line == "":
		case len(cells) <= max(name, key):
			return nil, overwatch.bad(off, "%d cells", len(cells))
		default:
			k, err := ParseKey(cells[key])
			if err != nil {
				return nil, &FormatError{Format: string(overwatch), Off: off, Err: err}
			}
			file := cleanName(cells[name])
			if file == "" {
				return nil, overwatch.bad(off, "no name in %.80q", line)
			}
			r.files = append(r.files, File{Name: file, CKey: k, Size: -1})
		}
	}
	return r, nil
}

// Kind is "overwatch".
func (r *Overwatch) Kind() string { return "overwatch" }

// Problems are content manifests that could not be read, of the last run of Files.
func (r *Overwatch) Problems() []error { return r.faults }

// Files gives the lines in order, and the assets of each content manifest after
// it, as ContentManifestFiles/NAME/NUMBER, in hex.
func (r *Overwatch) Files() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		r.faults = nil
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
		r.faults = append(r.faults, fmt.Errorf("content manifest %s: %w", f.Name, err))
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
