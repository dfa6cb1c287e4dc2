package dbd

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"lorefs/casc/db2"
	"lorefs/casc/internal/format"
)

// Library is a folder of definitions. It may be used by several goroutines at once.
type Library struct {
	in iofs.FS
	// files are the paths of definitions, by the name of their table in lower case.
	files map[string]string
	// named has the names of tables by their hash and by the IDs of their files.
	byHash, byFile map[uint32]string
	// manifest is sorted by name.
	manifest []manifestTable
}

// Names of what is in a folder of definitions.
const (
	definitionEnd    = ".dbd"
	definitionFolder = "definitions"
	manifestName     = "manifest.json"
)

// ErrNone means that a folder has no definitions.
var ErrNone = errors.New("no definitions of tables (NAME" + definitionEnd + ") are there")

// OpenLibrary lists the definitions of a folder, and reads the manifest if it is there.
func OpenLibrary(in iofs.FS) (*Library, error) {
	l := &Library{in: in, files: map[string]string{}, byHash: map[uint32]string{}, byFile: map[uint32]string{}}
	for _, dir := range []string{".", definitionFolder} {
		entries, err := iofs.ReadDir(in, dir)
		if err != nil && (dir == "." || !errors.Is(err, iofs.ErrNotExist)) {
			return nil, err
		}
		for _, e := range entries {
			if table, ok := strings.CutSuffix(e.Name(), definitionEnd); ok && !e.IsDir() {
				l.files[strings.ToLower(table)] = path.Join(dir, e.Name())
			}
		}
	}
	if len(l.files) == 0 {
		return nil, ErrNone
	}
	return l, l.readManifest()
}

// readManifest reads the names of tables. Parts that aren't in it are 0.
func (l *Library) readManifest() error {
	data, err := l.read(manifestName)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := parseManifest(data)
	if err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	slices.SortFunc(list, func(a, b manifestTable) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	l.manifest = list
	for _, t := range list {
		for _, file := range []uint32{t.DB2, t.DBC} {
			if file != 0 {
				l.byFile[file] = t.Name
			}
		}
		if hash, ok := ParseLayout(strings.ToUpper(t.Hash)); ok {
			l.byHash[hash] = t.Name
		}
	}
	return nil
}

// manifestTable is a table as the manifest has it.
type manifestTable struct {
	Name string `json:"tableName"`
	Hash string `json:"tableHash"`
	DBC  uint32 `json:"dbcFileDataID"`
	DB2  uint32 `json:"db2FileDataID"`
}

func parseManifest(data []byte) (list []manifestTable, err error) {
	err = json.Unmarshal(data, &list)
	return list, err
}

func (l *Library) read(file string) ([]byte, error) {
	info, err := iofs.Stat(l.in, file)
	if err != nil {
		return nil, err
	}
	if info.Size() > format.MaxText {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that it may have", file, info.Size(), format.MaxText)
	}
	return iofs.ReadFile(l.in, file)
}

// Len returns how many definitions there are.
func (l *Library) Len() int { return len(l.files) }

// NameOfFile returns the table that is in a file with such an ID, or "".
func (l *Library) NameOfFile(id uint32) string { return l.byFile[id] }

// Files yields the IDs of the files that the manifest knows, with the names of their tables, in the
// order of the names. A table may have two files: that of newer games comes first.
func (l *Library) Files() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for _, t := range l.manifest {
			for _, file := range []uint32{t.DB2, t.DBC} {
				if file != 0 && !yield(file, t.Name) {
					return
				}
			}
		}
	}
}

// NameOfHash returns the table whose name has a hash, or "".
func (l *Library) NameOfHash(hash uint32) string { return l.byHash[hash] }

// Name returns the name of a table in the letters that its definition has, or as it is.
func (l *Library) Name(table string) string {
	if file, ok := l.files[strings.ToLower(table)]; ok {
		return strings.TrimSuffix(path.Base(file), definitionEnd)
	}
	return table
}

// Definition reads the definition of a table. It is nil if there is none.
func (l *Library) Definition(table string) (*Definition, error) {
	file, ok := l.files[strings.ToLower(table)]
	if !ok {
		return nil, nil //nolint:nilnil // no definition is no mistake
	}
	data, err := l.read(file)
	if err != nil {
		return nil, err
	}
	d, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// Sum returns a hash of the definition of a table. It is empty if there is none of that name.
func (l *Library) Sum(table string) (string, error) {
	file, ok := l.files[strings.ToLower(table)]
	if !ok {
		return "", nil
	}
	data, err := l.read(file)
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// By says what a version was chosen by.
type By string

// The ways to choose a version, the surest first.
const (
	ByLayout  By = "layout"
	BySchema  By = "build of the table"
	ByStorage By = "build of the game"
	ByNumber  By = "build number of the table"
)

// Choose returns the version that a table has: by its layout, else by the build that it says it is of,
// else by the build of the game, if that is not zero. It is nil if there is none.
func (d *Definition) Choose(h *db2.Header, game Build) (*Version, By) {
	if h.Layout != 0 {
		if v := d.ByLayout(h.Layout); v != nil {
			return v, ByLayout
		}
	}
	if b, ok := ParseSchema(h.Schema); ok {
		if v := d.ByBuild(b); v != nil {
			return v, BySchema
		}
	}
	if game != (Build{}) {
		if v := d.ByBuild(game); v != nil {
			return v, ByStorage
		}
	}
	if h.Build != 0 {
		if v := d.ByNumber(h.Build); v != nil {
			return v, ByNumber
		}
	}
	return nil, ""
}
