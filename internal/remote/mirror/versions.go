package mirror

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/cache"
)

// maxAnswer bounds an answer of the version service, in bytes.
const maxAnswer = 1 << 20

// answers keeps answers of the version service. It is a [cache.Store].
type answers struct{ c *Cache }

// Versions returns where the last answers of the version service are kept.
func (c *Cache) Versions() cache.Store { return answers{c} }

// Load implements [cache.Store].
func (a answers) Load(key string) ([]byte, error) {
	f, err := a.c.disk.Open(a.path(key), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readPart(f, span{0, min(info.Size(), maxAnswer)})
}

// Save implements [cache.Store].
func (a answers) Save(key string, data []byte) error {
	if strings.ContainsAny(key, `/\.`) {
		return &iofs.PathError{Op: "save", Path: key, Err: iofs.ErrInvalid}
	}
	if !a.c.put(a.path(key), data) {
		return errors.Join(errors.New("the answer can't be kept"), a.c.Trouble())
	}
	return nil
}

func (a answers) path(key string) string { return filepath.Join(a.c.dir, versionsDir, key) }
