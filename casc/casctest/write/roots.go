package write

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// WoWRoot writes a root of World of Warcraft, of a version as in wow.Root. Files must
// be sorted by ID, and are grouped into blocks by their locale and flags.
func WoWRoot(version int, files []root.File) []byte {
	var b []byte
	named := 0
	for _, f := range files {
		if f.Flags&root.ContentNoNames == 0 {
			named++
		}
	}
	le := binary.LittleEndian
	switch {
	case version == 1:
		b = le.AppendUint32(le.AppendUint32([]byte("TSFM"), uint32(len(files))), uint32(named))
	case version > 1:
		b = le.AppendUint32(le.AppendUint32([]byte("TSFM"), 24), uint32(version-1))
		b = le.AppendUint32(le.AppendUint32(b, uint32(len(files))), uint32(named))
		b = append(b, 0, 0, 0, 0)
	}
	for len(files) > 0 {
		of := func(f root.File) bool { return f.Locale == files[0].Locale && f.Flags == files[0].Flags }
		var block, rest []root.File
		for _, f := range files {
			if of(f) {
				block = append(block, f)
			} else {
				rest = append(rest, f)
			}
		}
		b = wowBlock(b, version, block)
		files = rest
	}
	return b
}

func wowBlock(b []byte, version int, files []root.File) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(files)))
	flags, locale := uint32(files[0].Flags), uint32(files[0].Locale)
	if version == 3 {
		high := byte(flags >> 17)
		rest := flags &^ (uint32(high) << 17)
		b = le.AppendUint32(le.AppendUint32(b, locale), rest&0xFFFF)
		b = append(le.AppendUint32(b, rest&^0xFFFF), high)
	} else {
		b = le.AppendUint32(le.AppendUint32(b, flags), locale)
	}
	next := int64(0)
	for _, f := range files {
		b = le.AppendUint32(b, uint32(int64(f.ID)-next))
		next = int64(f.ID) + 1
	}
	for _, f := range files {
		b = append(b, f.CKey[:]...)
		if version == 0 {
			b = le.AppendUint64(b, f.NameHash)
		}
	}
	if version > 0 && flags&uint32(root.ContentNoNames) == 0 {
		for _, f := range files {
			b = le.AppendUint64(b, f.NameHash)
		}
	}
	return b
}

// TextRoot writes a text root.
func TextRoot(files []root.File) []byte {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s|%v|x\r\n", f.Name, f.CKey)
	}
	return []byte(b.String())
}

// Overwatch writes a root of Overwatch.
func Overwatch(files []root.File) []byte {
	var b strings.Builder
	b.WriteString("#FILEID|MD5|CHUNK_ID|PRIORITY|MPRIORITY|FILENAME|INSTALLPATH\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%s|%X|0|0|255|%s|\n", f.Name, f.CKey[:], f.Name)
	}
	return []byte(b.String())
}

// ContentManifest writes a content manifest of a build, with two entries before the assets.
func ContentManifest(build int, assets []overwatch.Asset) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(build))
	unknown := 16
	switch {
	case build > 68309:
		unknown = 28
	case build > 47161:
		unknown = 20
	}
	b = append(b, make([]byte, unknown)...)
	b = le.AppendUint32(b, uint32(len(assets)))
	b = le.AppendUint32(le.AppendUint32(b, 0), 2)
	b = append(b, 'c', 'm', 'f', 24)
	b = append(b, make([]byte, 40)...)
	for _, a := range assets {
		b = le.AppendUint32(le.AppendUint64(b, a.GUID), uint32(a.Size))
		if build >= 57230 {
			b = append(b, 0)
		}
		b = append(b, a.CKey[:]...)
	}
	return b
}

// Diablo3Entry is a file of a folder of Diablo III, known by name, or by ID and perhaps a
// number.
type Diablo3Entry struct {
	CKey       keys.Key
	Name       string
	ID, Number uint32
	Numbered   bool
}

// Diablo3 writes the root, of folders by name.
func Diablo3(folders []Diablo3Entry) []byte {
	return diabloNamed(binary.LittleEndian.AppendUint32(nil, 0x8007D0C4), folders)
}

func diabloNamed(b []byte, entries []Diablo3Entry) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		b = append(append(append(b, e.CKey[:]...), e.Name...), 0)
	}
	return b
}

// Diablo3Folder writes the file of a folder.
func Diablo3Folder(entries []Diablo3Entry) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xEAF1FE87)
	var named []Diablo3Entry
	for _, numbered := range []bool{false, true} {
		var part []byte
		n := uint32(0)
		for _, e := range entries {
			switch {
			case e.Name != "":
				if !numbered {
					named = append(named, e)
				}
			case e.Numbered == numbered:
				n++
				part = le.AppendUint32(append(part, e.CKey[:]...), e.ID)
				if numbered {
					part = le.AppendUint32(part, e.Number)
				}
			}
		}
		b = append(le.AppendUint32(b, n), part...)
	}
	return diabloNamed(b, named)
}

// CoreTOC writes the names of assets of one kind.
func CoreTOC(kind uint32, names map[uint32]string) []byte {
	le := binary.LittleEndian
	b := make([]byte, 211*4)
	le.PutUint32(b[4*kind:], uint32(len(names)))
	var text []byte
	for id, name := range names {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, kind), id), uint32(len(text)))
		text = append(append(text, name...), 0)
	}
	return append(b, text...)
}

// Packages writes the file of full names of Diablo III.
func Packages(names ...string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0xAABB0002)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(names)))
	for _, n := range names {
		b = append(append(b, n...), 0)
	}
	return b
}

// MNDXFile is a file of an MNDX root.
type MNDXFile struct {
	Package, Name string
	CKey          keys.Key
	Size          int64
}

// MNDX writes an MNDX root of a header version, 1 or 2.
func MNDX(version uint32, files []MNDXFile) []byte {
	le := binary.LittleEndian
	var packages, names, full []string
	for _, f := range files {
		packages, names, full = append(packages, f.Package), append(names, f.Name), append(full, f.Package+"/"+f.Name)
	}
	var tries [][]byte
	var numbers []map[string]int
	for _, words := range [][]string{packages, names, full} {
		t, n := trie(words)
		tries, numbers = append(tries, append([]byte("MAR\x00"), t...)), append(numbers, n)
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b MNDXFile) int { return numbers[1][a.Name] - numbers[1][b.Name] })
	var rows []byte
	for i, f := range files {
		flags := uint32(numbers[0][f.Package])
		if i+1 == len(files) || files[i+1].Name != f.Name {
			flags |= 1 << 31
		}
		rows = append(le.AppendUint32(rows, flags), f.CKey[:]...)
		rows = le.AppendUint32(rows, uint32(f.Size))
	}
	b := le.AppendUint32(le.AppendUint32([]byte("MNDX"), version), 2)
	if version == 2 {
		b = append(b, make([]byte, 8)...)
	}
	at := len(b) + 28
	for _, v := range []int{at, 3, 20, at + 60, len(files), len(numbers[1]), 24} {
		b = le.AppendUint32(b, uint32(v))
	}
	off := at + 60 + len(rows)
	for i, t := range tries {
		b = le.AppendUint32(b, uint32(i))
		b = le.AppendUint64(le.AppendUint64(b, uint64(len(t))), uint64(off))
		off += len(t)
	}
	return append(append(b, rows...), bytes.Join(tries, nil)...)
}
