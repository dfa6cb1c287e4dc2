package casc

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"slices"
	"sort"

	"lorefs/blte"
	"lorefs/casc/keys"
)

// maxProven is how many encrypted files are remembered as proven, so that a file is not
// read through each time it is opened.
const maxProven = 1 << 14

// prove compares the content of a file with encrypted chunks with its content key, before
// any of it is returned. The other checksums cover only encrypted bytes. It reads the whole
// file, once. A file without a known content key passes. ckey may be zero.
func (s *Storage) prove(ctx context.Context, r *blte.Reader, key []byte, ckey keys.Key) error {
	id := encodingKeyOf(key)
	if s.proven.Contains(id) {
		return nil
	}
	if ckey.IsZero() {
		var err error
		if ckey, err = s.contentKeyOf(ctx, key); err != nil {
			return err
		}
	}
	if !ckey.IsZero() {
		h := md5.New()
		for i := range r.Header().Chunks {
			if err := r.CopyChunk(ctx, h, i); err != nil {
				return err
			}
		}
		if err := compareContent(keys.Key(h.Sum(nil)), ckey, true); err != nil {
			return err
		}
	}
	s.proven.Add(id, struct{}{})
	return nil
}

func compareContent(sum, ckey keys.Key, decrypted bool) error {
	if sum == ckey {
		return nil
	}
	why := ""
	if decrypted {
		why = ": a key that it is decrypted with is wrong"
	}
	return &FormatError{Format: "content", What: fmt.Sprintf("the MD5 is %v, expected %v%s", sum, ckey, why)}
}

// contentKeyOf returns the content key of a file that may be encrypted, or zero if there is
// none.
func (s *Storage) contentKeyOf(ctx context.Context, key []byte) (keys.Key, error) {
	if s.encoding == nil {
		return keys.Key{}, nil // the encoding file itself
	}
	if s.IsRemote() {
		return s.ContentKeyOf(ctx, key) // a listing has read these pages, but not the encoded ones
	}
	known, err := s.encryptedKeys(ctx)
	if err != nil {
		return keys.Key{}, err
	}
	if ckey, ok := known.find(key); ok {
		return ckey, nil
	}
	// Its ESpec does not say that it is encrypted, or can't be read.
	return s.ContentKeyOf(ctx, key)
}

// encryptedKeys returns the content keys of files that may be encrypted. It makes the list
// when it is first needed. Files on damaged pages are left out.
func (s *Storage) encryptedKeys(ctx context.Context) (contentKeys, error) {
	if keys := s.encrypted.keys.Load(); keys != nil {
		return *keys, nil
	}
	return s.encrypted.makes.Do(ctx, struct{}{}, func(ctx context.Context) (contentKeys, error) {
		// Another caller may have made it between our look and our turn.
		if keys := s.encrypted.keys.Load(); keys != nil {
			return *keys, nil
		}
		keys, faults := s.findEncrypted(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err // pages may be left out that are not damaged
		}
		for _, err := range faults {
			s.warn(err)
		}
		s.encrypted.keys.Store(&keys)
		return keys, nil
	})
}

// findEncrypted reads the encoding file for encryptedKeys. The faults are those of pages.
func (s *Storage) findEncrypted(ctx context.Context) (found contentKeys, faults []error) {
	set, faults := s.encoding.Encrypted(ctx)
	if set.IsEmpty() {
		return nil, faults
	}
	found, err := s.encoding.contentKeys(ctx, func(ekey keys.Key) bool { return set.Has(ekey.Short()) })
	if err != nil {
		faults = append(faults, err)
	}
	return found, faults
}

// contentKeys are content keys of encoded files, sorted by encoding key.
type contentKeys []contentKey

type contentKey struct {
	ekey keys.Short
	ckey keys.Key
}

// contentKeys returns the content keys of the encoded files that want accepts. It leaves
// out pages that can't be read, and returns the first such error too.
func (e *Encoding) contentKeys(ctx context.Context, want func(ekey keys.Key) bool) (keys contentKeys, first error) {
	for page := range e.ContentPages() {
		for row, err := range e.ContentRows(ctx, page, page+1) {
			if err != nil {
				if first == nil {
					first = err
				}
				break
			}
			for i := range row.Forms() {
				if ekey := row.EKey(i); want(ekey) {
					keys = append(keys, contentKey{ekey.Short(), row.CKey()})
				}
			}
		}
	}
	slices.SortFunc(keys, func(a, b contentKey) int { return bytes.Compare(a.ekey[:], b.ekey[:]) })
	return keys, first
}

// find looks for the file whose encoding key begins with key.
func (k contentKeys) find(key []byte) (keys.Key, bool) {
	short := keys.Short(key)
	i := sort.Search(len(k), func(i int) bool { return bytes.Compare(k[i].ekey[:], short[:]) >= 0 })
	if i == len(k) || k[i].ekey != short {
		return keys.Key{}, false
	}
	return k[i].ckey, true
}
