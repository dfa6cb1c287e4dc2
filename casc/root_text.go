package casc

import (
	"iter"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

const textRoot format.Name = "text root"

// TextRoot is the root of StarCraft: Remastered and Warcraft III: lines
// NAME[:LOCALE]|CKEY[|…]. What follows the key is not understood. It keeps the file's
// bytes.
type TextRoot struct {
	files  []File
	faults faults
}

// isTextRoot reports whether one of the first lines names a file; the others may be bad.
func isTextRoot(data []byte) bool {
	const some = 4 << 10
	for _, line := range format.Lines(data[:min(len(data), some)]) {
		if _, ok := parseTextLine(line); ok {
			return true
		}
	}
	return false
}

func parseTextLine(line string) (File, bool) {
	name, rest, _ := strings.Cut(line, "|")
	text, _, _ := strings.Cut(rest, "|")
	key, err := keys.Parse(text)
	f := File{CKey: key, Size: -1}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		if l, err := ParseLocale(name[i+1:]); err == nil {
			f.Locale = l
		}
	}
	f.Name = cleanName(name)
	return f, err == nil && f.Name != ""
}

// ParseTextRoot reads the lines. Empty lines and those that begin with # are skipped. A bad
// line is a fault, unless all are bad.
func ParseTextRoot(data []byte) (*TextRoot, error) {
	r := &TextRoot{}
	for off, line := range format.Lines(data) {
		if line == "" || line[0] == '#' {
			continue
		}
		f, ok := parseTextLine(line)
		if !ok {
			r.faults.add(textRoot.Bad(off, "%.80q is no NAME|CONTENT KEY: the line is left out", line))
			continue
		}
		r.files = append(r.files, f)
	}
	if len(r.files) == 0 && r.faults.n > 0 {
		return nil, r.faults.list[0]
	}
	return r, nil
}

// Problems returns the lines that were left out.
func (r *TextRoot) Problems() []error { return r.faults.reported(textRoot) }

// Kind returns "text".
func (r *TextRoot) Kind() string { return "text" }

// Files yields the files in the order of the lines.
func (r *TextRoot) Files() iter.Seq2[File, error] { return eachFile(r.files) }

func eachFile(files []File) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}
}
