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

// Limits of what is looked for in a folder.
const (
	maxLibraryDepth = 4
	maxLibraryFiles = 100_000
)

// ErrNoDefinition means that there is no definition of that name and version.
var ErrNoDefinition = errors.New("no such definition")

// errTooMany stops the search in a folder.
var errTooMany = errors.New("too many files")

// LibraryOptions tell how the definitions of a [Library] are used.
type LibraryOptions struct {
	// Codec is what tables are made with. Its Padded is decided for each name.
	Codec Options
	// Platform prefers definitions for a platform, such as console. Default: pc.
	Platform string
}

// Library is a folder of definitions, maps and the lists that come with them. Only
// the names are read at first. It is safe for parallel use.
type Library struct {
	fsys iofs.FS
	opts LibraryOptions

	// Deprecated, Revisions and Padding are what the lists of the folder say; nil
	// without such a list. Padding is by major version.
	Deprecated Deprecations
	Revisions  map[string]Revision
	padding    map[int]Names

	// defs holds the definitions, and behind the first used of them those that others
	// of the same name and version hide.
	defs   []DefinitionFile
	used   int
	byName map[string][]int // indexes of defs, by rising version
	maps   []MapFile

	mu sync.Mutex
	// tables holds what was compiled, and patches what definitions themselves say that
	// they are good for; both guarded by mu.
	tables  map[tableKey]compiled
	patches map[int]PatchRange

	// inline is what isInline has found out.
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
	// Path is where it lies in the folder.
	Path string
}

// MapFile is one map of a Library.
type MapFile struct {
	Kind, Revision string
	// Path is where it lies in the folder.
	Path string
}

// OpenLibrary looks through a folder, up to 4 levels deep, for NAME.VERSION.def,
// protocol.REVISION.map, sysmsg.REVISION.map and their forms in JSON,
// revisions.json, deprecated.json, and the lists of padded packets,
// integrity/MAJOR.json. Of two definitions of one name and version it takes the
// first that a walk by name meets; see [Library.Hidden].
//
// An error is one of reading the folder, or of those lists. Definitions and maps
// are read when they are asked for.
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

// addFile takes note of a file, or reads it if it is one of the lists.
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

// errNoFile is the error of a name that leads to a pipe, a folder, or the like.
var errNoFile = errors.New("no regular file")

// readFile reads a file that may not be larger than a map. What is no file is not even
// opened: to open a pipe waits for somebody to write.
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

// sort orders the definitions by name, version and platform, and puts those at the end
// that are there twice.
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
// version and platform. [Library.Definition] and [Library.Table] number them on from
// those of [Library.Definitions].
func (l *Library) Hidden() []DefinitionFile { return slices.Clip(l.defs[l.used:]) }

// Maps lists the maps in the order of a walk.
func (l *Library) Maps() []MapFile { return slices.Clip(l.maps) }

// Definition reads definition i of [Library.Definitions]. What is wrong with its file
// alone is a [*SyntaxError], so that it need not keep anybody from the others: that
// there is none, as behind a dangling link, or that it may not be read.
func (l *Library) Definition(i int) (*Definition, error) {
	name := l.defs[i].Path
	d, err := ReadDefinition(l.fsys, name)
	return d, ofFile(name, err)
}

// ofFile makes a SyntaxError of an error that says what a file is, and not that reading
// it failed.
func ofFile(name string, err error) error {
	for _, odd := range []error{iofs.ErrNotExist, iofs.ErrPermission, syscall.ELOOP, errNoFile} {
		if errors.Is(err, odd) {
			if pe, ok := errors.AsType[*iofs.PathError](err); ok {
				err = pe.Err // the rest is told by the diagnostic
			}
			return &SyntaxError{Diagnostics: []Diagnostic{{File: name, Line: 1, Text: err.Error()}}}
		}
	}
	return err
}

// ReadDefinition reads the definition in a file of a folder. The files that it includes
// lie beside it.
func ReadDefinition(fsys iofs.FS, name string) (*Definition, error) {
	src, err := readFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return Parse(path.Base(name), src, ParseOptions{Include: func(file string) ([]byte, error) {
		return readFile(fsys, path.Join(path.Dir(name), file))
	}})
}

// Map reads map i of [Library.Maps]. Its errors are those of [Library.Definition].
func (l *Library) Map(i int) (*Map, error) {
	name := l.maps[i].Path
	m, err := ReadMap(l.fsys, name)
	return m, ofFile(name, err)
}

// ReadMap reads the map in a file of a folder, see [ParseMap]. A file of more than 8 MiB
// is a [*SyntaxError] and not read.
func ReadMap(fsys iofs.FS, name string) (*Map, error) {
	return readList(fsys, name, func(name string, src []byte) (*Map, error) {
		return ParseMap(path.Base(name), src)
	})
}

// FindMap returns the index of the map of a kind for a client revision. If the
// revision is not known, or no map is of it and some have none, then the only one
// of those is good. A map of another revision never is: each has its own numbers.
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

// Choose returns the index of the definition to read packets of a name with.
// version is a number, a number and a platform as in 3.console, or "*" for the highest
// one that is good for the patch by its own word and by the list of deprecated ones.
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
		if strconv.Itoa(d.Version) == version || version == "*" && l.allowed(i, patch) {
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("protocol: %s.%s: %w", name, version, ErrNoDefinition)
	}
	return best, nil
}

// allowed reports whether a definition is good for a patch. One that cannot be read
// says nothing against it, so that its error is told to whoever uses it.
func (l *Library) allowed(i int, patch Patch) bool {
	d := l.defs[i]
	if patch == 0 {
		return true // the highest version, whatever it is for
	}
	if !l.Deprecated.Allows(d.Name, d.Version, patch) {
		return false
	}
	return l.patchesOf(i).Contains(patch)
}

// Writable reports whether packets of a patch may be written by definition i: nil, or an
// error that says which patches it is good for, by the list of deprecated ones. One that
// is only readable elsewhere is not. Without a patch there is nothing to be said.
func (l *Library) Writable(i int, patch Patch) error {
	d := l.defs[i]
	one, deprecated := l.Deprecated[d.Name][strconv.Itoa(d.Version)]
	if !deprecated || patch == 0 || one.contains(patch) {
		return nil
	}
	return fmt.Errorf("protocol: %v is deprecated: packets of patch %v are not written by it, only those %v", d.FileName, patch, one)
}

// patchesOf is for which patches definition i says that it is good: all of them for one
// that cannot be read.
func (l *Library) patchesOf(i int) PatchRange {
	l.mu.Lock()
	r, known := l.patches[i]
	l.mu.Unlock()
	if known {
		return r
	}
	def, err := l.Definition(i)
	if err == nil {
		r = def.Patches
	}
	if _, wrong := errors.AsType[*SyntaxError](err); err == nil || wrong {
		l.mu.Lock()
		l.patches[i] = r
		l.mu.Unlock()
	}
	return r
}

// Padded reports whether packets of a name have a counter and a checksum at a patch:
// the list of the highest version up to it decides. Without a patch none has:
// padding came late, and most public recordings are older.
func (l *Library) Padded(name string, patch Patch) bool {
	best := -1
	for major := range l.padding {
		if major <= int(patch/100) && major > best {
			best = major
		}
	}
	return best >= 0 && l.padding[best][name]
}

// Table makes the table of definition i for a patch, or gives the one that was
// made before.
func (l *Library) Table(i int, patch Patch) (*Table, error) {
	key := tableKey{i, patch}
	l.mu.Lock()
	c, ok := l.tables[key]
	l.mu.Unlock()
	if ok {
		return c.table, c.err
	}
	var def *Definition
	if def, c.err = l.Definition(i); c.err == nil {
		opts := l.opts.Codec
		opts.Patch = patch
		opts.Padded = l.Padded(def.Name, patch)
		c.table, c.err = Compile(def, opts)
	}
	if c.err == nil && len(c.table.guessed) > 0 && l.isInline() {
		c.table.guessed = nil
	}
	if _, wrong := errors.AsType[*SyntaxError](c.err); c.err == nil || wrong {
		l.mu.Lock()
		l.tables[key] = c
		l.mu.Unlock()
	}
	return c.table, c.err
}
