package casc

import (
	"bytes"
	"context"
	"errors"

	"lorefs/casc/keys"
)

// EncodedFile says where an encoded file is and how it is encoded.
type EncodedFile struct {
	// EKey is the encoding key. Only its first KeySize bytes are known if the encoding file
	// does not have it; the rest is zero.
	EKey    keys.Key
	KeySize int
	// Spec is the ESpec, for blte.ParseSpec, or "" if the encoding file does not have it.
	Spec string
	// Archive is the file that has it, with Size bytes at Off, or "" if it is not local.
	Archive   string
	Off, Size int64
}

// EncodedFile looks up a file by its encoding key, or at least the first keys.ShortSize bytes of
// it. It reads nothing of the file. An error says why a part of the answer is missing.
func (s *Storage) EncodedFile(ctx context.Context, prefix []byte) (f EncodedFile, err error) {
	f.KeySize = copy(f.EKey[:], prefix)
	var errs []error
	switch e, err := s.encoding.FindEncoded(ctx, prefix); {
	case err == nil:
		f.EKey, f.KeySize, f.Spec, f.Size = e.EKey, len(e.EKey), e.Spec, e.Size
	case !errors.Is(err, ErrNotFound):
		errs = append(errs, err)
	}
	switch p, err := s.archives.Find(ctx, prefix); {
	case err == nil:
		f.Archive, f.Off, f.Size = p.In, p.Off, p.Size
	case !errors.Is(err, ErrNotLocal):
		errs = append(errs, err)
	}
	return f, errors.Join(errs...)
}

// ContentKeyOf returns the content key of the file whose encoding key begins with prefix, or
// the zero key if none is known. It reads all of the encoding file. An error means that a part
// of that can't be read.
func (s *Storage) ContentKeyOf(ctx context.Context, prefix []byte) (keys.Key, error) {
	known, err := s.encoding.ContentKeys(ctx, func(ekey keys.Key) bool { return bytes.HasPrefix(ekey[:], prefix) })
	if ckey, ok := known.Find(prefix); ok {
		return ckey, nil
	}
	return keys.Key{}, err
}
