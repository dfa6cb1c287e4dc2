// Package mndx reads the root that Heroes of the Storm and StarCraft II had before TVFS, by
// description only.
package mndx

import (
	"encoding/binary"
	"fmt"
	"iter"

	"lorefs/casc/internal/format"
	"lorefs/casc/internal/marisa"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/cursor"
)

const mndx format.Name = "MNDX root"

const (
	// Magic is MNDX as a little-endian number.
	Magic    = 0x58444E4D
	marMagic = 0x0052414D

	mndxMarSize = 20
	mndxEntry   = 24
	// mndxTries is the number of tries: the names of packages, names without package, full
	// names.
	mndxTries = 3

	mndxLast    = 1 << 31
	mndxPackage = 1<<24 - 1
)

// Root is the root of Heroes of the Storm and StarCraft II before TVFS, by description
// only: there was no real one to test with. Names are kept in three tries of the
// marisa-trie library, which was available, under a magic of their own. Numbers are
// little-endian.
//
//	"MNDX" header_version:4 format_version:4 [ unknown:8 ]     in header version 2
//	tries_offset:4 tries:4 trie_size:4 files_offset:4 files:4 names:4 file_size:4
//	trie  index:4 size:8 offset:8                              the trie is "MAR\0" and the trie
//	file  flags:4 ckey:16 size:4                               bit 31: the last of its name
//
// Name number n of the second trie belongs to the n-th group of files. The low 24 bits of
// the flags are the number of the package in the first trie. The third trie has the same
// names with their packages, and is not needed.
type Root struct {
	packages []string
	names    *marisa.Trie
	// files are the entries; groups has the first entry of each name.
	files  []byte
	groups []uint32
}

// Parse reads an MNDX root.
func Parse(data []byte) (*Root, error) {
	c := cursor.New(data)
	magic, header, version := c.LE32(), c.LE32(), c.LE32()
	if header == 2 {
		c.Bytes(8)
	}
	triesOff, tries, trieSize, filesOff, files, names, fileSize := c.LE32(), c.LE32(), c.LE32(), c.LE32(), c.LE32(), c.LE32(), c.LE32()
	if err := mndx.Ends(c, 0); err != nil {
		return nil, err
	}
	switch {
	case magic != Magic:
		return nil, mndx.Bad(0, "found %#x instead of %#x", magic, Magic)
	case header > 2 || version < 1 || version > 2:
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, mndx.Bad(4, "versions %d and %d", header, version))
	case tries != mndxTries || trieSize != mndxMarSize || fileSize != mndxEntry:
		return nil, mndx.Bad(16, "%d tries of %d bytes and files of %d", tries, trieSize, fileSize)
	case int64(filesOff)+int64(files)*mndxEntry > int64(len(data)):
		return nil, mndx.Bad(28, "%d files at %#x in %d bytes", files, filesOff, len(data))
	}
	r := &Root{files: data[filesOff : filesOff+files*mndxEntry]}
	packages, err := parseMar(data, int64(triesOff))
	if err != nil {
		return nil, err
	}
	if r.names, err = parseMar(data, int64(triesOff)+mndxMarSize); err != nil {
		return nil, err
	}
	if _, err := parseMar(data, int64(triesOff)+2*mndxMarSize); err != nil {
		return nil, err
	}
	if r.names.Len() != int(names) {
		return nil, mndx.Bad(36, "%d names stated, the trie has %d", names, r.names.Len())
	}
	for name, err := range packages.Keys() {
		if err != nil {
			return nil, &format.Error{Format: string(mndx), Off: int64(triesOff), What: "packages", Err: err}
		}
		r.packages = append(r.packages, string(name))
	}
	return r, r.group(int64(filesOff))
}

// parseMar reads the trie that is described at off.
func parseMar(data []byte, off int64) (*marisa.Trie, error) {
	if off+mndxMarSize > int64(len(data)) {
		return nil, mndx.Bad(off, "a trie is described behind the end")
	}
	size, at := binary.LittleEndian.Uint64(data[off+4:]), binary.LittleEndian.Uint64(data[off+12:])
	if at > uint64(len(data)) || size > uint64(len(data))-at || size < 4 {
		return nil, mndx.Bad(off, "a trie of %d bytes at %#x in %d bytes", size, at, len(data))
	}
	b := data[at : at+size]
	if m := binary.LittleEndian.Uint32(b); m != marMagic {
		return nil, mndx.Bad(int64(at), "a trie begins with %#x, expected %#x", m, marMagic)
	}
	t, _, err := marisa.Parse(b[4:])
	if err != nil {
		return nil, &format.Error{Format: string(mndx), Off: int64(at) + 4, Err: err}
	}
	return t, nil
}

// group finds the group of files of each name.
func (r *Root) group(off int64) error {
	begin := true
	for at := 0; at < len(r.files); at += mndxEntry {
		if begin {
			r.groups = append(r.groups, uint32(at))
		}
		flags := binary.LittleEndian.Uint32(r.files[at:])
		begin = flags&mndxLast != 0
		if p := int(flags & mndxPackage); p >= len(r.packages) {
			return mndx.Bad(off+int64(at), "package %d of %d", p, len(r.packages))
		}
	}
	if len(r.groups) != r.names.Len() {
		return mndx.Bad(off, "%d groups of files for %d names", len(r.groups), r.names.Len())
	}
	return nil
}

// Kind returns "mndx".
func (r *Root) Kind() string { return "mndx" }

// Files yields the files as PACKAGE/NAME, in the order of the numbers of their names.
func (r *Root) Files() iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		n := 0
		for name, err := range r.names.Keys() {
			if err != nil {
				yield(root.File{}, &format.Error{Format: string(mndx), What: "names", Err: err})
				return
			}
			if !r.eachOf(n, string(name), yield) {
				return
			}
			n++
		}
	}
}

// eachOf yields the files of group n.
func (r *Root) eachOf(n int, name string, yield func(root.File, error) bool) bool {
	for b := r.files[r.groups[n]:]; len(b) > 0; b = b[mndxEntry:] {
		flags := binary.LittleEndian.Uint32(b)
		f := root.File{
			Name: root.CleanName(r.packages[flags&mndxPackage] + "/" + name),
			CKey: keys.Key(b[4:20]), Size: int64(binary.LittleEndian.Uint32(b[20:])),
		}
		if !yield(f, nil) {
			return false
		}
		if flags&mndxLast != 0 {
			break
		}
	}
	return true
}
