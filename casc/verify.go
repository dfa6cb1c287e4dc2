package casc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/encoding"
	"lorefs/casc/far"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/cores"
	"lorefs/internal/shown"
)

// FindingKind is the kind of a finding.
type FindingKind int

const (
	// FindingDamaged means that something does not match its checksum or breaks its format.
	FindingDamaged FindingKind = iota
	// FindingMissing means that something is known but not local. Most installs lack some
	// files on purpose, such as other languages.
	FindingMissing
	// FindingNoKey means that something is whole, but encrypted with an unknown key.
	FindingNoKey
	// FindingFailed means that something far away could not be fetched, so that nobody knows
	// whether it is right.
	FindingFailed
)

func (k FindingKind) String() string {
	switch k {
	case FindingDamaged:
		return "damaged"
	case FindingMissing:
		return "missing"
	case FindingNoKey:
		return "no key"
	case FindingFailed:
		return "failed"
	}
	return fmt.Sprintf("FindingKind(%d)", int(k))
}

// Finding is something that Verify found. Fields that do not apply are zero.
type Finding struct {
	Kind FindingKind
	// File is the file of the root, by its name or else as its ID. Damage is first reported
	// at its place, without File, and then again for each file that can't be read from
	// another encoded form. Row is its entry in the root.
	File string
	Row  *root.File
	// EKey is the encoding key, or its first keys.ShortSize bytes if it comes from a local
	// index.
	EKey []byte
	// Archive is the archive or other file of the source. Off is the offset of the encoded
	// file in it.
	Archive string
	Off     int64
	// What was found and what was expected.
	What string
}

func (f Finding) String() string {
	s := f.Kind.String() + ": "
	if f.File != "" {
		s += f.File + ": "
	}
	if f.Archive != "" {
		s += fmt.Sprintf("%s at %#x: encoding key %x: ", f.Archive, f.Off, f.EKey)
	}
	return s + f.What
}

// VerifyOptions are the options of Verify. The zero value checks everything.
type VerifyOptions struct {
	// Since continues another run: archives before that place are not read again. Damage
	// found there, and the files that have it, are not reported again, because a run that
	// ends early names them.
	Since Place
	// Progress is called now and then. Default: no reports.
	Progress func(Progress)
}

// Place orders the encoded files of a storage by where they are. It is valid as long as
// nobody writes to the storage.
type Place struct {
	// Archive is the number of the archive. In a mirror it is its place among the sorted
	// keys of archives, and loose files follow.
	Archive int
	Off     int64
}

func (p Place) before(other Place) bool {
	return p.Archive < other.Archive || p.Archive == other.Archive && p.Off < other.Off
}

// placeOf returns the place of an encoded file.
func placeOf(e *store.Entry) Place { return Place{e.Archive, e.Off} }

// String is ARCHIVE:OFFSET, as ParsePlace reads it.
func (p Place) String() string { return fmt.Sprintf("%d:%d", p.Archive, p.Off) }

// ParsePlace reads what Place.String wrote.
func ParsePlace(text string) (Place, error) {
	var p Place
	var rest string
	n, _ := fmt.Sscanf(text+" \n", "%d:%d%s", &p.Archive, &p.Off, &rest)
	if n != 2 || p.Archive < 0 || p.Off < 0 {
		return Place{}, fmt.Errorf("casc: %s: no place ARCHIVE:OFFSET", shown.Quote(text))
	}
	return p, nil
}

// Progress is how far Verify is.
type Progress struct {
	// Done is how many of Total bytes in the archives are checked, including those before
	// Since.
	Done, Total int64
	// At is where to continue.
	At Place
}

// verifyBatch is how many encoded files are checked at a time.
const verifyBatch = 256

// Verify reads everything that the index leads to, and checks every checksum: of indexes,
// of each chunk, of the encoding file's pages, of the other manifests, and of the content
// of files that the encoding file has. Then it looks for each file that the root names. An
// index or a root that can't be read any more is damage; what it leads to is not checked.
// An error means that checking could not go on, because of ctx.
func (s *Storage) Verify(ctx context.Context, opts VerifyOptions) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		v := &verifier{s: s, ctx: ctx, opts: opts, bad: map[keys.Short]Finding{}, yield: func(f Finding) bool { return yield(f, nil) }}
		for _, check := range []func() error{v.tables, v.pages, v.manifests, v.spans, v.files} {
			err := check()
			if err != nil && ctx.Err() != nil {
				err = cmp.Or(v.nameDamaged(), err)
			}
			if err != nil {
				if !errors.Is(err, errVerifyStopped) {
					yield(Finding{}, err)
				}
				return
			}
		}
	}
}

// errVerifyStopped ends a run when the caller wants no more.
var errVerifyStopped = errors.New("stopped")

type verifier struct {
	s     *Storage
	ctx   context.Context
	opts  VerifyOptions
	yield func(Finding) bool
	// keys are the content keys of encoded files. encoding is that of the encoding file.
	keys     encoding.ContentKeys
	encoding config.Ref
	// bad are the encoded files that can't be read, with what was found.
	bad map[keys.Short]Finding
	// checked counts the files of the root that were looked at.
	checked int
}

// report yields a finding.
func (v *verifier) report(f Finding) error {
	if err := v.ctx.Err(); err != nil {
		return err
	}
	if !v.yield(f) {
		return errVerifyStopped
	}
	return nil
}

// tables reports what Open found, such as damaged indexes, and checks the tables that
// nothing is read from.
func (v *verifier) tables() error {
	for _, err := range v.s.faults {
		if err := v.report(v.fault(err)); err != nil {
			return err
		}
	}
	if _, err := v.s.Shmem(); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		if err := v.report(v.fault(err)); err != nil {
			return err
		}
	}
	names, err := v.s.IndexNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := v.s.ReadIndex(v.ctx, name); err != nil {
			if err := v.report(v.fault(err)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pages checks the pages of the encoding file.
func (v *verifier) pages() error {
	return v.s.encoding.CheckPages(v.ctx, func(err error) error { return v.report(v.fault(err)) })
}

// manifests checks the manifests of the build.
func (v *verifier) manifests() error {
	for _, read := range []func() error{
		func() error { _, err := v.s.Install(v.ctx); return err },
		func() error { _, err := v.s.Download(v.ctx); return err },
		func() error { _, err := v.s.SizeManifest(v.ctx); return err },
		func() error { _, err := v.s.PatchIndex(v.ctx); return err },
		func() error { _, err := v.s.Patch(v.ctx); return err },
	} {
		err := read()
		if err == nil || errors.Is(err, ErrNotFound) {
			continue
		}
		if err := v.report(Finding{Kind: v.kindOf(err), What: err.Error()}); err != nil {
			return err
		}
	}
	return nil
}

// fault returns the finding of a table that can't be read, which is damage if it is on this machine.
func (v *verifier) fault(err error) Finding {
	f := Finding{Kind: FindingDamaged, What: err.Error()}
	if v.s.IsRemote() {
		f.Kind = v.kindOf(err)
	}
	return f
}

func (v *verifier) kindOf(err error) FindingKind {
	switch {
	case errors.Is(err, ErrNotLocal), v.s.IsRemote() && far.IsGone(err):
		return FindingMissing
	case v.s.Unreached(err):
		return FindingFailed
	case errors.Is(err, blte.ErrNoKey):
		return FindingNoKey
	}
	return FindingDamaged
}

// spans checks all encoded files, in the order of the archives.
func (v *verifier) spans() error {
	all, faults := v.s.archives.Spans(v.ctx)
	if err := v.ctx.Err(); err != nil {
		return err
	}
	for _, err := range faults {
		if err := v.report(v.fault(err)); err != nil {
			return err
		}
	}
	// Unreadable pages have been reported already.
	v.keys, _ = v.s.encoding.ContentKeys(v.ctx, func(keys.Key) bool { return true })
	if v.s.IsRemote() { // the archives have the files of all builds
		all = slices.DeleteFunc(all, func(e store.Entry) bool { _, used := v.keys.Find(e.Key[:e.KeySize]); return !used })
	}
	var err error
	if v.encoding, err = v.s.BuildConfig.Ref("encoding"); err != nil {
		return err
	}
	p := Progress{}
	for i := range all {
		p.Total += all[i].Size
	}
	first := 0
	for first < len(all) && placeOf(&all[first]).before(v.opts.Since) {
		p.Done += all[first].Size
		first++
	}
	if v.s.IsRemote() {
		keys := make([][]byte, len(all)-first)
		for i := range keys {
			e := &all[first+i]
			keys[i] = e.Key[:e.KeySize]
		}
		if _, err := v.s.Rows(v.ctx, keys); err != nil { // they are fetched in rows as they are checked
			return err
		}
	}
	for batch := range slices.Chunk(all[first:], verifyBatch) {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		p.At = placeOf(&batch[0])
		v.progress(p)
		found := v.checkAll(batch)
		if err := v.ctx.Err(); err != nil {
			return err // not all of them were checked
		}
		for i := range batch {
			p.Done += batch[i].Size
			if found[i].What == "" {
				continue
			}
			if found[i].Kind == FindingNoKey || v.s.IsRemote() || found[i].Kind == FindingDamaged && v.isUsed(&found[i]) {
				v.bad[batch[i].Key.Short()] = found[i]
			}
			if err := v.report(found[i]); err != nil {
				return err
			}
		}
	}
	if n := len(all); n > 0 {
		p.At = placeOf(&all[n-1])
		p.At.Off++
	}
	v.progress(p)
	return nil
}

// isUsed reports whether files are read from the damaged place. There may be others, and those
// that don't have the file are skipped.
func (v *verifier) isUsed(f *Finding) bool {
	p, err := v.s.archives.Find(v.ctx, f.EKey)
	if err != nil {
		return true
	}
	return p.In == f.Archive && p.Off == f.Off && !slices.ContainsFunc(v.s.archives.Others(f.EKey), func(p store.File) bool {
		return v.checkPlace(p, f.EKey) == nil
	})
}

func (v *verifier) progress(p Progress) {
	if v.opts.Progress != nil {
		v.opts.Progress(p)
	}
}

// checkAll checks encoded files on all processors.
func (v *verifier) checkAll(batch []store.Entry) []Finding {
	found := make([]Finding, len(batch))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range cores.Count() {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(batch) && v.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				found[i] = v.checkSpan(&batch[i])
			}
		})
	}
	wg.Wait()
	return found
}

// checkSpan decodes an encoded file. What is empty if the file is good.
func (v *verifier) checkSpan(e *store.Entry) Finding {
	p, err := v.s.archives.At(v.ctx, e)
	return v.checkAt(p, err, e.Key[:e.KeySize])
}

// checkFound decodes an encoded file, wherever it is.
func (v *verifier) checkFound(key []byte) Finding {
	p, err := v.s.archives.Find(v.ctx, key)
	return v.checkAt(p, err, key)
}

// checkAt decodes an encoded file at a place, unless err says why that was not found.
func (v *verifier) checkAt(p store.File, err error, key []byte) Finding {
	f := Finding{EKey: key}
	if err == nil {
		f.Archive, f.Off = p.In, p.Off
		err = v.checkPlace(p, key)
	}
	if err != nil {
		f.Kind, f.What = v.kindOf(err), err.Error()
	}
	return f
}

func (v *verifier) checkPlace(p store.File, key []byte) error {
	isBLTE, err := p.IsBLTE(v.ctx)
	if err != nil {
		return err
	}
	if !isBLTE {
		_, err := openRaw(v.ctx, p, key)
		return err
	}
	asking := &askedKeys{Keys: v.s.keys}
	r, err := blte.NewReader(v.ctx, p.ReaderAt, p.Size, blte.Options{Keys: asking, Key: key})
	if err != nil {
		return err
	}
	// A missing key is reported only if all else is right.
	var noKey error
	h := md5.New()
	for i := range r.Header().Chunks {
		err := r.CopyChunk(v.ctx, h, i)
		if err != nil && !errors.Is(err, blte.ErrNoKey) {
			return err
		}
		noKey = cmp.Or(err, noKey)
	}
	if ckey, known := v.contentKey(key); known && noKey == nil {
		return compareContent(keys.Key(h.Sum(nil)), ckey, asking.asked)
	}
	return noKey
}

// contentKey returns the content key of an encoded file.
func (v *verifier) contentKey(key []byte) (keys.Key, bool) {
	if bytes.HasPrefix(v.encoding.EKey[:], key) {
		return v.encoding.CKey, true
	}
	return v.keys.Find(key)
}

// askedKeys notes whether a key was needed.
type askedKeys struct {
	blte.Keys
	asked bool
}

func (k *askedKeys) EncryptionKey(name blte.KeyName) (blte.EncryptionKey, bool) {
	k.asked = true
	return k.Keys.EncryptionKey(name)
}
