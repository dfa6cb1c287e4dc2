package protocol

import (
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Limits of the search in a folder.
const (
	maxLibraryDepth = 4
	maxLibraryFiles = 100_000
)

// ErrNoDefinition means that there is no definition of that name and version.
var ErrNoDefinition = errors.New("no such definition")

// errTooMany stops the search in a folder.
var errTooMany = errors.New("too many files")

// LibraryOptions say how the definitions of a [Library] are used.
type LibraryOptions struct {
	// Codec are the options of tables. Its Padded is set for each name.
	Codec Options
	// Platform prefers definitions for a platform, such as console. Default: pc.
	Platform string
}

// Library is a folder of definitions, maps and the lists that belong to them. Opening it
// reads only the names. It is safe for parallel use.
type Library struct {
	fsys iofs.FS
	opts LibraryOptions

	// Deprecated, Revisions and Padding are the lists of the folder; nil if it has no such
	// list. Padding is by major version.
	Deprecated Deprecations
	Revisions  map[string]Revision
	padding    map[int]Names

	// defs holds the definitions: first the used ones, then those hidden by others of the
	// same name and version.
	defs   []DefinitionFile
	used   int
	byName map[string][]int // indexes of defs, by rising version
	maps   []MapFile

	mu sync.Mutex
	// tables has the compiled tables, patches the patches that definitions say they are
	// good for. Both are guarded by mu.
	tables  map[tableKey]compiled
	patches map[int]PatchRange
	// cached has definitions that were read, while caching is not 0. Both are guarded by mu.
	cached  map[int]*Definition
	caching int

	// inline is the result of isInline.
	inlineOnce sync.Once
	inline     bool
}

type tableKey struct {
	def   int
	patch Patch
}

type compiled struct {
	table *Table
	err   error
}

// DefinitionFile is one definition of a Library.
type DefinitionFile struct {
	FileName
	// Path is its path in the folder.
	Path string
}

// MapFile is one map of a Library.
type MapFile struct {
	Kind, Revision string
	// Path is its path in the folder.
	Path string
}

// OpenLibrary looks through a folder, up to 4 levels deep, for NAME.VERSION.def,
// protocol.REVISION.map, sysmsg.REVISION.map and their forms in JSON, revisions.json,
// deprecated.json, and the lists of padded packets, integrity/MAJOR.json. Of two
// definitions of one name and version it takes the first in a walk by name; see
// [Library.Hidden].
//
// An error comes from reading the folder or those lists. Definitions and maps are read when
// they are needed.
func OpenLibrary(fsys iofs.FS, opts LibraryOptions) (*Library, error) {
	l := &Library{
		fsys: fsys, opts: opts,
		padding: make(map[int]Names), byName: make(map[string][]int),
		tables: make(map[tableKey]compiled), patches: make(map[int]PatchRange),
	}
	if l.opts.Platform == "" {
		l.opts.Platform = "pc"
	}
	files := 0
	err := iofs.WalkDir(fsys, ".", func(name string, e iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if files++; files > maxLibraryFiles {
			return fmt.Errorf("protocol: %w: more than %d", errTooMany, maxLibraryFiles)
		}
		if e.IsDir() {
			if hidden := name != "." && strings.HasPrefix(path.Base(name), "."); hidden || strings.Count(name, "/") >= maxLibraryDepth {
				return iofs.SkipDir
			}
			return nil
		}
		return l.addFile(name)
	})
	if err != nil {
		return nil, err
	}
	l.sort()
	return l, nil
}

// addFile notes a file, or reads it if it is one of the lists.
func (l *Library) addFile(name string) (err error) {
	base := path.Base(name)
	if n, ok := ParseFileName(base); ok && !n.Script {
		l.defs = append(l.defs, DefinitionFile{FileName: n, Path: name})
		return nil
	}
	switch {
	case base == "revisions.json" && l.Revisions == nil:
		l.Revisions, err = readList(l.fsys, name, ParseRevisions)
	case base == "deprecated.json" && l.Deprecated == nil:
		l.Deprecated, err = readList(l.fsys, name, ParseDeprecations)
	case path.Base(path.Dir(name)) == "integrity":
		major, isNumber := strings.CutSuffix(base, ".json")
		n, numErr := strconv.ParseUint(major, 10, 16)
		if isNumber && numErr == nil {
			l.padding[int(n)], err = readList(l.fsys, name, ParseNames)
		}
	default:
		if kind, revision, ok := ParseMapName(base); ok {
			l.maps = append(l.maps, MapFile{Kind: kind, Revision: revision, Path: name})
		}
	}
	return err
}

// errNoFile is the error for a name that leads to a pipe, a folder, or the like.
var errNoFile = errors.New("no regular file")

// readFile reads a file of at most the size of a map. It opens only regular files, because
// opening a pipe would wait for a writer.
func readFile(fsys iofs.FS, name string) ([]byte, error) {
	info, err := iofs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &iofs.PathError{Op: "read", Path: name, Err: errNoFile}
	}
	if info.Size() > maxMap {
		text := fmt.Sprintf("the file has %d bytes: want at most %d", info.Size(), maxMap)
		return nil, &SyntaxError{Diagnostics: []Diagnostic{{File: name, Line: 1, Text: text}}}
	}
	return iofs.ReadFile(fsys, name)
}

func readList[T any](fsys iofs.FS, name string, parse func(string, []byte) (T, error)) (T, error) {
	src, err := readFile(fsys, name)
	if err != nil {
		var none T
		return none, err
	}
	return parse(name, src)
}

// sort orders the definitions by name, version and platform, and moves duplicates to the
// end.
func (l *Library) sort() {
	slices.SortStableFunc(l.defs, func(a, b DefinitionFile) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Version-b.Version, strings.Compare(a.Platform, b.Platform))
	})
	var used, hidden []DefinitionFile
	for _, d := range l.defs {
		if n := len(used); n > 0 && used[n-1].FileName == d.FileName {
			hidden = append(hidden, d)
			continue
		}
		l.byName[d.Name] = append(l.byName[d.Name], len(used))
		used = append(used, d)
	}
	l.defs, l.used = slices.Concat(used, hidden), len(used)
}

// Definitions lists the definitions by name, version and platform.
func (l *Library) Definitions() []DefinitionFile { return slices.Clip(l.defs[:l.used]) }

// Hidden lists the definitions that are not used because another one has the same name,
// version and platform. Their numbers for [Library.Definition] and [Library.Table] follow
// those of [Library.Definitions].
func (l *Library) Hidden() []DefinitionFile { return slices.Clip(l.defs[l.used:]) }

// Maps lists the maps in the order of a walk.
func (l *Library) Maps() []MapFile { return slices.Clip(l.maps) }

// Definition reads definition i of [Library.Definitions]. If only this file is bad, also if
// it is a dangling link or may not be read, the error is a [*SyntaxError], so that callers
// can go on with the others.
func (l *Library) Definition(i int) (*Definition, error) {
	name := l.defs[i].Path
	d, err := ReadDefinition(l.fsys, name)
	return d, ofFile(name, err)
}

// Cache has the library keep the definitions that Choose and Table read, until the last one who
// called Cache has called release. Who wants many tables should: else a definition is read for
// the patches that it is good for, for its table, and to see what dialect the folder is of.
func (l *Library) Cache() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.caching++; l.cached == nil {
		l.cached = make(map[int]*Definition)
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.caching--; l.caching == 0 {
			l.cached = nil
		}
	})
}

// definition is Definition, but may return one that was kept. It must not be changed.
func (l *Library) definition(i int) (*Definition, error) {
	l.mu.Lock()
	d := l.cached[i]
	l.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := l.Definition(i)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.cached != nil {
			l.cached[i] = d
		}
	}
	return d, err
}

// ofFile makes a SyntaxError of an error that concerns one file, not reading as such.
func ofFile(name string, err error) error {
	for _, odd := range []error{iofs.ErrNotExist, iofs.ErrPermission, syscall.ELOOP, errNoFile} {
		if errors.Is(err, odd) {
			if pe, ok := errors.AsType[*iofs.PathError](err); ok {
				err = pe.Err // the diagnostic names the file
			}
			return &SyntaxError{Diagnostics: []Diagnostic{{File: name, Line: 1, Text: err.Error()}}}
		}
	}
	return err
}

// ReadDefinition reads a definition in a folder. Included files are read from beside it.
func ReadDefinition(fsys iofs.FS, name string) (*Definition, error) {
	src, err := readFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var unread error // that of a file which could be read another time
	d, err := Parse(path.Base(name), src, ParseOptions{Include: func(file string) ([]byte, error) {
		src, err := readFile(fsys, path.Join(path.Dir(name), file))
		if _, wrong := errors.AsType[*SyntaxError](ofFile(file, err)); err != nil && !wrong {
			unread = err
		}
		return src, err
	}})
	if unread != nil {
		return nil, unread
	}
	return d, err
}

// Map reads map i of [Library.Maps]. Its errors are as for [Library.Definition].
func (l *Library) Map(i int) (*Map, error) {
	name := l.maps[i].Path
	m, err := ReadMap(l.fsys, name)
	return m, ofFile(name, err)
}

// ReadMap reads a map in a folder, see [ParseMap]. A file of more than 8 MiB is a
// [*SyntaxError] and not read.
func ReadMap(fsys iofs.FS, name string) (*Map, error) {
	return readList(fsys, name, func(name string, src []byte) (*Map, error) {
		return ParseMap(path.Base(name), src)
	})
}

// FindMap returns the index of the map of a kind for a client revision. If there is none,
// or the revision is not known, it returns the only map that names no revision. It never
// returns a map of another revision, because each has its own numbers.
func (l *Library) FindMap(kind, revision string) (i int, ok bool) {
	only := -1
	for i, m := range l.maps {
		if m.Kind != kind && (kind != "protocol" || m.Kind != "maps") {
			continue
		}
		if revision != "" && m.Revision == revision {
			return i, true
		}
		switch {
		case revision != "" && m.Revision != "":
		case only >= 0:
			only = len(l.maps)
		default:
			only = i
		}
	}
	return only, only >= 0 && only < len(l.maps)
}

// Choose returns the index of the definition for packets of a name. version is a number, a
// number and a platform as in 3.console, or "*" for the highest version that is good for
// the patch, by its own statement and by the list of deprecated ones.
func (l *Library) Choose(name, version string, patch Patch) (int, error) {
	best := -1
	for _, i := range l.byName[name] {
		d := l.defs[i]
		if d.Platform != "" && d.String() == name+"."+version {
			return i, nil
		}
		if d.Platform != "" && d.Platform != l.opts.Platform {
			continue
		}
		// A definition for the platform comes behind the one for all.
		wanted := strconv.Itoa(d.Version) == version
		if !wanted && version == "*" {
			var err error
			if wanted, err = l.allowed(i, patch); err != nil {
				return 0, err
			}
		}
		if wanted {
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("protocol: %s.%s: %w", name, version, ErrNoDefinition)
	}
	return best, nil
}

// allowed reports whether a definition is good for a patch. It returns true for one that
// is wrong, so that its user gets the error.
func (l *Library) allowed(i int, patch Patch) (bool, error) {
	d := l.defs[i]
	if patch == 0 {
		return true, nil // the highest version, whatever it is for
	}
	if !l.Deprecated.Allows(d.Name, d.Version, patch) {
		return false, nil
	}
	good, err := l.patchesOf(i)
	return good.Contains(patch), err
}

// Writable returns nil if packets of a patch may be written by definition i, or an error
// that says which patches it is good for, by the list of deprecated ones. A version that is
// deprecated but readable may not be written. Without a patch it returns nil.
func (l *Library) Writable(i int, patch Patch) error {
	d := l.defs[i]
	one, deprecated := l.Deprecated[d.Name][strconv.Itoa(d.Version)]
	if !deprecated || patch == 0 || one.contains(patch) {
		return nil
	}
	return fmt.Errorf("protocol: %v is deprecated: packets of patch %v are not written by it, only those %v", d.FileName, patch, one)
}

// patchesOf returns the patches that definition i says it is good for: all of them if it
// is wrong. If it can't be read now, nobody may take another one instead of it, or it instead of
// another one: that is an error.
func (l *Library) patchesOf(i int) (PatchRange, error) {
	l.mu.Lock()
	r, known := l.patches[i]
	l.mu.Unlock()
	if known {
		return r, nil
	}
	def, err := l.definition(i)
	if _, wrong := errors.AsType[*SyntaxError](err); err != nil && !wrong {
		return r, err
	}
	if err == nil {
		r = def.Patches
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patches[i] = r
	return r, nil
}

// Padded reports whether packets of a name have a counter and a checksum at a patch: the
// list of the highest version up to it decides. Without a patch it returns false, because
// padding came late and most public recordings are older.
func (l *Library) Padded(name string, patch Patch) bool {
	best := -1
	for major := range l.padding {
		if major <= int(patch/100) && major > best {
			best = major
		}
	}
	return best >= 0 && l.padding[best][name]
}

// Table returns the table of definition i for a patch, and compiles it the first time.
func (l *Library) Table(i int, patch Patch) (*Table, error) {
	key := tableKey{i, patch}
	l.mu.Lock()
	c, ok := l.tables[key]
	l.mu.Unlock()
	if ok {
		return c.table, c.err
	}
	var def *Definition
	if def, c.err = l.definition(i); c.err == nil {
		opts := l.opts.Codec
		opts.Patch = patch
		opts.Padded = l.Padded(def.Name, patch)
		c.table, c.err = Compile(def, opts)
	}
	if c.err == nil && len(c.table.guessed) > 0 && l.isInline() {
		c.table.setGuessed(nil)
	}
	if _, wrong := errors.AsType[*SyntaxError](c.err); c.err == nil || wrong {
		l.mu.Lock()
		l.tables[key] = c
		l.mu.Unlock()
	}
	return c.table, c.err
}
