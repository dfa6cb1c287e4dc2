package casctest

import (
	"encoding/binary"
	"fmt"
	"strings"

	"lorefs/blte"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
)

// Large is a storage of many small files, like those of large games. It has a root of World
// of Warcraft, which has IDs only, and a list file.
type Large struct {
	Files write.Files
	// List is the list file, of lines ID;NAME.
	List string
	n    int
}

// words are names of folders. The spelling of some differs from file to file, as in real
// lists.
var words = []string{"World", "Maps", "Azeroth", "Creature", "Character", "Item", "ObjectComponents", "Interface", "Sound", "Music", "Spells", "Textures"}

// LargeName returns the name of file i, in folders of some 200 files.
func LargeName(i int) string {
	folder := i / 200
	a, b, c := words[folder%12], words[folder/12%12], words[folder/144%12]
	if folder%7 == i%7 {
		a = strings.ToLower(a)
	}
	return fmt.Sprintf("%s/%s/%s_%04d/%s_%s_%02d_%06d.m2", a, b, c, folder, strings.ToLower(c), strings.ToLower(b), i%61, i*7919%1000000)
}

// LargeContent returns the content of file i.
func LargeContent(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)) }

// NewLarge makes a storage of n files. Every tenth has no name, every 13th is not
// local.
func NewLarge(n int) (*Large, error) {
	b, l := largeBuilder(n)
	var err error
	l.Files, err = b.Install()
	return l, err
}

// NewLargeCDN makes a storage of n files as a CDN has it, all of which are there.
func NewLargeCDN(n, archives int) (*Large, *write.CDN, error) {
	b, l := largeBuilder(n)
	for i := range b.Stored {
		b.Stored[i].Absent = false
	}
	c, err := b.CDN(archives)
	return l, c, err
}

// NewPackedCDN is NewLargeCDN with all in archives, also what the build configuration names, as the
// hosts of large games have it.
func NewPackedCDN(n, archives int) (*Large, *write.CDN, error) {
	b, l := largeBuilder(n)
	b.PackNamed = true
	for i := range b.Stored {
		b.Stored[i].Absent = false
	}
	c, err := b.CDN(archives)
	return l, c, err
}

func largeBuilder(n int) (*write.Builder, *Large) {
	var b write.Builder
	b.Stored = make([]write.Stored, 0, n+2)
	var list strings.Builder
	files := make([]root.File, n)
	for i := range files {
		s := b.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: LargeContent(i)})
		b.Stored[i].Absent = i%13 == 12
		files[i] = root.File{ID: uint32(i + 1), CKey: s.CKey, Locale: root.LocaleEnUS, Flags: root.ContentNoNames}
		if i%10 != 9 {
			fmt.Fprintf(&list, "%d;%s\n", i+1, LargeName(i))
		}
	}
	root := write.WoWRoot(3, files)
	b.Root(b.AddChunks("z", blte.WriteOptions{}, blte.Chunk{Content: root, Mode: blte.ModeZlib}))
	return &b, &Large{List: list.String(), n: n}
}

// Find returns the paths of file i in a mount: below files/ or unnamed/.
func (l *Large) Find(i int) string {
	if i%10 == 9 {
		return fmt.Sprintf("unnamed/%04x/%08x.dat", (i+1)>>16, i+1)
	}
	return "files/" + LargeName(i)
}

// Local reports whether file i is local.
func (l *Large) Local(i int) bool { return i%13 != 12 }

// Counts returns how many files have a name, have none, and are not local.
func (l *Large) Counts() (named, unnamed, missing int) {
	return l.n - l.n/10, l.n / 10, l.n / 13
}
