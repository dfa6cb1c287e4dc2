package write

import (
	"fmt"
	"slices"
	"strings"

	"lorefs/casc/config"
	"lorefs/casc/index"
	"lorefs/casc/keys"
)

// CDN is a storage as the hosts of a CDN have it.
type CDN struct {
	// Files are the objects by their paths below that of the storage.
	Files Files
	// Build and Config are the keys of the build configuration and of that of the CDN.
	Build, Config keys.Key
	// Archives are the names of the archives.
	Archives []keys.Key
	// FileIndex is the name of the index of loose files, or zero.
	FileIndex keys.Key
}

// CDN makes what the hosts of a CDN have: archives with their indexes, and as loose files what
// the build configuration names.
func (b *Builder) CDN(archives int) (*CDN, error) {
	cfg, err := b.finish()
	if err != nil {
		return nil, err
	}
	return CDNOf(cfg, b.Stored, archives, b.PackNamed), nil
}

// CDNOf makes what the hosts of a CDN have of a build, from its configuration and its encoded files.
// With packNamed, also what the configuration names is in archives.
func CDNOf(cfg []byte, stored []Stored, archives int, packNamed bool) *CDN {
	c := &CDN{Files: Files{}}
	c.Build = c.Files.config("", cfg)
	named := map[string]bool{}
	for word := range strings.FieldsSeq(string(cfg)) {
		named[word] = true
	}
	var packed []Stored
	var loose []index.ArchiveEntry
	seen := map[keys.Key]bool{}
	for _, s := range stored {
		switch {
		case s.Absent || seen[s.EKey]:
		case !packNamed && (named[s.EKey.String()] || named[s.CKey.String()]):
			c.Files[config.Path("data", s.EKey)] = s.Encoded
			loose = append(loose, index.ArchiveEntry{Key: s.EKey, Size: int64(len(s.Encoded))})
		default:
			packed = append(packed, s)
		}
		seen[s.EKey] = true
	}
	var sizes []int
	var group []index.ArchiveEntry
	per := (len(packed) + archives - 1) / max(archives, 1)
	for part := range slices.Chunk(packed, max(per, 1)) {
		size, entries := c.archive(part)
		for _, e := range entries {
			e.Archive = len(sizes)
			group = append(group, e)
		}
		sizes = append(sizes, size)
	}
	text := "# CDN Configuration\n\n" + line("archives", words(c.Archives)...) + "\n" + line("archives-index-size", words(sizes)...) + "\n"
	if len(group) > 0 {
		text += line("archive-group", indexName(ArchiveIndex(group, 6))) + "\n"
	}
	if len(loose) > 0 {
		index := ArchiveIndex(loose, 0)
		c.FileIndex = indexName(index)
		c.Files[config.Path("data", c.FileIndex)+".index"] = index
		text += line("file-index", c.FileIndex) + "\n" + line("file-index-size", len(index)) + "\n"
	}
	c.Config = c.Files.config("", []byte(text))
	return c
}

// archive makes an archive and its index, and returns the size of the index and its entries.
func (c *CDN) archive(part []Stored) (size int, entries []index.ArchiveEntry) {
	var data []byte
	for _, s := range part {
		entries = append(entries, index.ArchiveEntry{Key: s.EKey, Size: int64(len(s.Encoded)), Off: int64(len(data))})
		data = append(data, s.Encoded...)
	}
	index := ArchiveIndex(entries, 4)
	name := indexName(index)
	at := config.Path("data", name)
	c.Files[at], c.Files[at+".index"] = data, index
	c.Archives = append(c.Archives, name)
	return len(index), entries
}

// indexName returns the name of an index and of its archive: the MD5 of its footer.
func indexName(index []byte) keys.Key { return Key(index[len(index)-28:]) }

func words[T any](list []T) []any {
	all := make([]any, len(list))
	for i, x := range list {
		all[i] = fmt.Sprint(x)
	}
	return all
}
