package casc

import (
	"bytes"
	"iter"
	"strings"
)

const textRoot format = "text root"

// TextRoot is the root of StarCraft: Remastered and Warcraft III: lines
// NAME[:LOCALE]|CKEY[|…], of which what follows the key is not understood. It
// keeps the file's bytes.
type TextRoot struct {
	files []File
}

// isTextRoot looks at the first line.
func isTextRoot(data []byte) bool {
	line, _, _ := bytes.Cut(data[:min(len(data), 1<<12)], []byte("\n"))
	_, ok := parseTextLine(strings.TrimRight(string(line), "\r"))
	return ok
}

func parseTextLine(line string) (File, bool) {
	name, rest, _ := strings.Cut(line, "|")
	text, _, _ := strings.Cut(rest, "|")
	key, err := ParseKey(text)
	f := File{CKey: key, Size: -1}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		if l, err := ParseLocale(name[i+1:]); err == nil {
			f.Locale = l
		}
	}
	f.Name = cleanName(name)
	return f, err == nil && f.Name != ""
}

// ParseTextRoot reads the lines; empty ones and those that begin with # are
// skipped.
func ParseTextRoot(data []byte) (*TextRoot, error) {
	r := &TextRoot{}
	for off, line := range textLines(data) {
		if line == "" || line[0] == '#' {
			continue
		}
		f, ok := parseTextLine(line)
		if !ok {
			return nil, textRoot.bad(off, "%.80q is no NAME|CONTENT KEY", line)
		}
		r.files = append(r.files, f)
	}
	return r, nil
}

// Kind is "text".
func (r *TextRoot) Kind() string { return "text" }

// Files gives the lines in order.
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
