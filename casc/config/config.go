// Package config reads what says which builds there are and of what each consists: the table
// .build.info, and the configurations that it names.
package config

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

// Format names configurations in errors.
const Format format.Name = "configuration"

// Config is a configuration: names with values, which are lists of words. The file is named
// by the MD5 of its text.
type Config struct {
	names  []string
	values map[string][][]string
}

// Parse reads a configuration of any kind: lines NAME = WORD WORD …. Empty lines and
// lines that begin with # are skipped. If a name has several lines, as in patch
// configurations, their values are joined.
func Parse(data []byte) (*Config, error) {
	c := &Config{values: map[string][][]string{}}
	for off, line := range format.Lines(data) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, Format.Bad(off, "%.80q is no NAME = VALUE", line)
		}
		if _, known := c.values[name]; !known {
			c.names = append(c.names, name)
		}
		c.values[name] = append(c.values[name], strings.Fields(value))
	}
	return c, nil
}

// Read reads a configuration whose MD5 must be key.
func Read(data []byte, key keys.Key) (*Config, error) {
	if sum := keys.Of(data); sum != key {
		return nil, Format.Bad(0, "the MD5 is %v, the name says %v", sum, key)
	}
	return Parse(data)
}

// Names returns the names in the order of the file.
func (c *Config) Names() []string { return slices.Clone(c.names) }

// Lines returns the values of name, a list of words for each line that has it. They must
// not be changed.
func (c *Config) Lines(name string) [][]string { return c.values[name] }

// Words returns all words of name, or nil if it is not there.
func (c *Config) Words(name string) []string { return slices.Concat(c.values[name]...) }

// Text returns the value of name as one string.
func (c *Config) Text(name string) string { return strings.Join(c.Words(name), " ") }

// Keys returns the words of name, each of which must be a key.
func (c *Config) Keys(name string) ([]keys.Key, error) {
	words := c.Words(name)
	all := make([]keys.Key, len(words))
	for i, w := range words {
		var err error
		if all[i], err = keys.Parse(w); err != nil {
			return nil, &format.Error{Format: string(Format), What: name, Err: err}
		}
	}
	return all, nil
}

// Ref is a build configuration's reference to a file. Keys and sizes that it does not state
// are zero.
type Ref struct {
	// Name is the name in the configuration, such as "encoding" or "vfs-root".
	Name string
	// CKey is the content key, EKey the encoding key.
	CKey, EKey keys.Key
	// Size is the decoded size, EncodedSize the encoded one.
	Size, EncodedSize int64
}

// Ref returns the file that name refers to, or a zero Ref if there is none. The value is a
// content key and, perhaps, an encoding key; that of name-size has their sizes.
func (c *Config) Ref(name string) (Ref, error) {
	r := Ref{Name: name}
	keys, err := c.Keys(name)
	if err != nil {
		return r, err
	}
	if len(keys) > 2 {
		return r, Format.Bad(0, "%s has %d keys, expected a content and an encoding key", name, len(keys))
	}
	if len(keys) > 0 {
		r.CKey = keys[0]
	}
	if len(keys) > 1 {
		r.EKey = keys[1]
	}
	sizes := c.Words(name + "-size")
	for i, size := range []*int64{&r.Size, &r.EncodedSize} {
		if i < len(sizes) {
			if *size, err = parseSize(name+"-size", sizes[i]); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

func parseSize(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 63)
	if err != nil || n < 0 {
		return 0, Format.Bad(0, "%s: %.40q is no size", name, text)
	}
	return n, nil
}

// VFS yields the nested manifests of the virtual file system, vfs-1, vfs-2 and so on, in
// the order of the file.
func (c *Config) VFS() iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for _, name := range c.names {
			if !isNumbered(name, "vfs-") {
				continue
			}
			r, err := c.Ref(name)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func isNumbered(name, prefix string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || digits == "" {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// Path returns the path KIND/ab/cd/abcd… of a configuration below the data folder, or
// of a file below another folder of a CDN.
func Path(kind string, key keys.Key) string {
	s := key.String()
	return fmt.Sprintf("%s/%s/%s/%s", kind, s[:2], s[2:4], s)
}
