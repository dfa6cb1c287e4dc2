package casc

import (
	"context"
	"fmt"

	"lorefs/casc/far"
	"lorefs/casc/index"
	"lorefs/casc/keys"
)

// Stored is far.Archives.Stored, of a storage that is far away.
func (s *Storage) Stored(ctx context.Context, prefix []byte) (*far.Stored, error) {
	a, err := s.remote()
	if err != nil {
		return nil, err
	}
	return a.Stored(ctx, prefix)
}

// Locate is far.Archives.Locate, of a storage that is far away.
func (s *Storage) Locate(ctx context.Context, prefix []byte) (far.File, error) {
	a, err := s.remote()
	if err != nil {
		return far.File{}, err
	}
	return a.Locate(ctx, prefix)
}

// Named returns the encoding keys of the tables of the build: far.Archives.Named, of a storage that is far away.
func (s *Storage) Named() ([]keys.Key, error) {
	if !s.IsRemote() {
		return s.tablesHere()
	}
	a, err := s.remote()
	if err != nil {
		return nil, err
	}
	return a.Named()
}

// ArchiveOf is far.Archives.ArchiveOf, of a storage that is far away.
func (s *Storage) ArchiveOf(ctx context.Context, prefix []byte) (keys.Key, error) {
	a, err := s.remote()
	if err != nil {
		return keys.Key{}, err
	}
	return a.ArchiveOf(ctx, prefix)
}

// IndexData is far.Archives.IndexData, of a storage that is far away.
func (s *Storage) IndexData(ctx context.Context, archive keys.Key) ([]byte, error) {
	a, err := s.remote()
	if err != nil {
		return nil, err
	}
	return a.IndexData(ctx, archive)
}

// ArchivePart is far.Archives.ArchivePart, of a storage that is far away.
func (s *Storage) ArchivePart(ctx context.Context, archive keys.Key, files []index.ArchiveEntry) ([]byte, error) {
	a, err := s.remote()
	if err != nil {
		return nil, err
	}
	return a.ArchivePart(ctx, archive, files)
}

// Rows is far.Archives.Rows, of a storage that is far away.
func (s *Storage) Rows(ctx context.Context, keys [][]byte) ([][]int, error) {
	a, err := s.remote()
	if err != nil {
		return nil, err
	}
	return a.Rows(ctx, keys)
}

// remote returns the archives of a storage that is far away.
func (s *Storage) remote() (*far.Archives, error) {
	a, ok := s.archives.(*far.Archives)
	if !ok {
		return nil, fmt.Errorf("casc: %w: the storage is in a folder", ErrUnsupported)
	}
	return a, nil
}
