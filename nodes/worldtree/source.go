package worldtree

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/geometry"
	"lorefs/nodes"
)

// kind is what a source holds.
type kind uint8

const (
	zone kind = iota
	area
)

// source is a file of the folder.
type source struct {
	// file is its name in the folder, name what is made of it is called by.
	file, name string
	kind       kind
	at         geometry.ZonePosition // of a zone
	size       int64
	modTime    time.Time
	// key is what its IDs are made of, index its place among all sources.
	key   uint64
	index int

	// views is what became of each view; broken is why none can be made.
	views  [viewCount]viewState
	broken atomic.Pointer[error]
}

// viewState is what is known of a file that the tree shows. Once it was told that
// it has no contents it never has any: who was told a size would read the contents
// cut off there.
type viewState struct {
	// size is 0 as long as it is not known; from then on neither it nor failed
	// changes.
	size   atomic.Int64
	failed error

	mu sync.Mutex // held by who finds out
}

// scan finds the sources of a folder, in the order of kinds and names.
func scan(fsys iofs.FS, opts *Options) ([]*source, error) {
	entries, err := iofs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var all []*source
	for _, e := range entries {
		s, wanted := identify(e.Name(), opts)
		if !wanted {
			continue
		}
		info, err := iofs.Stat(fsys, e.Name())
		if err != nil || !info.Mode().IsRegular() {
			opts.Logger.Warn("left out: no file that can be read", "file", e.Name(), "error", err)
			continue
		}
		s.size, s.modTime = info.Size(), info.ModTime()
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	all = slices.CompactFunc(all, func(a, b *source) bool {
		same := a.kind == b.kind && a.name == b.name
		if same {
			opts.Logger.Warn("left out: another file has the same name but for case or zeros", "file", b.file, "other", a.file)
		}
		return same
	})
	setKeys(all)
	return all, nil
}

// maxName is the longest name of a file, in bytes.
const maxName = 255

// identify makes a source of a file's name. wanted is false for a file that is
// not to be shown.
func identify(file string, opts *Options) (s *source, wanted bool) {
	ext := path.Ext(file)
	name := strings.ToLower(strings.TrimSuffix(file, ext))
	s = &source{file: file, name: name}
	switch strings.ToLower(ext) {
	case ".zgd":
		at, ok := geometry.ParseZoneName(name)
		if !ok {
			opts.Logger.Warn("left out: not the name of a zone", "file", file)
			return nil, false
		}
		s.kind, s.at, s.name = zone, at, at.String()
		return s, opts.Zones(at)
	case ".apd":
		s.kind = area
		if name == "" || name[0] == '.' || len(name) > maxName-len(forms[areaGeoJSON].ext) {
			opts.Logger.Warn("left out: not the name of an area", "file", file)
			return nil, false
		}
		return s, opts.Areas(name)
	}
	return nil, false
}

// keyBits is the size of a key. That two of some thousand names have the same is
// next to impossible, but it may not happen at all.
const keyBits = 40

// setKeys gives each source a key of its own, made of its name.
func setKeys(all []*source) {
	taken := make(map[uint64]bool, len(all))
	for i, s := range all {
		h := fnv.New64a()
		_, _ = io.WriteString(h, s.name)
		_, _ = h.Write([]byte{byte(s.kind)})
		s.index, s.key = i, h.Sum64()&(1<<keyBits-1)
		for taken[s.key] {
			s.key = (s.key + 1) & (1<<keyBits - 1)
		}
		taken[s.key] = true
	}
}

// maxFile is more than any file can have that is decoded.
const maxFile = geometry.MaxArea + 1<<20

// read gives the whole file, if it is still the one that was there at first.
func (s *source) read(fsys iofs.FS) ([]byte, error) {
	if s.size > maxFile {
		return nil, &geometry.FormatError{In: "file", Off: maxFile, What: fmt.Sprintf("it has %d bytes", s.size), Err: geometry.ErrTooLarge}
	}
	f, err := fsys.Open(s.file)
	if err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", nodes.ErrChanged, err)
		}
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := s.unchanged(f); err != nil {
		return nil, err
	}
	data := make([]byte, s.size)
	if n, err := io.ReadFull(f, data); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: it ends after %d of %d bytes", nodes.ErrChanged, n, s.size)
		}
		return nil, err
	}
	return data, s.unchanged(f)
}

// unchanged compares an open file with the one that was there at first.
func (s *source) unchanged(f iofs.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() != s.size:
		return fmt.Errorf("%w: it had %d bytes and has %d", nodes.ErrChanged, s.size, info.Size())
	case !info.ModTime().Equal(s.modTime):
		return fmt.Errorf("%w: it was written to", nodes.ErrChanged)
	}
	return nil
}
