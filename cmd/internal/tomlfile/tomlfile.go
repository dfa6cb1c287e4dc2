// Package tomlfile reads TOML of users, and names the line of what is wrong with it.
package tomlfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/adrg/xdg"

	"lorefs/cmd/internal/cli"
)

// Value is a value that was not looked at yet.
type Value = toml.Primitive

// File is a file of TOML.
type File struct {
	// Name is its path.
	Name string
	text string
	meta toml.MetaData
}

// Parse reads the text of a file.
func Parse(name, text string) (*File, map[string]Value, error) {
	f := &File{Name: name, text: text}
	var values map[string]Value
	var err error
	if f.meta, err = toml.Decode(text, &values); err != nil {
		e, ok := errors.AsType[toml.ParseError](err)
		if !ok {
			return nil, nil, cli.UsageErrorf("%s: %w", name, err)
		}
		return nil, nil, cli.UsageErrorf("%s:%d: %s", name, e.Position.Line, e.Message)
	}
	return f, values, nil
}

// Decode decodes a value.
func (f *File) Decode(v Value, to any) error { return f.meta.PrimitiveDecode(v, to) }

// Errorf returns an error with the place of what is wrong.
func (f *File) Errorf(v Value, format string, args ...any) error {
	return At(f.Name, f.Line(v), format, args...)
}

// Line returns the line of a value. The library tells it only in an error.
func (f *File) Line(v Value) int {
	e, _ := errors.AsType[toml.ParseError](f.meta.PrimitiveDecode(v, nowhere{}))
	return e.Position.Line
}

// LineOf returns the line of a text in a list, which the library takes for that of the list.
func (f *File) LineOf(v Value, text string) int {
	line := f.Line(v)
	for i, x := range strings.Split(f.text, "\n") {
		if i+1 >= line && strings.Contains(x, text) {
			return i + 1
		}
	}
	return line
}

// nowhere takes no value.
type nowhere struct{}

// UnmarshalTOML implements [toml.Unmarshaler].
func (nowhere) UnmarshalTOML(any) error { return errors.New("no value fits") }

// Path returns a path in the file: relative to it, or with ~ for the home.
func (f *File) Path(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(xdg.Home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.Name), path)
}

// At returns an error with the place of what is wrong.
func At(name string, line int, format string, args ...any) error {
	return cli.UsageErrorf("%s:%d: %w", name, line, fmt.Errorf(format, args...))
}
