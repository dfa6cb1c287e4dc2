package casc

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"sync"

	"lorefs/blte"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
	"lorefs/internal/readat"
)

// State says whether a file can be read.
type State int

// The states of a file.
const (
	// StateLocal means that all its data is local and can be decoded.
	StateLocal State = iota
	// StateNotLocal means that some of its data is not local.
	StateNotLocal
	// StateNoKey means that some of it is encrypted with an unknown key.
	StateNoKey
)

func (s State) String() string {
	switch s {
	case StateLocal:
		return "local"
	case StateNotLocal:
		return "not local"
	case StateNoKey:
		return "encrypted without key"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Info describes a file without reading it.
type Info struct {
	// Size is the decoded size, or -1 if nothing states it.
	Size  int64
	State State
	// Key is the name of the missing key, if State is StateNoKey.
	Key blte.KeyName
}

// encoded is an encoded file to open, and what is known about it.
type encoded struct {
	// key is the encoding key or its beginning.
	key []byte
	// ckey is the content key, zero if it is not known.
	ckey keys.Key
	// size is the decoded size, 0 if it is not known.
	size int64
	access
}

// access says how an encoded file is read. The zero value is for the storage itself.
type access struct {
	// blocks caches its chunks, if it is not nil.
	blocks blte.BlockCache
	// fill has zeros for chunks of unknown keys.
	fill bool
}

// users returns the access of users to files.
func (s *Storage) users(ctx context.Context) access {
	return access{s.opts.Blocks, s.opts.FillMissingKeys || ctx.Value(filling{}) != nil}
}

// filling is the key of a context of [Filled].
type filling struct{}

// Filled returns a context. Files that are opened with it are read as Options.FillMissingKeys has it:
// with zeros for chunks whose key is not known.
func Filled(ctx context.Context) context.Context { return context.WithValue(ctx, filling{}, true) }

// open opens an encoded file. If the index has several places, it reads from any that has the
// file.
func (s *Storage) open(ctx context.Context, e encoded) (decoded, error) {
	p, err := s.archives.Find(ctx, e.key)
	if err != nil {
		return nil, err
	}
	others := s.archives.Others(e.key)
	if len(others) == 0 {
		return s.openAt(ctx, p, e)
	}
	e.key = bytes.Clone(e.key) // it is kept
	f := &forms{}
	for _, p := range append([]store.File{p}, others...) {
		f.all = append(f.all, &form{open: func(ctx context.Context) (decoded, error) { return s.openAt(ctx, p, e) }})
	}
	if err := f.openFirst(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// openAt opens an encoded file at its place.
func (s *Storage) openAt(ctx context.Context, p store.File, e encoded) (decoded, error) {
	key := bytes.Clone(e.key) // it is kept
	l := &located{key: key, place: p}
	isBLTE, err := p.IsBLTE(ctx)
	if err != nil {
		return nil, l.fail(err)
	}
	if !isBLTE {
		if l.decoded, err = openRaw(ctx, p, key); err != nil {
			return nil, l.fail(err)
		}
		return l, nil
	}
	opts := blte.Options{
		Keys: s.keys, Key: key, Size: max(e.size, 0), Proven: p.Proven,
		Decrypted: func(ctx context.Context, r *blte.Reader) error { return s.prove(ctx, r, key, e.ckey) },
	}
	if e.blocks != nil {
		opts.Blocks, opts.FirstBlock = e.blocks, s.blocks.First(key)
	}
	r, err := blte.NewReader(ctx, p.ReaderAt, p.Size, opts)
	if err != nil {
		return nil, l.fail(err)
	}
	if l.decoded = r; e.fill {
		l.decoded = filled{r}
	}
	return l, nil
}

// located adds the place of an encoded file to its errors.
type located struct {
	decoded
	key   []byte
	place store.File
}

func (l *located) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := l.decoded.ReadAtContext(ctx, p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		err = l.fail(err)
	}
	return n, err
}

// Gaps implements decoded.
func (l *located) Gaps(ctx context.Context) ([]blte.Gap, error) {
	all, err := l.decoded.Gaps(ctx)
	if err != nil {
		err = l.fail(err)
	}
	return all, err
}

func (l *located) fail(err error) error {
	return fmt.Errorf("encoding key %x, %v: %w", l.key, &l.place, err)
}

// maxPatch bounds the patch manifest, in bytes, because it is checked as a whole.
const maxPatch = 1 << 28

// openRaw opens a file that is not BLTE. Its key is the MD5 of the whole file or, of a
// patch manifest, of its beginning. The content is not copied.
func openRaw(ctx context.Context, p store.File, key []byte) (decoded, error) {
	h := md5.New()
	content, err := readat.Check(ctx, p.ReaderAt, p.Size, h)
	if err != nil {
		return nil, err
	}
	begin := make([]byte, min(p.Size, 4))
	if err := readat.Full(readat.Bound(ctx, content), begin, 0); err != nil {
		return nil, err
	}
	sum := keys.Key(h.Sum(nil))
	if bytes.HasPrefix(begin, []byte(manifests.PatchMagic)) && p.Size <= maxPatch {
		b := make([]byte, p.Size)
		if err := readat.Full(readat.Bound(ctx, content), b, 0); err != nil {
			return nil, err
		}
		if m, err := manifests.ParsePatch(b); err == nil {
			sum = m.Key
		}
	}
	if !bytes.HasPrefix(sum[:], key) {
		return nil, &FormatError{
			Format: "file", What: fmt.Sprintf("neither BLTE nor of this MD5: it begins with % x", begin),
		}
	}
	return raw{content}, nil
}

// Open opens a file of Files.
func (s *Storage) Open(ctx context.Context, f *root.File) (*Content, error) {
	if f.Err != nil {
		return nil, fmt.Errorf("casc: %s: %w", f.Name, f.Err)
	}
	if len(f.Spans) == 0 {
		return s.OpenContent(ctx, f.CKey)
	}
	c := &Content{}
	for i := range f.Spans {
		sp := &f.Spans[i]
		d, err := s.open(ctx, encoded{key: sp.EKey[:sp.KeySize], ckey: sp.CKey, size: sp.ContentSize, access: s.users(ctx)})
		if err != nil {
			return nil, fmt.Errorf("casc: span %d of %d: %w", i, len(f.Spans), err)
		}
		if sp.Off+sp.Size > d.Size() {
			return nil, fmt.Errorf("casc: span %d of %d: %d bytes at %d of a content of %d", i, len(f.Spans), sp.Size, sp.Off, d.Size())
		}
		c.add(d, sp.Off, sp.Size)
	}
	return c, nil
}

// OpenName opens the file that Lookup finds.
func (s *Storage) OpenName(ctx context.Context, name string) (*Content, error) {
	f, err := s.Lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, &f)
}

// OpenContent opens a file by its content key, in any encoded form that is local and whole.
// The error may match ErrNotFound or ErrNotLocal.
func (s *Storage) OpenContent(ctx context.Context, ckey keys.Key) (*Content, error) {
	return s.openContent(ctx, ckey, s.users(ctx))
}

func (s *Storage) openContent(ctx context.Context, ckey keys.Key, as access) (*Content, error) {
	entry, err := s.encoding.Find(ctx, ckey)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	var all []encoded
	for i := range entry.EKeys {
		all = append(all, encoded{key: entry.EKeys[i][:], ckey: ckey, size: entry.Size, access: as})
	}
	d, err := s.openForms(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("casc: content key %v: %w", ckey, err)
	}
	return newContent(d), nil
}

// OpenForms opens a content of size bytes by the encoding keys of its forms, or the first
// keys.ShortSize bytes of each. It reads from any form that is local and whole. ckey may be
// zero. If no form is local the error matches ErrNotLocal.
func (s *Storage) OpenForms(ctx context.Context, ckey keys.Key, keys [][]byte, size int64) (*Content, error) {
	var all []encoded
	for _, key := range keys {
		all = append(all, encoded{key: key, ckey: ckey, size: size, access: s.users(ctx)})
	}
	d, err := s.openForms(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	return newContent(d), nil
}

// openForms opens a content by its encoded forms.
func (s *Storage) openForms(ctx context.Context, all []encoded) (decoded, error) {
	if len(all) == 1 {
		return s.open(ctx, all[0])
	}
	f := &forms{}
	for i := range all {
		f.all = append(f.all, &form{open: func(ctx context.Context) (decoded, error) { return s.open(ctx, all[i]) }})
	}
	if all[0].fill {
		// Otherwise it would depend on what is read at once which form has the zeros.
		kept, _, err := f.fullest(ctx)
		if err != nil {
			return nil, err
		}
		f.all = kept
	}
	if err := f.openFirst(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// OpenEncoded opens a file by its encoding key, or at least the first keys.ShortSize bytes of
// it. If its decoded size is known from nowhere, the whole file is decoded.
func (s *Storage) OpenEncoded(ctx context.Context, prefix []byte) (*Content, error) {
	return s.openEncoded(ctx, prefix, s.users(ctx))
}

func (s *Storage) openEncoded(ctx context.Context, prefix []byte, as access) (*Content, error) {
	if len(prefix) < keys.ShortSize || len(prefix) > len(keys.Key{}) {
		return nil, fmt.Errorf("casc: encoding key %x: expected %d to %d bytes", prefix, keys.ShortSize, len(keys.Key{}))
	}
	d, err := s.open(ctx, encoded{key: prefix, access: as})
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	return newContent(d), nil
}

// Stat describes a file of Files. It looks into the encoding file and the indexes. It looks
// at the beginnings of chunks only if the encoding file does not say how the file is
// encoded.
func (s *Storage) Stat(ctx context.Context, f *root.File) (Info, error) {
	if f.Err != nil {
		return Info{}, fmt.Errorf("casc: %s: %w", f.Name, f.Err)
	}
	if s.IsRemote() {
		return Info{Size: f.Size}, nil // to know more would take as long as reading it
	}
	if len(f.Spans) == 0 {
		return s.StatContent(ctx, f.CKey, f.Size)
	}
	info := Info{Size: f.Size}
	for i := range f.Spans {
		sp := &f.Spans[i]
		part, err := s.statEncoded(ctx, sp.EKey[:sp.KeySize], sp.ContentSize)
		if err != nil {
			return Info{}, err
		}
		if part.State != StateLocal {
			part.Size = info.Size
			return part, nil
		}
	}
	return info, nil
}

// StatContent describes a content key, with the state of the form that can best be read.
// size is used if the encoding file does not have the key.
func (s *Storage) StatContent(ctx context.Context, ckey keys.Key, size int64) (Info, error) {
	entry, err := s.encoding.Find(ctx, ckey)
	if errors.Is(err, ErrNotFound) {
		return Info{Size: size, State: StateNotLocal}, nil
	}
	if err != nil {
		return Info{}, err
	}
	info := Info{Size: entry.Size, State: StateNotLocal}
	var errs []error
	for _, ekey := range entry.EKeys {
		part, err := s.statEncoded(ctx, ekey[:], entry.Size)
		part.Size = entry.Size
		switch {
		case err != nil:
			errs = append(errs, err)
		case part.State == StateLocal:
			return part, nil
		case info.State == StateNotLocal:
			info = part
		}
	}
	if info.State == StateNotLocal && len(errs) > 0 {
		return Info{}, whyNoForm(errs)
	}
	return info, nil
}

// Has reports whether the file whose encoding key begins with prefix, of at least
// keys.ShortSize bytes, is local. It looks only into the indexes. It returns true if it can't
// find out; opening the file then says why.
func (s *Storage) Has(prefix []byte) bool {
	if len(prefix) < keys.ShortSize {
		return false
	}
	ok, err := s.archives.Has(prefix)
	return ok || err != nil
}

// statEncoded returns the state of an encoded file with the decoded size. It does not set
// the size of the Info.
func (s *Storage) statEncoded(ctx context.Context, key []byte, size int64) (Info, error) {
	if !s.Has(key) {
		return Info{State: StateNotLocal}, nil
	}
	if s.IsRemote() {
		return Info{}, nil
	}
	// If the encoding file does not say how it is encoded, the file itself does.
	if entry, err := s.encoding.FindEncoded(ctx, key); err == nil {
		if missing, ok := s.specs.missing(entry.Spec, s.keys); ok {
			return missing, nil
		}
	}
	d, err := s.open(ctx, encoded{key: key, size: size, access: access{blocks: s.opts.Blocks}})
	if err != nil {
		return Info{}, err
	}
	name, missing, err := d.MissingKey(ctx)
	if missing {
		return Info{State: StateNoKey, Key: name}, err
	}
	return Info{}, err
}

// specCache remembers which ESpecs have unknown keys.
type specCache struct {
	mu    sync.RWMutex // guards known
	known map[string]Info
}

// missing returns the state that a spec implies, or false for a bad spec.
func (c *specCache) missing(text string, keys blte.KeyRing) (Info, bool) {
	c.mu.RLock()
	info, ok := c.known[text]
	c.mu.RUnlock()
	if ok {
		return info, true
	}
	spec, err := blte.ParseSpec(text)
	if err != nil {
		return Info{}, false
	}
	for name := range spec.KeyNames() {
		if _, ok := keys[name]; !ok {
			info = Info{State: StateNoKey, Key: name}
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]Info{}
	}
	if len(c.known) < maxSpecsKnown {
		c.known[text] = info
	}
	return info, true
}

// maxSpecsKnown bounds the cache of specs. Most builds have few.
const maxSpecsKnown = 1 << 16
