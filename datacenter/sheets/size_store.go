package sheets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	iofs "io/fs"
	"log/slog"
	"maps"
	"sync"
)

// What an IndexStore keeps of a file's sheets, in varints but for the last four
// bytes, which are little-endian:
//
//	magic, identity of the file, strategy,
//	( name + 1, length, family )… 0,
//	CRC-32C of all before
//
// size_index.go says what a family is.

// storeMagic changes with everything that changes what is kept, which includes the
// bytes of a sheet.
const storeMagic = "lorefs sheets 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// store remembers what was found out of families between runs.
type store struct {
	src   *Source
	begin sync.Once

	mu sync.Mutex // guards what follows
	// kept is what was loaded, for each family that nobody has asked for.
	kept map[nameID][]byte
	// fresh is how many families were found out since the last saving.
	fresh int
}

func (st *store) init(s *Source) { st.src = s }

// key is what the data is kept under.
func (s *Source) key() string { return fmt.Sprintf("sheets-%s-%d", s.file.Identity(), s.opts.Strategy) }

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
	data, err := st.src.opts.Index.Load(st.src.key())
	if errors.Is(err, iofs.ErrNotExist) {
		return
	}
	var kept map[nameID][]byte
	if err == nil {
		kept, err = st.split(data)
	}
	if err != nil {
		st.src.opts.Logger.Warn("the index of the sheets is damaged and made anew", slog.Any("err", err))
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.kept = kept
}

// split finds the families in what was saved.
func (st *store) split(data []byte) (map[nameID][]byte, error) {
	const sum = crc32.Size
	body := len(data) - sum
	if body < 0 || crc32.Checksum(data[:body], castagnoli) != binary.LittleEndian.Uint32(data[body:]) {
		return nil, errors.New("wrong checksum")
	}
	c := &indexCursor{b: data[:body]}
	if head := st.appendHead(nil); string(c.take(uint64(len(head)))) != string(head) {
		return nil, errors.New("of another version, or of another file")
	}
	kept := map[nameID][]byte{}
	for {
		name := c.uint()
		if c.err != nil || name == 0 {
			break
		}
		kept[nameID(name-1)] = c.take(c.uint())
	}
	if c.err == nil && len(c.b) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.b))
	}
	return kept, c.err
}

func (st *store) appendHead(b []byte) []byte {
	b = append(b, storeMagic...)
	b = append(b, st.src.file.Identity()...)
	return append(b, byte(st.src.opts.Strategy))
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
	b := st.appendHead(nil)
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
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if err := st.src.opts.Index.Save(st.src.key(), b); err != nil {
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
