package write

import (
	"cmp"
	"crypto/md5"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
)

// Files are the files of a storage by their path.
type Files map[string][]byte

// Write writes the files below a folder of the operating system.
func (f Files) Write(dir string) error {
	for name, data := range f {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// Key returns the MD5 of data.
func Key(data []byte) keys.Key { return md5.Sum(data) }

// Stored is an encoded file of a storage.
type Stored struct {
	CKey, EKey keys.Key
	// Size is the size of the content.
	Size int64
	// Encoded is the encoded file, and Spec says how it is encoded.
	Encoded []byte
	Spec    string
	// Absent files are in the manifests, but not in the archives.
	Absent bool
}

// Builder collects the files of a storage. The zero Builder is empty.
type Builder struct {
	// Stored are all files in the order in which they were added.
	Stored []Stored
	// Product is the program's code.
	Product string
	// KeyRing is the text of a key ring configuration, if there is one.
	KeyRing string
	// Config has additional lines of the build configuration.
	Config []string
	// Tags are the tags in .build.info.
	Tags string
	// Version names the build; the default is 1.0.0.1.
	Version string
	// PackNamed puts what the build configuration names into the archives of a CDN. It lies
	// loose otherwise.
	PackNamed bool
	err       error
}

// Add encodes content as one zlib chunk and stores it.
func (b *Builder) Add(content []byte) Stored {
	return b.AddChunks("b:{*=z}", blte.WriteOptions{}, blte.Chunk{Content: content, Mode: blte.ModeZlib})
}

// AddAbsent is Add of a file that is not in the archives.
func (b *Builder) AddAbsent(content []byte) Stored {
	s := b.Add(content)
	s.Absent = true
	b.Stored[len(b.Stored)-1] = s
	return s
}

// AddChunks encodes chunks, which spec describes, and stores them.
func (b *Builder) AddChunks(spec string, opts blte.WriteOptions, chunks ...blte.Chunk) Stored {
	s := Stored{Spec: spec}
	var content []byte
	for i := range chunks {
		content = append(content, chunks[i].Content...)
	}
	s.CKey, s.Size = Key(content), int64(len(content))
	var err error
	if s.Encoded, err = blte.Append(nil, chunks, opts); err == nil {
		s.EKey, err = blte.FileKey(s.Encoded)
	}
	if err != nil && b.err == nil {
		b.err = err
	}
	b.Stored = append(b.Stored, s)
	return s
}

// AddRaw stores data as it is, under a key.
func (b *Builder) AddRaw(data []byte, ekey keys.Key) Stored {
	s := Stored{CKey: Key(data), EKey: ekey, Size: int64(len(data)), Encoded: data, Spec: "n"}
	b.Stored = append(b.Stored, s)
	return s
}

// line returns a line of a build configuration.
func line(name string, words ...any) string {
	var b strings.Builder
	b.WriteString(name + " =")
	for _, w := range words {
		fmt.Fprint(&b, " ", w)
	}
	return b.String()
}

// Ref adds a file to the build configuration, with its keys and sizes.
func (b *Builder) Ref(name string, s Stored) {
	b.Config = append(b.Config, line(name, s.CKey, s.EKey), line(name+"-size", s.Size, len(s.Encoded)))
}

// Root adds the root to the build configuration.
func (b *Builder) Root(s Stored) { b.Config = append(b.Config, line("root", s.CKey)) }

func (b *Builder) version() string { return cmp.Or(b.Version, "1.0.0.1") }

// finish adds the encoding file and returns the build configuration.
func (b *Builder) finish() ([]byte, error) {
	spec, chunks := encodingChunks(Encoding(slices.Clone(b.Stored)))
	b.Ref("encoding", b.AddChunks(spec, blte.WriteOptions{}, chunks...))
	text := "# Build Configuration\n\n" + strings.Join(b.Config, "\n") + "\nbuild-name = " + b.version() + "\n"
	return []byte(text), b.err
}

// download returns the download manifest of all files added so far, without which CascLib
// opens no storage. CascLib skips an entry at the very end of the manifest, so a tag
// follows the last one, as in real manifests.
func (b *Builder) download() []byte {
	var entries []manifests.DownloadEntry
	seen := map[keys.Key]bool{}
	for _, s := range b.Stored {
		if !seen[s.EKey] {
			seen[s.EKey] = true
			entries = append(entries, manifests.DownloadEntry{EKey: s.EKey, Size: int64(len(s.Encoded))})
		}
	}
	all := make([]int, len(entries))
	for i := range all {
		all[i] = i
	}
	return Download(1, entries, Tag{Name: "Windows", Type: manifests.TagPlatform, Entries: all})
}

// Format stores a configuration under its path.
func (f Files) config(dir string, data []byte) keys.Key {
	key := Key(data)
	f[path.Join(dir, config.Path("config", key))] = data
	return key
}

// Install makes an install: .build.info, configurations, index files and archives. It adds
// a download manifest unless there is one.
func (b *Builder) Install() (Files, error) {
	if !slices.ContainsFunc(b.Config, func(s string) bool { return strings.HasPrefix(s, "download =") }) {
		b.Ref("download", b.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: b.download()}))
	}
	cfg, err := b.finish()
	if err != nil {
		return nil, err
	}
	f := Files{}
	ring := ""
	if b.KeyRing != "" {
		ring = f.config("Data", []byte(b.KeyRing)).String()
	}
	f[".build.info"] = []byte("Branch!STRING:0|Active!DEC:1|Build Key!HEX:16|CDN Key!HEX:16|Tags!STRING:0|Version!STRING:0|KeyRing!HEX:16|Product!STRING:0\n" +
		"eu|1|" + f.config("Data", cfg).String() + "|" + f.config("Data", []byte("archives = \n")).String() + "|" + b.Tags + "|" + b.version() + "|" + ring + "|" + b.Product + "\n")
	places, archives := b.layOut()
	for i, a := range archives {
		f[fmt.Sprintf("Data/data/data.%03d", i)] = a
	}
	for bucket := range index.Buckets {
		f[fmt.Sprintf("Data/data/%02x%08x.idx", bucket, 2)] = Idx(bucket, places[bucket], nil)
	}
	f["Data/data/shmem"] = Shmem("Data/data", 2)
	return f, nil
}

// layOut puts the files into local archives, and returns their places by bucket.
func (b *Builder) layOut() (places [index.Buckets][]index.IdxEntry, archives [][]byte) {
	perArchive := max(8, len(b.Stored)/50+1)
	for i, s := range b.Stored {
		if s.Absent {
			continue
		}
		n := i / perArchive
		for len(archives) <= n {
			archives = append(archives, nil)
		}
		off, size := int64(len(archives[n])), int64(len(s.Encoded)+index.SpanHeaderSize)
		archives[n] = index.SpanHeader{Key: s.EKey, Size: uint32(size)}.Append(archives[n], off)
		archives[n] = append(archives[n], s.Encoded...)
		bucket := index.Bucket(s.EKey.Short())
		places[bucket] = append(places[bucket], index.IdxEntry{
			Key: s.EKey.Short(), Location: index.Location{Archive: n, Off: off, Size: size},
		})
	}
	return places, archives
}

// Mirror makes a mirror: half of the files in an archive with its index, the other half
// loose. With group, the index is that of a group.
func (b *Builder) Mirror(group bool) (Files, error) {
	cfg, err := b.finish()
	if err != nil {
		return nil, err
	}
	f := Files{}
	f.config("", cfg)
	var archive []byte
	var entries []index.ArchiveEntry
	for i, s := range b.Stored {
		switch {
		case s.Absent:
		case i%2 == 0:
			f[config.Path("data", s.EKey)] = s.Encoded
		default:
			entries = append(entries, index.ArchiveEntry{Key: s.EKey, Size: int64(len(s.Encoded)), Archive: 1, Off: int64(len(archive))})
			archive = append(archive, s.Encoded...)
		}
	}
	// The MD5 of an index's footer is the name of the index and of its archive.
	index := ArchiveIndex(entries, 4)
	key := Key(index[len(index)-28:])
	name := key
	f[config.Path("data", key)] = archive
	if group {
		index = ArchiveIndex(entries, 6)
		name = Key(index[len(index)-28:])
	}
	f[config.Path("data", name)+".index"] = index
	text := fmt.Sprintf("archives = %v %v\n", keys.Key{1}, key)
	if group {
		text += "archive-group = " + name.String() + "\n"
	}
	f.config("", []byte(text))
	return f, nil
}
