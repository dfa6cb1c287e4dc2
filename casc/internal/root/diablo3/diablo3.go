// Package diablo3 reads the root of Diablo III, by description only.
package diablo3

import (
	"fmt"
	"iter"
	"path"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/cursor"
)

const diablo format.Name = "Diablo III root"

const (
	// Magic begins the root, diabloFolder the file of a folder.
	Magic        = 0x8007D0C4
	diabloFolder = 0xEAF1FE87

	// maxFolders bounds the folders of the root.
	maxFolders = 1 << 10
)

// Root is the root of Diablo III, by description only: there was no real one to test
// with. It names folders, each of which is a file of the storage. Numbers are
// little-endian.
//
//	root    0x8007D0C4:4 count:4 ( ckey:16 name NUL )×count
//	folder  0xEAF1FE87:4 count:4 ( ckey:16 id:4 )×count
//	        count:4 ( ckey:16 id:4 number:4 )×count
//	        count:4 ( ckey:16 name NUL )×count
//
// Entries with only an ID get their names from CoreTOC.dat in the folder Base, and their
// extensions from Data_D3/PC/Misc/Packages.dat there, if it exists.
type Root struct {
	folders []diabloEntry
	load    root.Loader
	faults  []error
}

// diabloEntry is a file of a folder, known by name, or by ID and perhaps a number.
type diabloEntry struct {
	ckey     keys.Key
	name     string
	id       uint32
	number   uint32
	numbered bool
}

// Parse reads a root; load reads the folders.
func Parse(data []byte, load root.Loader) (*Root, error) {
	c := cursor.New(data)
	if m := c.LE32(); m != Magic {
		return nil, diablo.Bad(0, "found %#x instead of %#x", m, uint32(Magic))
	}
	folders, err := diabloNamed(c)
	if err != nil {
		return nil, err
	}
	if len(folders) > maxFolders {
		return nil, diablo.Bad(4, "%d folders", len(folders))
	}
	return &Root{folders: folders, load: load}, nil
}

// diabloCount reads a number of entries, which must fit into the rest of the file.
func diabloCount(c *cursor.Cursor, least int) (int, error) {
	off, n := c.Off(), c.LE32()
	if err := diablo.Ends(c, 0); err != nil {
		return 0, err
	}
	if int64(n)*int64(least) > int64(c.Left()) {
		return 0, diablo.Bad(int64(off), "%d entries in %d bytes", n, c.Left())
	}
	return int(n), nil
}

func diabloKey(c *cursor.Cursor) (k keys.Key) {
	copy(k[:], c.Bytes(len(k)))
	return k
}

func diabloNamed(c *cursor.Cursor) ([]diabloEntry, error) {
	n, err := diabloCount(c, 17)
	if err != nil {
		return nil, err
	}
	entries := make([]diabloEntry, n)
	for i := range entries {
		entries[i] = diabloEntry{ckey: diabloKey(c), name: root.CleanName(c.String())}
	}
	return entries, diablo.Ends(c, 0)
}

// parseDiabloFolder reads the file of a folder.
func parseDiabloFolder(data []byte) ([]diabloEntry, error) {
	c := cursor.New(data)
	m := c.LE32()
	if m != diabloFolder {
		return nil, diablo.Bad(0, "a folder begins with %#x instead of %#x", m, uint32(diabloFolder))
	}
	var entries []diabloEntry
	for _, numbered := range []bool{false, true} {
		least := 20
		if numbered {
			least += 4
		}
		n, err := diabloCount(c, least)
		if err != nil {
			return nil, err
		}
		for range n {
			e := diabloEntry{ckey: diabloKey(c), id: c.LE32(), numbered: numbered}
			if numbered {
				e.number = c.LE32()
			}
			entries = append(entries, e)
		}
	}
	named, err := diabloNamed(c)
	return append(entries, named...), err
}

// Kind returns "diablo3".
func (r *Root) Kind() string { return "diablo3" }

// Problems returns the folders that the last run of Files could not read.
func (r *Root) Problems() []error { return r.faults }

// Files yields the files of each folder. A file whose ID has no name is FOLDER/ID.
func (r *Root) Files() iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		r.faults = nil
		folders := make([][]diabloEntry, len(r.folders))
		for i, f := range r.folders {
			data, err := r.load.Content(f.ckey)
			if err == nil {
				folders[i], err = parseDiabloFolder(data)
			}
			if err != nil {
				r.faults = append(r.faults, fmt.Errorf("folder %s: %w", f.name, err))
			}
		}
		names := r.names(folders)
		for i, f := range r.folders {
			for _, e := range folders[i] {
				if !yield(root.File{Name: path.Join(f.name, names.name(&e)), CKey: e.ckey, Size: -1}, nil) {
					return
				}
			}
		}
	}
}

// names reads the two files that have the names of IDs.
func (r *Root) names(folders [][]diabloEntry) *diabloNames {
	names := &diabloNames{}
	for i, f := range r.folders {
		if f.name != "Base" {
			continue
		}
		for _, e := range folders[i] {
			var parse func([]byte) error
			switch e.name {
			case "CoreTOC.dat":
				parse = names.parseCoreTOC
			case "Data_D3/PC/Misc/Packages.dat":
				parse = names.parsePackages
			default:
				continue
			}
			data, err := r.load.Content(e.ckey)
			if err == nil {
				err = parse(data)
			}
			if err != nil {
				r.faults = append(r.faults, fmt.Errorf("names in %s: %w", e.name, err))
			}
		}
	}
	return names
}
