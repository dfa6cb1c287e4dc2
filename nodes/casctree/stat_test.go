package casctree_test

import (
	"bytes"
	"io"
	iofs "io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
)

// TestStatReadsNoContent looks at everything from opening on. That reads root and manifests
// from the archives, but nothing of any file.
func TestStatReadsNoContent(t *testing.T) {
	for _, root := range []string{"wow 3", "tvfs", "text", "mndx 2"} {
		g, files, sopts, opts := makeGame(t, root, "install")
		opts.Missing = true
		fsys := &recording{MapFS: casctest.FS(files)}
		tree := open(t, fsys, sopts, opts)
		entries := listed(t, tree, "files")
		for name, e := range entries {
			if attr, err := tree.Attr(t.Context(), e.ID); err != nil || attr.Size != e.Size {
				t.Errorf("%s: %s: %+v, %v; listed with %d bytes", root, name, attr, err, e.Size)
			}
		}
		for name, s := range g.ByName {
			if strings.HasSuffix(name, ":") {
				continue // a nested manifest is a part of the root
			}
			if fsys.read(files, s) {
				t.Errorf("%s: the content of %s is read", root, name)
			}
		}
		// Check that a read is noticed. Not all files are read, for some have several
		// forms.
		for _, e := range entries {
			_, _ = readAll(t.Context(), tree, e)
		}
		seen := 0
		for _, s := range g.ByName {
			if fsys.read(files, s) {
				seen++
			}
		}
		if seen < len(g.ByName)/2 {
			t.Errorf("%s: of %d files only %d are seen to be read", root, len(g.ByName), seen)
		}
	}
}

// recording notes what is read of each file.
type recording struct {
	fstest.MapFS
	mu    sync.Mutex
	spans []readSpan
}

type readSpan struct {
	file      string
	from, end int64
}

func (r *recording) Open(name string) (iofs.File, error) {
	f, err := r.MapFS.Open(name)
	if src, ok := f.(io.ReaderAt); ok && err == nil {
		return &recorded{f, src, name, r}, nil
	}
	return f, err
}

type recorded struct {
	iofs.File
	src  io.ReaderAt
	name string
	to   *recording
}

func (f *recorded) ReadAt(p []byte, off int64) (int, error) {
	f.to.mu.Lock()
	defer f.to.mu.Unlock()
	f.to.spans = append(f.to.spans, readSpan{f.name, off, off + int64(len(p))})
	return f.src.ReadAt(p, off)
}

// read reports whether any of a stored file was read.
func (r *recording) read(files write.Files, s write.Stored) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		at := int64(bytes.Index(files[span.file], s.Encoded))
		if at >= 0 && len(s.Encoded) > 0 && span.from < at+int64(len(s.Encoded)) && span.end > at {
			return true
		}
	}
	return false
}
