package casc

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"lorefs/casc/config"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// Content reads a whole file by its content key. It does not cache chunks, because tables
// may be larger than any cache.
func (s *Storage) Content(ctx context.Context, ckey keys.Key) ([]byte, error) {
	c, err := s.openContent(ctx, ckey, access{})
	if err != nil {
		return nil, err
	}
	return c.ReadAll(ctx, format.MaxTable)
}

// Encoded reads a whole file by its encoding key, as OpenEncoded does. It does not cache
// chunks.
func (s *Storage) Encoded(ctx context.Context, prefix []byte) ([]byte, error) {
	c, err := s.openEncoded(ctx, prefix, access{})
	if err != nil {
		return nil, err
	}
	return c.ReadAll(ctx, format.MaxTable)
}

// referred reads what the build configuration refers to, in the form that it names or else
// in another.
func (s *Storage) referred(ctx context.Context, ref config.Ref) ([]byte, error) {
	if ref.EKey.IsZero() {
		return s.Content(ctx, ref.CKey)
	}
	data, err := s.Encoded(ctx, ref.EKey[:])
	if err == nil {
		return data, nil
	}
	if other, otherErr := s.Content(ctx, ref.CKey); otherErr == nil {
		return other, nil
	}
	return nil, err
}

// rootFiles are the files of the root.
type rootFiles struct {
	list []root.File
	err  error
}

// Files returns the files that the root names, in its order. Files without names get them
// from the list file. The first call reads the root; the list must not be changed. If the
// root is damaged, Files returns an error and the files before the damage.
func (s *Storage) Files(ctx context.Context) ([]root.File, error) {
	files := s.files.now.Load()
	if files != nil {
		return files.list, files.err
	}
	read, err := s.files.reads.Do(ctx, struct{}{}, func(ctx context.Context) (rootFiles, error) {
		// Another caller may have read them between our look and our turn.
		if files := s.files.now.Load(); files != nil {
			return *files, nil
		}
		read := s.readFiles(ctx)
		if err := ctx.Err(); err != nil {
			return rootFiles{}, err
		}
		s.files.now.Store(&read)
		return read, nil
	})
	if err != nil {
		return nil, err
	}
	return read.list, read.err
}

func (s *Storage) readFiles(ctx context.Context) (files rootFiles) {
	for f, err := range s.Walk(ctx) {
		if err != nil {
			files.err = err
			return files
		}
		if f.Name == "" {
			f.Name = root.CleanName(s.opts.Names.Name(&f))
		}
		files.list = append(files.list, f)
	}
	return files
}

// Manifests returns the files that the build configuration refers to and that users may
// want to see: ENCODING, ROOT, INSTALL, DOWNLOAD, SIZE, PATCH, PATCH-INDEX and vfs-root, if
// it has them.
func (s *Storage) Manifests() ([]root.File, error) {
	var files []root.File
	for _, name := range []string{"encoding", "root", "install", "download", "size", "patch", "patch-index", "vfs-root"} {
		ref, err := s.BuildConfig.Ref(name)
		if err != nil {
			return nil, err
		}
		if ref.CKey.IsZero() {
			continue
		}
		f := root.File{Name: strings.ToUpper(name), CKey: ref.CKey, Size: -1}
		if ref.Size > 0 {
			f.Size = ref.Size
		}
		switch name {
		case "vfs-root":
			f.Name = name
		case "patch": // its only key is the encoding key
			f.CKey, ref.EKey = keys.Key{}, ref.CKey
		}
		if !ref.EKey.IsZero() && ref.Size > 0 {
			f.Spans = []root.Span{{EKey: ref.EKey, KeySize: len(ref.EKey), CKey: f.CKey, Size: ref.Size, ContentSize: ref.Size}}
		}
		files = append(files, f)
	}
	return files, nil
}

// nameIndex finds files by name, ignoring case. It keeps hashes only.
type nameIndex struct {
	once sync.Once
	seed maphash.Seed
	// first has the first file with a hash of a name, next the one after each, or -1.
	first map[uint64]int32
	next  []int32
}

func (x *nameIndex) hash(name string) uint64 { return maphash.String(x.seed, strings.ToLower(name)) }

func (x *nameIndex) build(files []root.File) {
	x.seed = maphash.MakeSeed()
	x.first = make(map[uint64]int32, len(files))
	x.next = make([]int32, len(files))
	for i := len(files) - 1; i >= 0; i-- {
		x.next[i] = -1
		if files[i].Name == "" {
			continue
		}
		h := x.hash(files[i].Name)
		if old, ok := x.first[h]; ok {
			x.next[i] = old
		}
		x.first[h] = int32(i)
	}
}

// Lookup finds the file with a name: an exact match, or else one that differs only in case.
// Slashes may be backslashes. If there are several it takes the lowest ContentFlags.Rank
// and then the first in PreferredLocale or, failing that, in its Fallback. If there is none the error matches ErrNotFound.
func (s *Storage) Lookup(ctx context.Context, name string) (root.File, error) {
	files, err := s.Files(ctx)
	if err != nil {
		return root.File{}, err
	}
	return s.lookupIn(files, name)
}

// lookupIn is Lookup in the list that Files returned.
func (s *Storage) lookupIn(files []root.File, name string) (root.File, error) {
	s.names.once.Do(func() { s.names.build(files) })
	name = root.CleanName(name)
	best, bestRank := int32(-1), 0
	i, ok := s.names.first[s.names.hash(name)]
	for ; ok && i >= 0; i = s.names.next[i] {
		if r := s.rank(&files[i], name); r > bestRank {
			best, bestRank = i, r
		}
	}
	if best < 0 {
		return root.File{}, fmt.Errorf("casc: %q: %w", name, ErrNotFound)
	}
	return files[best], nil
}

// rank returns how well a file matches a name; 0 is not at all.
func (s *Storage) rank(f *root.File, name string) int {
	if !strings.EqualFold(f.Name, name) {
		return 0
	}
	rank := 1 + s.Fit(f)
	if f.Name == name {
		rank += 16
	}
	return rank
}

// Fit returns how well a file goes with the flags and the language for which the game is installed, as
// a number below 16. Of the files of one name or ID, the game loads the one that fits best, or the first of these.
func (s *Storage) Fit(f *root.File) int {
	rank := 4 * (2 - f.Flags.Rank())
	switch preferred := s.PreferredLocale(); {
	case f.Locale == 0 || f.Locale&preferred != 0:
		rank += 2
	case f.Locale&preferred.Fallback() != 0:
		rank++
	}
	return rank
}

// PreferredLocale returns the language whose file gets a name that several have:
// Options.Locale, or the language in the build's tags.
func (s *Storage) PreferredLocale() root.Locale {
	if s.opts.Locale != 0 {
		return s.opts.Locale
	}
	for _, group := range s.Build.Tags {
		for word := range strings.FieldsSeq(group) {
			if l, err := root.ParseLocale(word); err == nil {
				return l
			}
		}
	}
	return root.LocaleEnUS
}

// Install reads the install manifest. If the build has none the error matches ErrNotFound.
func (s *Storage) Install(ctx context.Context) (*manifests.Install, error) {
	return readManifest(ctx, s, "install", manifests.ParseInstall)
}

// Download reads the download manifest, as Install does.
func (s *Storage) Download(ctx context.Context) (*manifests.Download, error) {
	return readManifest(ctx, s, "download", manifests.ParseDownload)
}

// SizeManifest reads the size manifest, as Install does.
func (s *Storage) SizeManifest(ctx context.Context) (*manifests.Size, error) {
	return readManifest(ctx, s, "size", manifests.ParseSize)
}

// PatchIndex reads the patch index, as Install does.
func (s *Storage) PatchIndex(ctx context.Context) (*manifests.PatchIndex, error) {
	return readManifest(ctx, s, "patch-index", manifests.ParsePatchIndex)
}

// Patch reads the patch manifest, as Install does.
func (s *Storage) Patch(ctx context.Context) (*manifests.Patch, error) {
	return readManifest(ctx, s, "patch", manifests.ParsePatch)
}

// readManifest reads the file that the build configuration calls name.
func readManifest[M any](ctx context.Context, s *Storage, name string, parse func([]byte) (*M, error)) (*M, error) {
	ref, err := s.BuildConfig.Ref(name)
	if err != nil {
		return nil, err
	}
	var data []byte
	switch {
	case ref.CKey.IsZero():
		return nil, fmt.Errorf("casc: the build has no %s: %w", name, ErrNotFound)
	case name == "patch": // its only key is the encoding key
		data, err = s.Encoded(ctx, ref.CKey[:])
	default:
		data, err = s.referred(ctx, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}
