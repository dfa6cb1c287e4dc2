package casc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"slices"
	"time"
)

// IndexStore keeps what takes long to find out, so that it need not be the next time.
// What it gives back is checked; an error of it is logged and otherwise ignored.
type IndexStore interface {
	// Load gives what was saved under key, or an error that matches io/fs.ErrNotExist.
	Load(key string) ([]byte, error)
	// Save may keep data and read it later, but must not change it: it stays in use.
	Save(key string, data []byte) error
}

// indexFile is a file KEY.index.
type indexFile struct {
	path string
	name Key
	stamp
}

// loadGroup makes the table of all indexes, or takes it from the store.
func (m *mirrorArchives) loadGroup(files []indexFile, store IndexStore, log *slog.Logger) {
	key := m.groupKey(files)
	name := hex.EncodeToString(key[:])
	if store != nil {
		data, err := store.Load(name)
		if err == nil {
			m.group, err = parseGroup(data)
		}
		if err == nil && m.group.key != key {
			err = errors.New("of another storage")
		}
		if err == nil {
			return
		}
		if !errors.Is(err, iofs.ErrNotExist) {
			log.Warn("the table of archives is damaged and made anew", slog.Any("err", err))
		}
	}
	before := len(m.faults)
	m.group = m.buildGroup(key, files)
	// What can't be read now may be the next time.
	if store != nil && len(m.faults) == before {
		if err := store.Save(name, m.group.data); err != nil {
			log.Warn("the table of archives can't be kept", slog.Any("err", err))
		}
	}
}

// groupKey is a hash of all that the table is made from. What is in an index that is
// written to without a trace is no matter: it is checked where it leads to.
func (m *mirrorArchives) groupKey(files []indexFile) [32]byte {
	h := sha256.New()
	fmt.Fprint(h, groupMagic)
	for _, c := range m.cdns {
		fmt.Fprintf(h, "%s\n%s\n", c.Text("archive-group"), c.Text("archives"))
	}
	for i := range files {
		fmt.Fprintf(h, "%v %d %s\n", files[i].name, files[i].size, files[i].modTime.UTC().Format(time.RFC3339Nano))
	}
	return [32]byte(h.Sum(nil))
}

// buildGroup reads all indexes, one at a time.
func (m *mirrorArchives) buildGroup(key [32]byte, files []indexFile) *group {
	b := newGroupBuilder(key)
	for i := range files {
		if err := m.addIndex(b, &files[i]); err != nil {
			m.faults = append(m.faults, fmt.Errorf("%s: what only it has counts as not local: %w", files[i].path, err))
		}
	}
	return b.finish()
}

// addIndex adds what an index has. One that is damaged is a fault that the others live
// with.
func (m *mirrorArchives) addIndex(b *groupBuilder, f *indexFile) error {
	data, err := readFile(m.fsys, f.path, maxTable)
	if err != nil {
		return err
	}
	x, err := parseNamedIndex(data, f.name)
	if err != nil {
		return err
	}
	var archives []Key
	switch x.OffsetBytes {
	case 0, localOffsetBytes:
		return nil // loose files are found by their name
	case groupOffsetBytes:
		if archives, err = m.groupOf(f.name); err != nil {
			return err
		}
	}
	return b.add(f.name, x, archives)
}

// groupOf gives the archives that an index is of: those of the CDN configuration that
// names it, or of the only one.
func (m *mirrorArchives) groupOf(name Key) ([]Key, error) {
	for _, c := range m.cdns {
		groups, err := c.Keys("archive-group")
		if err == nil && slices.Contains(groups, name) || len(m.cdns) == 1 {
			return c.Keys("archives")
		}
	}
	return nil, fmt.Errorf("none of %d CDN configurations says which archives it is of", len(m.cdns))
}
