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

// kind says whether a source is a zone or an area.
type kind uint8

const (
	zone kind = iota
	area
)

// source is a file of the folder.
type source struct {
	// file is its name in the folder, name that of its views.
	file, name string
	kind       kind
	at         geometry.ZonePosition // of a zone
	// key is the part of its IDs that is its own. index is its place among all sources.
	key   uint64
	index int

	// current has its content as it is now. Only an Editable changes it.
	current atomic.Pointer[version]
	// since has the records of edits made while the source is being saved, else it is nil. It
	// changes only under the lock of edits.
	since [][]byte

	remembering remembering
}

// version is the content of a source at some time. It does not change.
type version struct {
	*source
	// size and modTime are those of the file.
	size    int64
	modTime time.Time
	// shown is the modification time in the tree.
	shown time.Time
	// edit replaces the file's content, or is nil. net is then where that
	// differs, and base the version without an edit.
	edit *edit
	net  *net
	base *version
	// logged is set if edits were logged that are not in the file, even if they undo each
	// other.
	logged bool
	// made has the results of decoding. Versions of equal content share it.
	made *made
}

// made has the results of decoding a version.
type made struct {
	// number distinguishes its blocks from those of other versions of the source.
	number uint64
	// views are the states of the views. broken is why none can be made.
	views  [viewCount]viewState
	broken atomic.Pointer[error]
}

func (s *source) now() *version { return s.current.Load() }

// saved returns the version with the content of the file in the folder.
func (s *version) saved() *version {
	if s.base != nil {
		return s.base
	}
	return s
}

// viewState is the state of a file in the tree. Once it has failed it fails forever: a
// program that was told the size of the failed file would read the content cut off there.
type viewState struct {
	// size is 0 while it is not known. Then neither it nor failed changes any more.
	size   atomic.Int64
	failed error

	// begun is set when the size begins to be found out before it is asked for.
	begun atomic.Bool

	mu sync.Mutex // held while the size is found out
}

type scanner struct {
	opts    *Options
	leftOut []LeftOut
}

// leaveOut records that a file is left out, and why.
func (c *scanner) leaveOut(file, why string) {
	c.leftOut = append(c.leftOut, LeftOut{file, why})
	c.opts.Logger.Warn("left out: "+why, "file", file)
}

// scan finds the sources of a folder, sorted by kind and name.
func (c *scanner) scan(fsys iofs.FS) ([]*source, error) {
	entries, err := iofs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var all []*source
	for _, e := range entries {
		s, wanted := c.identify(e.Name())
		if !wanted {
			continue
		}
		info, err := iofs.Stat(fsys, e.Name())
		if err != nil || !info.Mode().IsRegular() {
			c.leaveOut(e.Name(), "no file that can be read")
			continue
		}
		s.current.Store(&version{source: s, size: info.Size(), modTime: info.ModTime(), shown: info.ModTime(), made: &made{}})
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	all = slices.CompactFunc(all, func(a, b *source) bool {
		same := a.kind == b.kind && a.name == b.name
		if same {
			c.leaveOut(b.file, fmt.Sprintf("%s has the same name but for case or zeros", a.file))
		}
		return same
	})
	setKeys(all)
	return all, nil
}

// maxName is the longest name of a file, in bytes.
const maxName = 255

// identify makes a source of a file's name. wanted is false for a file that is not shown.
func (c *scanner) identify(file string) (s *source, wanted bool) {
	ext := path.Ext(file)
	name := strings.ToLower(strings.TrimSuffix(file, ext))
	s = &source{file: file, name: name}
	switch strings.ToLower(ext) {
	case ".zgd":
		at, ok := geometry.ParseZoneName(name)
		if !ok {
			c.leaveOut(file, "not the name of a zone")
			return nil, false
		}
		s.kind, s.at, s.name = zone, at, at.String()
		return s, c.opts.Zones(at)
	case ".apd":
		s.kind = area
		if name == "" || name[0] == '.' || len(name) > maxName-len(forms[areaGeoJSON].ext) {
			c.leaveOut(file, "not the name of an area")
			return nil, false
		}
		return s, c.opts.Areas(name)
	}
	return nil, false
}

// keyBits is the size of a key. Two of some thousand names hardly ever have the same key,
// but it must never happen.
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

// maxFile is larger than any file that can be decoded.
const maxFile = geometry.MaxArea + 1<<20

// read returns the whole file, if it is unchanged.
func (s *version) read(fsys iofs.FS) ([]byte, error) {
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

// unchanged returns an error if an open file is not the one that was there at first.
func (s *version) unchanged(f iofs.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return s.same(info)
}

// same returns an error if a file is not as it was at first.
func (s *version) same(info iofs.FileInfo) error {
	switch {
	case info.Size() != s.size:
		return fmt.Errorf("%w: it had %d bytes and has %d", nodes.ErrChanged, s.size, info.Size())
	case !info.ModTime().Equal(s.modTime):
		return fmt.Errorf("%w: it was written to", nodes.ErrChanged)
	}
	return nil
}
