// Package text reads roots that are lists of names with content keys.
package text

import (
	"iter"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

const textRoot format.Name = "text root"

// Root is the root of StarCraft: Remastered and Warcraft III: lines
// NAME[:LOCALE]|CKEY[|…]. What follows the key is not understood. It keeps the file's
// bytes.
type Root struct {
	files  []root.File
	faults root.Faults
}

// Is reports whether one of the first lines names a file; the others may be bad.
func Is(data []byte) bool {
	const some = 4 << 10
	for _, line := range format.Lines(data[:min(len(data), some)]) {
		if _, ok := parseTextLine(line); ok {
			return true
		}
	}
	return false
}

func parseTextLine(line string) (root.File, bool) {
	name, rest, _ := strings.Cut(line, "|")
	text, _, _ := strings.Cut(rest, "|")
	key, err := keys.Parse(text)
	f := root.File{CKey: key, Size: -1}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		if l, err := root.ParseLocale(name[i+1:]); err == nil {
			f.Locale = l
		}
	}
	f.Name = root.CleanName(name)
	return f, err == nil && f.Name != ""
}

// Parse reads the lines. Empty lines and those that begin with # are skipped. A bad
// line is a fault, unless all are bad.
func Parse(data []byte) (*Root, error) {
	r := &Root{}
	for off, line := range format.Lines(data) {
		if line == "" || line[0] == '#' {
			continue
		}
		f, ok := parseTextLine(line)
		if !ok {
			r.faults.Add(textRoot.Bad(off, "%.80q is no NAME|CONTENT KEY: the line is left out", line))
			continue
		}
		r.files = append(r.files, f)
	}
	if len(r.files) == 0 && r.faults.N > 0 {
		return nil, r.faults.List[0]
	}
	return r, nil
}

// Problems returns the lines that were left out.
func (r *Root) Problems() []error { return r.faults.Reported(textRoot) }

// Kind returns "text".
func (r *Root) Kind() string { return "text" }

// Files yields the files in the order of the lines.
func (r *Root) Files() iter.Seq2[root.File, error] { return eachFile(r.files) }

func eachFile(files []root.File) iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}
}
