package casc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"lorefs/blte"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
)

// StoredFile is an encoded file as it is stored.
type StoredFile struct {
	Key  keys.Key
	Size int64
	io.ReaderAt
}

// StoredHere returns the encoded file of a storage in a folder whose key begins with prefix, from a place where all of it
// matches that key. That of a chunk whose encryption key is not known matches what the file states.
func (s *Storage) StoredHere(ctx context.Context, prefix []byte) (StoredFile, error) {
	key, err := s.WholeKey(ctx, prefix)
	if err != nil {
		return StoredFile{}, err
	}
	p, err := s.archives.Find(ctx, prefix)
	if err != nil {
		return StoredFile{}, err
	}
	var first error
	for _, p := range slices.Concat([]store.File{p}, s.archives.Others(prefix)) {
		err := s.proveStored(ctx, p, key[:])
		if err == nil {
			return StoredFile{key, p.Size, p.ReaderAt}, nil
		}
		if first == nil {
			first = err
		}
	}
	return StoredFile{}, first
}

// WholeKey returns the encoding key that begins with prefix: one that the build configuration names, or that of the
// encoding file.
func (s *Storage) WholeKey(ctx context.Context, prefix []byte) (key keys.Key, err error) {
	if len(prefix) == len(key) {
		return keys.Key(prefix), nil
	}
	named, err := s.tableKeys()
	if err != nil {
		return key, err
	}
	if i := slices.IndexFunc(named, func(k keys.Key) bool { return bytes.HasPrefix(k[:], prefix) }); i >= 0 {
		return named[i], nil
	}
	e, err := s.encoding.FindEncoded(ctx, prefix)
	return e.EKey, err
}

// proveStored compares an encoded file with its key.
func (s *Storage) proveStored(ctx context.Context, p store.File, key []byte) error {
	isBLTE, err := p.IsBLTE(ctx)
	if err != nil {
		return err
	}
	if !isBLTE {
		_, err := openRaw(ctx, p, key)
		return err
	}
	r, err := blte.NewReader(ctx, p.ReaderAt, p.Size, blte.Options{Keys: s.keys, Key: key})
	if err != nil {
		return err
	}
	for i := range r.Header().Chunks {
		if err := r.CopyChunk(ctx, io.Discard, i); err != nil && !errors.Is(err, blte.ErrNoKey) {
			return err
		}
	}
	return nil
}

// tableKeys returns the encoding keys of the tables that the build configuration names, as far as it has them.
func (s *Storage) tableKeys() (named []keys.Key, err error) {
	refs, err := s.tableRefs()
	for _, ref := range refs {
		if !ref.EKey.IsZero() {
			named = append(named, ref.EKey)
		}
	}
	return named, err
}

// tablesHere returns the encoding keys of the tables of the build that are in the folder. The build configuration may
// only have their content keys.
func (s *Storage) tablesHere() (here []keys.Key, err error) {
	refs, err := s.tableRefs()
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		forms := []keys.Key{ref.EKey}
		if ref.EKey.IsZero() && !ref.CKey.IsZero() {
			e, err := s.encoding.Find(context.Background(), ref.CKey) // nobody has to wait for a folder
			if err != nil {
				continue // reading the table says so
			}
			forms = e.EKeys
		}
		if i := slices.IndexFunc(forms, func(k keys.Key) bool { return !k.IsZero() && s.Has(k[:keys.ShortSize]) }); i >= 0 && !slices.Contains(here, forms[i]) {
			here = append(here, forms[i])
		}
	}
	return here, nil
}
