package sheets

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"maps"
	"sync"

	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/internal/cache"
	"lorefs/internal/cursor"
)

// What an IndexStore keeps of a file's sheets, in varints:
//
//	( name + 1, length, family )… 0
//
// size_index.go says what a family is.

// storeKind changes with everything that changes what is kept, which includes the
// bytes of a sheet.
const storeKind = "data center sheets 2"

// store remembers what was found out of families between runs.
type store struct {
	src   *Source
	begin sync.Once

	mu sync.Mutex // guards what follows
	// kept is what was loaded, for each family that nobody has asked for.
	kept map[vocab.NameID][]byte
	// fresh is how many families were found out since the last saving.
	fresh int
}

func (st *store) init(s *Source) { st.src = s }

// kept names what is remembered of the source.
func (s *Source) kept() cache.ID {
	return cache.ID{Kind: storeKind, Of: sha256.Sum256(fmt.Appendf(nil, "%s %d", s.file.Identity(), s.opts.Strategy))}
}

// load gives what is remembered of a family.
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

// fetch loads all that is remembered.
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

// splitFamilies finds the families in what was saved.
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

// found is told that one more family was found out. When none is left, all is
// saved, lest a crash lose it.
func (st *store) found() {
	st.mu.Lock()
	st.fresh++
	st.mu.Unlock()
	if st.src.opts.Index != nil && st.src.allFound() {
		st.save()
	}
}

// Keep saves what was found out since the last time, for the next run. Whoever
// made the Source should call it at the end.
func (s *Source) Keep() {
	s.store.mu.Lock()
	fresh := s.store.fresh
	s.store.mu.Unlock()
	if s.opts.Index != nil && fresh > 0 {
		s.store.save()
	}
}

// save saves all that is known.
func (st *store) save() {
	st.mu.Lock()
	st.fresh = 0
	kept := maps.Clone(st.kept)
	st.mu.Unlock()
	id := st.src.kept()
	b := id.Begin(0)
	for _, f := range st.src.storedFamilies() {
		data := kept[f.name]
		if info := f.found(); info != nil {
			data = info.append(nil)
		}
		if data != nil {
			b = binary.AppendUvarint(b, uint64(f.name)+1)
			b = binary.AppendUvarint(b, uint64(len(data)))
			b = append(b, data...)
		}
	}
	b = binary.AppendUvarint(b, 0)
	if err := id.Save(st.src.opts.Index, cache.Seal(b)); err != nil {
		st.src.opts.Logger.Warn("the index of the sheets can't be kept", slog.Any("err", err))
	}
}

// storedFamilies are those that the file has.
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

// found is what was found out of a family's stored sheets, nil for nothing.
func (f *Family) found() *familyInfo {
	f.flight.mu.Lock()
	defer f.flight.mu.Unlock()
	return f.info
}

// allFound tells whether all families of the file are known.
func (s *Source) allFound() bool {
	for _, f := range s.storedFamilies() {
		if f.found() == nil {
			return false
		}
	}
	return true
}
