// Package tvfs reads TVFS, the virtual file system that is the root of most games.
package tvfs

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

const (
	// maxNested is how deep manifests may be nested, and how many may be.
	maxNested     = 8
	maxNestedLoad = 1 << 14
)

// Root is a virtual file system, the root of most games since 2018: names with folders,
// files of one or more spans, and nested manifests. Numbers are big-endian.
//
//	"TVFS" version:1 header_size:1 key_size:1 patch_key_size:1 flags:4
//	( offset:4 size:4 )×3 max_depth:2 [ offset:4 size:4 ]       path, vfs, container, specs
//
//	path       a tree of prefixes: [ 0 ] [ length:1 name ] [ 0 ] [ 0xFF value:4 ]
//	           0 is a separator; bit 31 of a value is set for a folder, which
//	           follows, the value counted in its size; else it is an offset in vfs
//	vfs        spans:1 ( file_offset:4 size:4 container_offset:(1-4) )×spans
//	container  ekey:key_size encoded_size:4 [ specs_offset:(1-4) ] size:4 [ ckey:16 ]
//	           [ patches:1 27×patches ]
//
// The flags say which parts in brackets exist: 1 for content keys, 2 for specs, 4 for
// patches, which require specs too. 8 says that names are in lower case. Unknown flags are
// reported; they may make files unreadable but keep the names. An offset has as many bytes
// as the size of its table needs.
type Root struct {
	top    *tvfsTables
	load   root.Loader
	nested map[keys.Short]bool
	faults root.Faults
}

// Parse reads a manifest. load reads the manifests that are nested in it; Nest says
// which files these are. Without load they are not opened.
func Parse(data []byte, load root.Loader) (*Root, error) {
	t, err := parseTVFSHeader(data)
	if err != nil {
		return nil, err
	}
	return &Root{top: t, load: load, nested: map[keys.Short]bool{}}, nil
}

// Nest says that files with the encoding key are manifests themselves.
func (r *Root) Nest(ekey keys.Key) { r.nested[ekey.Short()] = true }

// Kind returns "tvfs".
func (r *Root) Kind() string { return "tvfs" }

// Problems returns the files, nested manifests and folders that the last run of Files could
// not read.
func (r *Root) Problems() []error { return r.faults.Reported(tvfs) }

// errStopped ends a walk when the caller wants no more.
var errStopped = errors.New("stopped")

// Files yields the files of the manifest and of those nested in it. A nested manifest is
// OUTER: and its files are OUTER:NAME. A damaged entry is a fault and does not affect the
// others. A file whose spans are damaged has Err.
func (r *Root) Files() iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		r.faults = root.Faults{}
		if unknown := r.top.flags &^ tvfsKnownFlags; unknown != 0 {
			r.faults.Add(fmt.Errorf("%w: %w", format.ErrUnsupported, tvfs.Bad(8, "flags %#x, of which %#x are not known", r.top.flags, unknown)))
		}
		w := &tvfsWalk{root: r, yield: yield}
		if err := w.manifest(r.top, "", nil); err != nil && !errors.Is(err, errStopped) {
			yield(root.File{}, err)
		}
	}
}

// tvfsWalk is one run of Files.
type tvfsWalk struct {
	root  *Root
	yield func(root.File, error) bool
	// files, names and loads count the files, the bytes of names, and the nested manifests
	// so far.
	files, names, loads int
}

// manifest yields the files of a manifest. above are the keys of the manifests it is in.
func (w *tvfsWalk) manifest(t *tvfsTables, outer string, above []keys.Short) error {
	return t.walk(tvfsVisitor{
		found: func(name string, vfs uint32) error {
			spans, err := t.spans(vfs)
			if err != nil {
				w.root.faults.Add(fmt.Errorf("%s%s: %w", outer, name, err))
				return w.give(root.File{Name: outer + name, Size: -1, Err: err})
			}
			if len(spans) == 0 {
				return nil
			}
			return w.file(outer+name, spans, above)
		},
		fault: func(folder string, err error) {
			w.root.faults.Add(fmt.Errorf("%s%s: the rest of the folder: %w", outer, folder, err))
		},
	})
}

// file yields a file and, if it is a manifest, the files in it.
func (w *tvfsWalk) file(name string, spans []root.Span, above []keys.Short) error {
	f := root.File{Name: name, CKey: spans[0].CKey, Spans: spans}
	for i := range spans {
		f.Size += spans[i].Size
	}
	key := spans[0].EKey.Short()
	if len(spans) > 1 || !w.root.nested[key] || w.root.load == nil {
		return w.give(f)
	}
	f.Name += ":"
	if err := w.give(f); err != nil {
		return err
	}
	t, err := w.open(&f, above)
	if err != nil {
		w.root.faults.Add(fmt.Errorf("nested manifest %s: %w", f.Name, err))
		return nil
	}
	return w.manifest(t, f.Name, append(slices.Clip(above), key))
}

func (w *tvfsWalk) give(f root.File) error {
	w.files++
	w.names += len(f.Name)
	if w.files > root.MaxFiles || w.names > root.MaxNames {
		return tvfs.Bad(0, "more than %d files, or their names have more than %d bytes", root.MaxFiles, root.MaxNames)
	}
	if len(f.Spans) > 1 {
		f.CKey = keys.Key{} // the content key of the first span is not the file's
	}
	if !w.yield(f, nil) {
		return errStopped
	}
	return nil
}

// open reads a nested manifest.
func (w *tvfsWalk) open(f *root.File, above []keys.Short) (*tvfsTables, error) {
	s := &f.Spans[0]
	if slices.Contains(above, s.EKey.Short()) {
		return nil, tvfs.Bad(0, "it is nested in itself")
	}
	w.loads++
	if len(above) >= maxNested || w.loads > maxNestedLoad {
		return nil, tvfs.Bad(0, "nested deeper than %d, or more than %d times", maxNested, maxNestedLoad)
	}
	data, err := w.root.load.Encoded(s.EKey[:s.KeySize])
	if err != nil {
		return nil, err
	}
	return parseTVFSHeader(data)
}
