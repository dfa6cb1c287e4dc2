package sheets

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/internal/cache"
	"lorefs/internal/cursor"
)

// The data about a file's sheets in an IndexStore, in varints:
//
//	( name + 1, length, family )… 0
//
// size_index.go describes a family.

// storeKind must change whenever the saved data changes, which includes the bytes of a
// sheet.
const storeKind = "data center sheets 3"

// store saves what is known about families between runs. Without it ls -l of all sheets in a second mount
// takes 8 times as long.
type store struct {
	src   *Source
	begin sync.Once

	mu sync.Mutex // guards the fields below
	// kept has the loaded data of each family that was not used yet.
	kept map[vocab.NameID][]byte
	// fresh counts the families that were measured since the last save.
	fresh int
}

func (st *store) init(s *Source) { st.src = s }

// kept identifies the saved data of the source.
func (s *Source) kept() cache.ID { return keptOf(s.file, s.opts.Strategy) }

// keptOf identifies the saved data of a file.
func keptOf(f *datacenter.File, strategy Strategy) cache.ID {
	return cache.ID{Kind: storeKind, Of: sha256.Sum256(fmt.Appendf(nil, "%s %d", f.Identity(), strategy))}
}

// load returns the saved data of a family.
func (st *store) load(f *Family) (*familyInfo, bool) {
	if st.src.opts.Index == nil || len(f.base) == 0 {
		return nil, false
	}
	st.begin.Do(st.fetch)
	st.mu.Lock()
	data, ok := st.kept[f.name]
	delete(st.kept, f.name)
	st.mu.Unlock()
	if !ok {
		return nil, false
	}
	info, err := parseFamily(data, f)
	if err != nil {
		st.src.opts.Logger.Warn("the index of the sheets is damaged and made anew", slog.Any("err", err))
		return nil, false
	}
	return info, true
}

// fetch loads all saved data.
func (st *store) fetch() {
	data, err := st.src.kept().Load(st.src.opts.Index)
	if errors.Is(err, iofs.ErrNotExist) {
		return
	}
	var kept map[vocab.NameID][]byte
	if err == nil {
		kept, err = splitFamilies(data)
	}
	if err != nil {
		st.src.opts.Logger.Warn("the index of the sheets is damaged and made anew", slog.Any("err", err))
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.kept = kept
}

// splitFamilies splits the saved data into families.
func splitFamilies(data []byte) (map[vocab.NameID][]byte, error) {
	c := indexReader{cursor.New(data)}
	kept := map[vocab.NameID][]byte{}
	for {
		name := c.uint()
		if name == 0 {
			return kept, c.End()
		}
		kept[vocab.NameID(name-1)] = c.part()
	}
}

// measured counts one more family that was measured. When all are, it saves them, so that a
// crash does not lose them.
func (st *store) measured() {
	st.mu.Lock()
	st.fresh++
	st.mu.Unlock()
	if st.src.opts.Index != nil && st.src.allKnown() {
		st.save()
	}
}

// Keep saves what was measured since the last save, for the next run. Whoever made the
// Source should call it at the end.
func (s *Source) Keep() {
	s.store.mu.Lock()
	fresh := s.store.fresh
	s.store.mu.Unlock()
	if s.opts.Index != nil && fresh > 0 {
		s.store.save()
	}
}

// save saves what is known about all families.
func (st *store) save() {
	st.mu.Lock()
	st.fresh = 0
	kept := maps.Clone(st.kept)
	st.mu.Unlock()
	id := st.src.kept()
	b := id.Begin(0)
	for _, f := range st.src.storedFamilies() {
		data := kept[f.name]
		if info := f.known(); info != nil {
			data = info.append(nil)
		}
		if data != nil {
			b = appendSaved(b, f.name, data)
		}
	}
	b = binary.AppendUvarint(b, 0)
	if err := id.Save(st.src.opts.Index, cache.Seal(b)); err != nil {
		st.src.opts.Logger.Warn("the index of the sheets can't be saved", slog.Any("err", err))
	}
}

// appendSaved appends the saved data of a family. A 0 must follow the last one.
func appendSaved(b []byte, name vocab.NameID, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(name)+1)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

// Carry saves for the file to what is saved for the file from, but for the sheets with the names in
// touched. to must be what a [splice.Splicer] made of from, so that all addresses and indexes
// are those of from.
func Carry(store datacenter.IndexStore, from, to *datacenter.File, strategy Strategy, touched []string) error {
	data, err := keptOf(from, strategy).Load(store)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := splitFamilies(data)
	if err != nil {
		return err
	}
	for i, index := range to.Form().NameIndexes(touched) {
		if i > 0 { // the first is of no name
			delete(kept, vocab.NameID(index))
		}
	}
	id := keptOf(to, strategy)
	b := id.Begin(len(data))
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		b = appendSaved(b, name, kept[name])
	}
	return id.Save(store, cache.Seal(binary.AppendUvarint(b, 0)))
}

// storedFamilies returns the families of the file.
func (s *Source) storedFamilies() []*Family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var stored []*Family
	for _, f := range s.families {
		if len(f.base) > 0 {
			stored = append(stored, f)
		}
	}
	return stored
}

// known returns what is known about a family's stored sheets, or nil.
func (f *Family) known() *familyInfo {
	f.flight.mu.Lock()
	defer f.flight.mu.Unlock()
	return f.info
}

// allKnown reports whether all families of the file were measured.
func (s *Source) allKnown() bool {
	for _, f := range s.storedFamilies() {
		if f.known() == nil {
			return false
		}
	}
	return true
}
