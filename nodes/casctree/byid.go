package casctree

import (
	"sort"
	"strconv"

	"lorefs/nodes"
)

// byIDName is the directory in which any file of a root with IDs is found by its ID, whether it has
// a name or not. It lists nothing: listings have each file already.
const byIDName = "by-id"

// findByID finds a file by its ID as people write it.
func (t *Tree) findByID(name string) (nodes.Entry, error) {
	id, err := strconv.ParseUint(name, 10, 32)
	if err != nil || strconv.FormatUint(id, 10) != name {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	files := t.filesOf(uint32(id))
	if len(files) == 0 {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	// If none is local, opening the first says so.
	best := files[0]
	for _, i := range files {
		if t.shown(i) {
			best = i
			break
		}
	}
	e := t.fileEntry(best)
	e.Name = name
	return e, nil
}

// filesOf returns the files of an ID.
func (t *Tree) filesOf(id uint32) (files []int) {
	from := sort.Search(t.table.nIDs, func(i int) bool { is, _ := t.table.id(i); return is >= id })
	for i := from; i < t.table.nIDs; i++ {
		is, file := t.table.id(i)
		if is != id {
			break
		}
		files = append(files, file)
	}
	return files
}

// FileID returns the ID that the root has for a file, if it has one.
func (t *Tree) FileID(file nodes.ID) (id uint32, ok bool) {
	k, i := splitID(file)
	if k != kindFile || i >= t.table.nFiles || t.table.nIDs == 0 {
		return 0, false
	}
	at := t.idPlaces()[i]
	if at == 0 {
		return 0, false
	}
	id, _ = t.table.id(int(at) - 1)
	return id, true
}

// placesOfIDs returns for each file the place of its first ID, counted from 1, or 0.
func (t *table) placesOfIDs() []uint32 {
	places := make([]uint32, t.nFiles)
	for i := range t.nIDs {
		if _, file := t.id(i); places[file] == 0 {
			places[file] = uint32(i) + 1
		}
	}
	return places
}
