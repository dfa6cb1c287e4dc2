package far

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

// Stored is an encoded file of a storage that is far away, as it is there. All of it that
// is read is proven.
type Stored struct {
	File
	file *Object
}

// ReadAtContext reads the encoded file, as readat.Waiting wants it.
func (f *Stored) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return f.file.ReadAtContext(ctx, p, off)
}

// Stored opens the encoded file whose key begins with prefix, of a storage that is far away.
func (a *Archives) Stored(ctx context.Context, prefix []byte) (*Stored, error) {
	f, err := a.Open(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	return &Stored{f.File, f}, nil
}

// Locate returns the encoded file whose key begins with prefix, of at least keys.ShortSize bytes, as
// the indexes of a storage that is far away list it. It reads nothing of the file. If no index has
// it the error matches ErrNotFound.
func (a *Archives) Locate(ctx context.Context, prefix []byte) (File, error) {
	t, err := a.indexes.get(ctx)
	if err != nil {
		return File{}, fmt.Errorf("casc: %w", err)
	}
	why := t.unread()
	for i := range t.group.Find(keys.Short(prefix)) {
		archive := t.group.Archives[t.group.Entry(i).Archive]
		x, err := a.indexes.read(ctx, archive)
		if err != nil {
			why = err
			continue
		}
		if e, _, ok := x.Find(prefix); ok {
			return File{Key: e.Key, Archive: archive, Off: e.Off, Size: e.Size}, nil
		}
	}
	if t.loose != nil {
		if e, _, ok := t.loose.Find(prefix); ok {
			return File{Key: e.Key, Size: e.Size}, nil
		}
	}
	if why != nil {
		return File{}, fmt.Errorf("casc: encoding key %x: %w", prefix, why)
	}
	return File{}, fmt.Errorf("casc: encoding key %x: %w", prefix, format.ErrNotFound)
}

// Named returns the encoding keys of what the build configuration names, of a storage that is
// far away.
func (a *Archives) Named() ([]keys.Key, error) {
	var named []keys.Key
	for _, n := range slices.Collect(maps.Values(a.named)) {
		named = append(named, n.key)
	}
	slices.SortFunc(named, keys.Key.Compare)
	return named, nil
}

// ArchiveOf returns the archive that has the encoded file whose key begins with prefix, or zero
// if none has it.
func (a *Archives) ArchiveOf(ctx context.Context, prefix []byte) (keys.Key, error) {
	t, err := a.indexes.get(ctx)
	if err != nil {
		return keys.Key{}, fmt.Errorf("casc: %w", err)
	}
	for i := range t.group.Find(keys.Short(prefix)) {
		return t.group.Archives[t.group.Entry(i).Archive], nil
	}
	return keys.Key{}, nil
}

// IndexData returns an index of a storage that is far away, as it is there.
func (a *Archives) IndexData(ctx context.Context, archive keys.Key) ([]byte, error) {
	return a.from.Index(ctx, archive, func(data []byte) error {
		_, err := index.ParseNamed(data, archive)
		return err
	})
}

// ArchivePart returns a part of an archive: all bytes of some files, in the order of their
// places, and between them. Each file is proven by its key.
func (a *Archives) ArchivePart(ctx context.Context, archive keys.Key, files []index.ArchiveEntry) ([]byte, error) {
	last := &files[len(files)-1]
	end := last.Off + last.Size
	off := files[0].Off
	f := File{Key: archive, Size: end}
	return a.from.Range(ctx, f, off, end-off, func(b []byte) error { return ProveFiles(b, off, files) })
}

// ProveFiles proves files of an archive, of which b are the bytes from off on.
func ProveFiles(b []byte, off int64, files []index.ArchiveEntry) error {
	for i := range files {
		e := &files[i]
		from := e.Off - off
		if from < 0 || from > int64(len(b)) || e.Size > int64(len(b))-from {
			return fmt.Errorf("encoding key %v: %d bytes at %d, the part has %d", e.Key, e.Size, from, len(b))
		}
		if err := proveWhole(b[from:from+e.Size], e.Key); err != nil {
			return fmt.Errorf("encoding key %v at %#x: %w", e.Key, e.Off, err)
		}
	}
	return nil
}
