package casc

import (
	"context"
	"crypto/md5"
	"fmt"

	"lorefs/blte"
	"lorefs/casc/encoding"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
)

// maxProven is how many encrypted files are remembered as proven, so that a file is not
// read through each time it is opened.
const maxProven = 1 << 14

// prove compares the content of a file with encrypted chunks with its content key, before
// any of it is returned. The other checksums cover only encrypted bytes. It reads the whole
// file, once. A file without a known content key passes. ckey may be zero.
func (s *Storage) prove(ctx context.Context, r *blte.Reader, key []byte, ckey keys.Key) error {
	id := store.EncodingKeyOf(key)
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
	if ckey, ok := known.Find(key); ok {
		return ckey, nil
	}
	// Its ESpec does not say that it is encrypted, or can't be read.
	return s.ContentKeyOf(ctx, key)
}

// encryptedKeys returns the content keys of files that may be encrypted. It makes the list
// when it is first needed. Files on damaged pages are left out.
func (s *Storage) encryptedKeys(ctx context.Context) (encoding.ContentKeys, error) {
	if keys := s.encrypted.keys.Load(); keys != nil {
		return *keys, nil
	}
	return s.encrypted.makes.Do(ctx, struct{}{}, func(ctx context.Context) (encoding.ContentKeys, error) {
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
func (s *Storage) findEncrypted(ctx context.Context) (found encoding.ContentKeys, faults []error) {
	set, faults := s.encoding.Encrypted(ctx)
	if set.IsEmpty() {
		return nil, faults
	}
	found, err := s.encoding.ContentKeys(ctx, func(ekey keys.Key) bool { return set.Has(ekey.Short()) })
	if err != nil {
		faults = append(faults, err)
	}
	return found, faults
}
