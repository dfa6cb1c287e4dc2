package casctree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// builder collects the directories and files of a table.
type builder struct {
	kind string
	// locale is the storage's language. only says that the user wants no other.
	locale root.Locale
	only   bool
	// remote says that the storage is far away.
	remote bool
	names  arena
	files  list[buildFile]
	dirs   []buildDir
	// byPath finds directories by the text before the last slash of a name, and byName by
	// their parent and their own folded name.
	byPath map[string]uint32
	byName map[dirName]uint32
	last   struct { // of byPath
		path string
		dir  uint32
	}
	further []byte
	// places finds the content of further by its hash, since any number of files may be
	// made of the same spans.
	places map[uint64]uint32
	counts header
	// ids and hashes are files that wait for a name. Those in ids stay when they have one.
	ids, hashes waiting
	// problems are the first of nProblems faults in spite of which the tree can be used.
	// faults are the reasons why files can't be read.
	problems  []error
	nProblems int
	faults    []error
	// scratch and pathName are for put and add.
	scratch, pathName []byte
}

type buildDir struct {
	parent uint32
	name   string // escaped
}

type dirName struct {
	parent uint32
	folded string
}

// buildFile is a file. It has only 32 bytes, because there are millions.
type buildFile struct {
	dir, name uint32
	nameLen   uint8
	flags     uint8
	state     uint8
	size      [sizeSize]byte
	// key is the content key until that is looked up in the encoding file; then it begins
	// with the encoding key.
	key keys.Key
}

// The states of a buildFile.
const (
	// stateKeyed means that key is the encoding key, or what flags say.
	stateKeyed = 1 << iota
	// statePreferred means that the file is for the storage's language.
	statePreferred
	// stateDropped means that another file is the same.
	stateDropped
	// stateWaiting means that no list has named it yet.
	stateWaiting
	// stateFallback means that the file is not for the storage's language, but for one that
	// stands for it.
	stateFallback
	// The bits from here on are root.ContentFlags.Rank.
	stateRankBit = iota
)

// errTooMany is wrapped by errors about what does not fit into the table.
var errTooMany = errors.New("more names than can be shown")

// The directories that are made first, after the root of the mount.
const (
	filesName   = "files"
	installName = "install"
	unnamedName = "unnamed"
)

func newBuilder(st *casc.Storage) *builder {
	b := &builder{locale: st.PreferredLocale(), only: st.Locale() != 0, remote: st.IsRemote(), byPath: map[string]uint32{}, byName: map[dirName]uint32{}, places: map[uint64]uint32{}}
	b.dirs = append(b.dirs, buildDir{})
	b.dir(0, filesName)
	return b
}

// dir returns the directory called part in another.
func (b *builder) dir(parent uint32, part string) uint32 {
	b.scratch = appendEscaped(b.scratch[:0], part)
	n := len(b.scratch)
	b.scratch = appendFolded(b.scratch, b.scratch[:n])
	if d, ok := b.byName[dirName{parent, string(b.scratch[n:])}]; ok {
		return d
	}
	d := uint32(len(b.dirs))
	b.dirs = append(b.dirs, buildDir{parent, string(b.scratch[:n])})
	b.byName[dirName{parent, string(b.scratch[n:])}] = d
	return d
}

// path returns the directory of the text before the last slash, below files/.
func (b *builder) path(text []byte) uint32 {
	if string(text) == b.last.path && len(text) > 0 {
		return b.last.dir
	}
	d, ok := b.byPath[string(text)]
	if !ok {
		d = b.dir(0, filesName)
		if len(text) > 0 {
			for part := range strings.SplitSeq(string(text), "/") {
				d = b.dir(d, part)
			}
		}
		b.byPath[string(text)] = d
	}
	b.last.path, b.last.dir = string(text), d
	return d
}

// add adds a file of the root. A file without name waits for a list that names it.
func (b *builder) add(f *root.File) error {
	b.counts.rootRows++
	x, err := b.file(f)
	if err != nil {
		return err
	}
	if f.Name == "" {
		return b.wait(x, f)
	}
	b.pathName = append(b.pathName[:0], f.Name...)
	if b.kind == "tvfs" {
		for i, c := range b.pathName {
			if c == ':' {
				b.pathName[i] = '/'
			}
		}
	}
	return b.show(x, b.pathName)
}

// show puts a file below files/ by its name.
func (b *builder) show(x *buildFile, name []byte) error {
	b.counts.named++
	at := bytes.LastIndexByte(name, '/')
	return put(b, x, b.path(name[:max(at, 0)]), name[at+1:])
}

// The names of files by their numbers. A directory has the first digits.
const (
	formatID      = "%08x"
	formatHash    = "%016x"
	unnamedEnding = ".dat"
	unnamedDigits = 4
)

// showUnnamed puts a file below unnamed/ by its number.
func (b *builder) showUnnamed(x *buildFile, number string) error {
	b.counts.unnamed++
	return put(b, x, b.dir(b.dir(0, unnamedName), number[:unnamedDigits]), number+unnamedEnding)
}

// addInstall adds the install manifest's files, by tag.
func (b *builder) addInstall(m *manifests.Install) error {
	tagged := make([]bool, len(m.Entries))
	put := func(d uint32, i int) error {
		e := &m.Entries[i]
		name := strings.Trim(strings.ReplaceAll(e.Name, `\`, "/"), "/")
		for {
			part, rest, deeper := strings.Cut(name, "/")
			if !deeper {
				x, err := b.file(&root.File{CKey: e.CKey, Size: e.Size})
				if err != nil {
					return err
				}
				return put(b, x, d, name)
			}
			d, name = b.dir(d, part), rest
		}
	}
	top := b.dir(0, installName)
	for i := range m.Tags {
		d := b.dir(top, m.Tags[i].Name)
		for n := range m.Tags[i].Entries() {
			tagged[n] = true
			if err := put(d, n); err != nil {
				return err
			}
		}
	}
	for n := range m.Entries {
		if !tagged[n] {
			if err := put(b.dir(top, ""), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// put sets the directory of a file and its name there.
func put[S string | []byte](b *builder, x *buildFile, dir uint32, part S) error {
	b.scratch = appendEscaped(b.scratch[:0], part)
	at, ok := b.names.add(b.scratch)
	if !ok {
		return fmt.Errorf("casctree: %w: 4 GiB", errTooMany)
	}
	x.dir, x.name, x.nameLen = dir, at, uint8(len(b.scratch))
	return nil
}

// file adds a file without a name.
func (b *builder) file(f *root.File) (*buildFile, error) {
	if b.files.len >= maxFiles {
		return nil, fmt.Errorf("casctree: %w: %d", errTooMany, maxFiles)
	}
	x := b.files.add()
	x.state = uint8(f.Flags.Rank()) << stateRankBit
	switch {
	case f.Locale == 0 || f.Locale&b.locale != 0:
		x.state |= statePreferred
	case f.Locale&b.locale.Fallback() != 0:
		x.state |= stateFallback
	}
	// A file of size 0 would be read as an empty one, even if reading fails.
	size := f.Size
	if size < 0 {
		size = 1
	}
	if size >= 1<<(8*sizeSize) {
		return nil, fmt.Errorf("casctree: a file of %d bytes: %w", size, casc.ErrUnsupported)
	}
	putBE40(x.size[:], size)
	if f.Err != nil {
		x.state |= stateKeyed
		copy(x.key[4:], binary.LittleEndian.AppendUint32(nil, uint32(b.files.len))) // different from all others
		b.setFault(x, f.Err)
		return x, nil
	}
	if len(f.Spans) == 0 {
		x.key = f.CKey
		return x, nil
	}
	return x, b.putSpans(x, f.Spans)
}

// maxFiles bounds the files of a table; one file may be in many tags.
const maxFiles = 1 << 26

// putSpans sets the place of a file whose encoding keys the root has.
func (b *builder) putSpans(x *buildFile, spans []root.Span) error {
	x.state |= stateKeyed
	s := &spans[0]
	if len(spans) == 1 && s.Off == 0 && s.Size == s.ContentSize {
		copy(x.key[:keys.ShortSize], s.EKey[:])
		return nil
	}
	x.flags |= flagSpans
	more := make([]byte, 0, len(spans)*spanSize)
	for i := range spans {
		s := &spans[i]
		more = append(more, s.EKey[:keys.ShortSize]...)
		for _, n := range [...]int64{s.Off, s.Size, s.ContentSize} {
			var v [sizeSize]byte
			putBE40(v[:], n)
			more = append(more, v[:]...)
		}
	}
	return b.refer(x, len(spans), more)
}

// placesSeed is the seed of the hashes of places.
var placesSeed = maphash.MakeSeed()

// refer makes a file refer to records, which it puts into further unless they are there.
func (b *builder) refer(x *buildFile, count int, records []byte) error {
	if count > 255 || len(b.further)+1+len(records) > maxTableString {
		return fmt.Errorf("casctree: %w: a file of %d parts", errTooMany, count)
	}
	sum := maphash.Bytes(placesSeed, records)
	at, ok := b.places[sum]
	if end := int64(at) + 1 + int64(len(records)); !ok || end > int64(len(b.further)) ||
		int(b.further[at]) != count || !bytes.Equal(b.further[at+1:end], records) {
		at = uint32(len(b.further))
		b.further = append(append(b.further, byte(count)), records...)
		b.places[sum] = at
	}
	x.key = keys.Key{}
	binary.LittleEndian.PutUint32(x.key[:], at)
	return nil
}

func (b *builder) name(x *buildFile) []byte { return b.names.get(x.name, int(x.nameLen)) }
