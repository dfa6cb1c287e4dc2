package pack

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"strings"
	"sync"

	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// schemaFiles finds and keeps the schemas beside sheets. It is safe for parallel use.
type schemaFiles struct {
	fsys iofs.FS
	read schemaSet // by path
}

func newSchemaFiles(fsys iofs.FS) *schemaFiles { return &schemaFiles{fsys: fsys} }

// schemaSet keeps schemas by name. It is safe for parallel use.
type schemaSet struct {
	mu   sync.Mutex
	load map[string]func() (*xsd.Schema, error) // guarded by mu
}

// get returns a schema, and loads it once, however many wait for it.
func (s *schemaSet) get(name string, load func() (*xsd.Schema, error)) (*xsd.Schema, error) {
	s.mu.Lock()
	if s.load == nil {
		s.load = map[string]func() (*xsd.Schema, error){}
	}
	once, ok := s.load[name]
	if !ok {
		once = sync.OnceValues(load)
		s.load[name] = once
	}
	s.mu.Unlock()
	return once()
}

// of returns the schema for a sheet in a file, or nil.
func (s *schemaFiles) of(file, sheet string) (*xsd.Schema, error) {
	dir, base := path.Split(file)
	name := spell.EscapeName(sheet) + schemaSuffix
	schema, err := s.load(dir + name)
	if err != nil {
		return nil, err
	}
	if schema != nil {
		if schema.Sheet != sheet {
			what := fmt.Sprintf("the schema of %s: want that of %s", shown.Quote(schema.Sheet), shown.Quote(sheet))
			return nil, &xmltext.SyntaxError{File: dir + name, Line: 1, Column: 1, What: what}
		}
		return schema, nil
	}
	// The name of the sheet may be impossible for a file. Then its file and its schema
	// share another name.
	prefix := base[:max(strings.LastIndexByte(base, '-'), 0)]
	if prefix+schemaSuffix == name {
		return nil, nil
	}
	schema, err = s.load(dir + prefix + schemaSuffix)
	if err != nil || schema == nil || schema.Sheet != sheet {
		return nil, err
	}
	return schema, nil
}

const (
	schemaSuffix = ".xsd"
	// longestName is the length of the longest file name on any system.
	longestName = 255
)

// load returns the schema in a file, which is read once, or nil if there is no file.
func (s *schemaFiles) load(name string) (*xsd.Schema, error) {
	if len(path.Base(name)) > longestName {
		return nil, nil
	}
	return s.read.get(name, func() (*xsd.Schema, error) { return readSchemaFile(s.fsys, name) })
}

func readSchemaFile(fsys iofs.FS, name string) (*xsd.Schema, error) {
	data, err := readFile(fsys, name)
	switch {
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, iofs.ErrInvalid):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return xsd.Read(name, data)
}
