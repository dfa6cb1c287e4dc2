package mods

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/nearest"
	"lorefs/cmd/internal/tomlfile"
	"lorefs/datacenter/patch"
	"lorefs/internal/shown"
)

// The keys of the file of build.
const (
	keyBase    = "base"
	keyBaseSum = "base-sum"
	keyPatches = "patches"
	keyPrefer  = "prefer"
	keyValues  = "values"
	keySum     = "sum"
)

var keys = []string{keyBase, keyBaseSum, keyPatches, keyPrefer, keyValues, keySum}

// buildFile is what such a file says.
type buildFile struct {
	*tomlfile.File
	base    string
	patches []*patch.Patch
	// sums are those of the files of the patches, by the names of the patches in them.
	sums   map[string]string
	prefer patch.Preference
	// baseSum and sum are the sums that are wanted, or empty, and lines those of their keys and of values.
	baseSum, sum string
	lines        map[string]int
}

// readBuildFile reads a file, and the patches that it names.
func readBuildFile(name string) (*buildFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, kinds.Unreadable(name, err)
	}
	f := &buildFile{sums: map[string]string{}, lines: map[string]int{}}
	var values map[string]tomlfile.Value
	if f.File, values, err = tomlfile.Parse(name, string(text)); err != nil {
		return nil, err
	}
	for key, v := range values {
		f.lines[key] = f.Line(v)
	}
	for _, key := range []string{keyBase, keyPatches} {
		if _, ok := values[key]; !ok {
			return nil, tomlfile.At(name, 1, "%s is missing", key)
		}
	}
	for key := range values {
		if !slices.Contains(keys, key) {
			return nil, f.unknown(key, values)
		}
	}
	// This is the order in which it is known what they are about: the patches come before who is preferred.
	for _, key := range keys {
		if v, ok := values[key]; ok {
			if err := f.take(key, v); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// unknown returns the error of the first key that no such file has.
func (f *buildFile) unknown(key string, values map[string]tomlfile.Value) error {
	for other := range values {
		if !slices.Contains(keys, other) && f.lines[other] < f.lines[key] {
			key = other
		}
	}
	if near := nearest.Name(key, keys); near != "" {
		return f.Errorf(values[key], "no key is called %s: did you mean %s?", shown.Quote(key), near)
	}
	return f.Errorf(values[key], "no key is called %s: want %s", shown.Quote(key), strings.Join(keys, ", "))
}

// take takes the value of a key.
func (f *buildFile) take(key string, v tomlfile.Value) (err error) {
	switch key {
	case keyBase:
		f.base, err = f.text(v)
		f.base = f.Path(f.base)
	case keyBaseSum:
		f.baseSum, err = f.sumIn(v)
	case keySum:
		f.sum, err = f.sumIn(v)
	case keyPatches:
		err = f.each(v, f.takePatch)
	case keyPrefer:
		err = f.each(v, f.takePreferred)
	case keyValues:
		err = f.takeValues(v)
	}
	return err
}

// text returns a text that is not empty.
func (f *buildFile) text(v tomlfile.Value) (string, error) {
	var value any
	if err := f.Decode(v, &value); err != nil {
		return "", f.Errorf(v, "%w", err)
	}
	if text, ok := value.(string); ok && text != "" {
		return text, nil
	}
	return "", f.Errorf(v, "want a text in quotes")
}

// sumIn returns a SHA-256.
func (f *buildFile) sumIn(v tomlfile.Value) (string, error) {
	text, err := f.text(v)
	if err != nil {
		return "", err
	}
	if b, err := hex.DecodeString(text); err != nil || len(b) != sha256.Size {
		return "", f.Errorf(v, "%s: want a SHA-256 of %d hex digits", shown.Quote(text), 2*sha256.Size) //nolint:mnd // two digits a byte
	}
	return strings.ToLower(text), nil
}

// each takes a text, or each one in a list.
func (f *buildFile) each(v tomlfile.Value, take func(v tomlfile.Value, text string) error) error {
	var value any
	if err := f.Decode(v, &value); err != nil {
		return f.Errorf(v, "%w", err)
	}
	list := []tomlfile.Value{v}
	if _, ok := value.([]any); ok {
		if err := f.Decode(v, &list); err != nil {
			return f.Errorf(v, "%w", err)
		}
	}
	for _, v := range list {
		text, err := f.text(v)
		if err == nil {
			err = take(v, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takePatch reads the patches of a file.
func (f *buildFile) takePatch(v tomlfile.Value, name string) error {
	line := f.LineOf(v, name)
	at := func(err error) error { return fmt.Errorf("%s:%d: %w", f.Name, line, err) }
	if _, ok := f.sums[name]; ok {
		return tomlfile.At(f.Name, line, "%s stands there twice", name)
	}
	text, err := Read(nil, f.Path(name))
	if err != nil {
		return at(err)
	}
	all, err := parse(name, text)
	if err != nil {
		return at(err)
	}
	sum := sha256.Sum256(text)
	for _, p := range all {
		f.sums[p.Name] = hex.EncodeToString(sum[:])
		f.patches = append(f.patches, p)
	}
	return nil
}

// takePreferred takes a word of those of --prefer.
func (f *buildFile) takePreferred(v tomlfile.Value, word string) error {
	order, err := Prefer([]string{word}, f.patches)
	if err != nil {
		return tomlfile.At(f.Name, f.LineOf(v, word), "%w", err)
	}
	f.prefer.Order = append(f.prefer.Order, order...)
	return nil
}

// takeValues takes the table of single values.
func (f *buildFile) takeValues(v tomlfile.Value) error {
	var table map[string]tomlfile.Value
	var value any
	if err := f.Decode(v, &value); err != nil {
		return f.Errorf(v, "%w", err)
	}
	if _, ok := value.(map[string]any); !ok {
		return f.Errorf(v, "want a table of values, each with a patch")
	}
	if err := f.Decode(v, &table); err != nil {
		return f.Errorf(v, "%w", err)
	}
	f.prefer.Values = map[string]int{}
	for path, v := range table {
		word, err := f.text(v)
		if err != nil {
			return err
		}
		if f.prefer.Values[path], err = find(word, f.patches); err != nil {
			return f.Errorf(v, "%w", err)
		}
		f.lines[path] = f.Line(v)
	}
	return nil
}

// checkValues returns an error for a value that is decided, but that no two patches are about.
func (f *buildFile) checkValues(s *patch.Settlement) error {
	var paths []string
	for path := range f.prefer.Values {
		if !slices.ContainsFunc(s.Shared, func(x patch.Shared) bool { return x.String() == path }) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.SortFunc(paths, func(a, b string) int { return f.lines[a] - f.lines[b] })
	return tomlfile.At(f.Name, f.lines[paths[0]], "the patches share no value %s", paths[0])
}
