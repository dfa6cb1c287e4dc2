package worldtree

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	iofs "io/fs"
	"sync"

	"lorefs/geometry"
	"lorefs/internal/cache"
)

// memoryKind is the version of the record, and of the texts whose sizes it has.
// TestSizesOfThisVersion fails if the number must be increased.
const memoryKind = "world sizes 6"

// memory describes a file, as JSON that Options.Memory keeps, so that sizes and sums are known
// at the next mount without decoding.
type memory struct {
	File string `json:"file"`
	// Size, Time (in nanoseconds since 1970) and Ends show whether it is still the same
	// file.
	Size int64  `json:"size"`
	Time int64  `json:"time"`
	Ends string `json:"ends"`
	// Origin is the origin of its world, on which positions and so sizes depend.
	Origin geometry.ZonePosition `json:"origin"`
	Totals totals                `json:"totals"`
	// Views are the sizes of its views, 0 if unknown or the same for all files.
	Views [viewCount]int64 `json:"views"`
}

// remembering holds what an earlier run knew of a source, and what this one has learned.
type remembering struct {
	mu sync.Mutex
	// before is from an earlier run, or nil. It is not used until the file was looked at.
	before  *memory
	checked bool
	// mistaken is set if what was remembered is wrong, or has become so.
	mistaken bool
	// ends is the digest of the file's ends, empty until it was read.
	ends string
	// totals is nil until the file was decoded.
	totals *totals
}

// endBytes is how much of each end of a file is compared. Two different Brotli streams
// hardly ever agree in both.
const endBytes = 4 << 10

// endsOf returns the digest of the ends of a file.
func endsOf(head, tail []byte) string {
	h := sha256.New()
	h.Write(head)
	h.Write(tail)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// endsOfData is endsOf for a file as a whole.
func endsOfData(data []byte) string {
	n := min(len(data), endBytes)
	return endsOf(data[:n], data[len(data)-n:])
}

func (s *version) readEnds(fsys iofs.FS) (string, error) {
	f, err := fsys.Open(s.file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if err := s.unchanged(f); err != nil {
		return "", err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		return "", fmt.Errorf("%s cannot be read at any place", s.file)
	}
	n := min(s.size, endBytes)
	ends := make([]byte, 2*n)
	if _, err := r.ReadAt(ends[:n], 0); err != nil && err != io.EOF {
		return "", err
	}
	if _, err := r.ReadAt(ends[n:], s.size-n); err != nil && err != io.EOF {
		return "", err
	}
	return endsOf(ends[:n], ends[n:]), nil
}

// recall returns what an earlier run remembered of a source, or nil.
func (t *Tree) recall(s *version) *memory {
	r := &s.remembering
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mistaken {
		return nil
	}
	if r.before == nil || r.checked {
		return r.before
	}
	r.checked = true
	ends, err := s.readEnds(t.fsys)
	if err != nil || ends != r.before.Ends {
		r.before = nil
		return nil
	}
	r.ends = ends
	return r.before
}

// forget makes sure that nothing is remembered of a source.
func (s *source) forget() {
	s.remembering.mu.Lock()
	defer s.remembering.mu.Unlock()
	s.remembering.mistaken = true
}

// rememberDecoded remembers results of decoding.
func (s *source) rememberDecoded(data []byte, sum totals) {
	s.remembering.mu.Lock()
	defer s.remembering.mu.Unlock()
	s.remembering.ends, s.remembering.totals = endsOfData(data), &sum
}

// memoryID returns the key of the folder's memory.
func (t *Tree) memoryID() cache.ID {
	return cache.ID{Kind: memoryKind, Of: sha256.Sum256([]byte(t.opts.Folder))}
}

// load gives the sources what is remembered of them. It ignores what can't be used.
func (t *Tree) load() {
	if t.opts.Memory == nil {
		return
	}
	data, err := t.memoryID().Load(t.opts.Memory)
	if err != nil {
		return
	}
	var files []memory
	if err := json.Unmarshal(data, &files); err != nil {
		return
	}
	byFile := make(map[string]*memory, len(files))
	for i := range files {
		byFile[files[i].File] = &files[i]
	}
	for _, s := range t.sources {
		m, now := byFile[s.file], s.now()
		if m != nil && m.Size == now.size && m.Time == now.modTime.UnixNano() && m.Origin == t.origin(s) {
			s.remembering.before = m
		}
	}
}

// origin returns the origin of a source's world. Areas need none.
func (t *Tree) origin(s *source) geometry.ZonePosition {
	if s.kind == area {
		return geometry.ZonePosition{}
	}
	return t.opts.Origin(s.at)
}

// Remember saves what was found out, if that is more than was remembered. It is called when
// the tree is no longer used.
func (t *Tree) Remember() error {
	t.listing.end()
	if t.opts.Memory == nil {
		return nil
	}
	files := []memory{}
	news := false
	for _, s := range t.sources {
		m, isNew := t.memoryOf(s)
		news = news || isNew
		if m != nil {
			files = append(files, *m)
		}
	}
	if !news {
		return nil
	}
	data, err := json.Marshal(files)
	if err != nil {
		return err
	}
	id := t.memoryID()
	return id.Save(t.opts.Memory, cache.Seal(append(id.Begin(len(data)), data...)))
}

// memoryOf returns what is to be remembered of a source, or nil, and whether that is more
// than was remembered before.
func (t *Tree) memoryOf(s *source) (m *memory, news bool) {
	r := &s.remembering
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.mistaken:
		return nil, true
	case r.totals == nil:
		return r.before, false
	}
	now := s.now()
	m = &memory{File: s.file, Size: now.size, Time: now.modTime.UnixNano(), Ends: r.ends, Origin: t.origin(s), Totals: *r.totals}
	for v := range now.made.views {
		if state := &now.made.views[v]; state.size.Load() > 0 && state.failed == nil {
			m.Views[v] = state.size.Load()
		} else if r.before != nil {
			m.Views[v] = r.before.Views[v]
		}
	}
	return m, r.before == nil || *r.before != *m
}
