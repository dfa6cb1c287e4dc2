package folder

import (
	"crypto/sha256"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"slices"
	"time"

	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/internal/cache"
)

// indexFile is a file KEY.index.
type indexFile struct {
	path string
	name keys.Key
	store.Stamp
}

// loadGroup makes the table of all indexes, or takes it from the store.
func (m *Mirror) loadGroup(files []indexFile, store cache.Store, log *slog.Logger) {
	id := cache.ID{Kind: index.GroupKind, Of: m.groupKey(files)}
	if store != nil {
		data, err := id.Load(store)
		if err == nil {
			m.group, err = index.ParseGroup(data)
		}
		if err == nil {
			return
		}
		if !errors.Is(err, iofs.ErrNotExist) {
			log.Warn("the table of archives is damaged and made anew", slog.Any("err", err))
		}
	}
	before := len(m.faults)
	b := m.buildGroup(files)
	sealed := b.Finish(id)
	m.group = &b.Group
	// What can't be read now may be readable the next time.
	if store != nil && len(m.faults) == before {
		if err := id.Save(store, sealed); err != nil {
			log.Warn("the table of archives can't be kept", slog.Any("err", err))
		}
	}
}

// groupKey returns a hash of everything that the table is made from. An index that changes
// without a trace does no harm, because the places it leads to are checked.
func (m *Mirror) groupKey(files []indexFile) [32]byte {
	h := sha256.New()
	for _, c := range m.cdns {
		fmt.Fprintf(h, "%s\n%s\n", c.Text("archive-group"), c.Text("archives"))
	}
	for i := range files {
		fmt.Fprintf(h, "%v %d %s\n", files[i].name, files[i].Size, files[i].ModTime.UTC().Format(time.RFC3339Nano))
	}
	return [32]byte(h.Sum(nil))
}

// buildGroup reads all indexes, one at a time.
func (m *Mirror) buildGroup(files []indexFile) *index.GroupBuilder {
	b := index.NewGroupBuilder()
	for i := range files {
		if err := m.addIndex(b, &files[i]); err != nil {
			m.faults = append(m.faults, fmt.Errorf("%s: what only it has counts as not local: %w", files[i].path, err))
		}
	}
	return b
}

// addIndex adds the entries of an index. If the index is damaged, addIndex notes a fault.
func (m *Mirror) addIndex(b *index.GroupBuilder, f *indexFile) error {
	data, err := readFile(m.fsys, f.path, format.MaxTable)
	if err != nil {
		return err
	}
	x, err := index.ParseNamed(data, f.name)
	if err != nil {
		return err
	}
	var archives []keys.Key
	switch x.OffsetBytes {
	case 0, index.LocalOffsetBytes:
		return nil // loose files are found by name
	case index.GroupOffsetBytes:
		if archives, err = m.groupOf(f.name); err != nil {
			return err
		}
	}
	return b.Add(f.name, x, archives)
}

// groupOf returns the archives of a group's index: those of the CDN configuration that
// names it, or of the only configuration.
func (m *Mirror) groupOf(name keys.Key) ([]keys.Key, error) {
	for _, c := range m.cdns {
		groups, err := c.Keys("archive-group")
		if err == nil && slices.Contains(groups, name) || len(m.cdns) == 1 {
			return c.Keys("archives")
		}
	}
	return nil, fmt.Errorf("none of %d CDN configurations says which archives it is of", len(m.cdns))
}
