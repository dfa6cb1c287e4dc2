package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"lorefs/internal/shown"
)

// codeBits is how many bits the code of a packet has.
const codeBits = 16

// maxMap bounds the size of a map, and of the lists in JSON. The largest public map has 114
// KiB.
const maxMap = 8 << 20

// Map maps the names of packets, or of system messages, to their numbers and back. It is
// immutable.
type Map struct {
	File string
	// Kind says what the numbers are of: protocol or sysmsg. It is maps for a file of
	// tera-toolbox, which is a protocol map too.
	Kind string
	// Revision is the client revision of the map, or the patch, from the file's name; it
	// may be empty.
	Revision string
	// Warnings are remarks on duplicate names and numbers.
	Warnings []Diagnostic
	// Wrong are the lines that were skipped because they lack a name or number, such as
	// those that a merge left behind. There are at most 21; the last of 21 says that there
	// are more.
	Wrong []Diagnostic

	names   []string // in the order of the file
	numbers map[string][]uint32
	byNum   map[uint32]string
	// second are the names that have another name's number too, while the map is read.
	// Searching the numbers of a name for each line would take minutes.
	second map[named]bool
}

// named is a name with one of its numbers.
type named struct {
	name   string
	number uint32
}

// ParseMapName parses the name of a map's file: KIND[.REVISION].map, or .json.
func ParseMapName(name string) (kind, revision string, ok bool) {
	base, isMap := strings.CutSuffix(name, ".map")
	if !isMap {
		if base, ok = strings.CutSuffix(name, ".json"); !ok {
			return "", "", false
		}
	}
	kind, revision, _ = strings.Cut(base, ".")
	known := kind == "protocol" || kind == "sysmsg" || kind == "maps" || kind == "opcodes"
	return kind, revision, known || isMap && isName(kind)
}

// ParseMap reads a map: lines of NAME NUMBER or NAME = NUMBER with comments behind #, or a
// JSON object of names and numbers, where a name with several numbers has an array of them.
// file is the name of the file.
//
// A number with two names leads to the first. A name with several numbers, such as one that
// stands for two packets of a revision, leads to its first.
//
// Bad lines are skipped, see [Map].Wrong. If there are no others, or the JSON can't be
// read, the error is a [*SyntaxError].
func ParseMap(file string, src []byte) (*Map, error) {
	m := &Map{File: file, numbers: make(map[string][]uint32), byNum: make(map[uint32]string), second: make(map[named]bool)}
	m.Kind, m.Revision, _ = ParseMapName(file)
	var wrong, warnings diagnostics
	if len(src) > maxMap {
		wrong.addf(file, 1, "the file has %d bytes: want at most %d", len(src), maxMap)
		return nil, wrong.err()
	}
	text := strings.TrimFunc(string(src), isSpace)
	if strings.HasPrefix(text, "{") {
		m.readJSON(text, &wrong, &warnings)
	} else {
		m.readLines(string(src), &wrong, &warnings)
	}
	if len(m.names) == 0 && len(wrong) > 0 {
		return nil, wrong.err()
	}
	m.Warnings, m.Wrong, m.second = warnings, wrong, nil
	return m, nil
}

func (m *Map) readLines(src string, wrong, warnings *diagnostics) {
	num := 0
	for text := range strings.Lines(src) {
		num++
		code, _, _ := splitComment(text)
		if code == "" {
			continue
		}
		words := strings.FieldsFunc(strings.Replace(code, "=", " ", 1), isSpace)
		if len(words) != 2 {
			wrong.addf(m.File, num, "want NAME NUMBER or NAME = NUMBER, got %s", shown.Quote(code))
			continue
		}
		m.add(num, words[0], words[1], wrong, warnings)
	}
}

// readJSON keeps the order of the file, which a Go map would lose.
func (m *Map) readJSON(text string, wrong, warnings *diagnostics) {
	r, err := newJSON([]byte(text))
	if err == nil {
		err = r.eachMember(func(name string) error {
			add := func() error {
				m.add(1, name, string(r.Value(maxJSONNesting)), wrong, warnings)
				return nil
			}
			if r.Peek() != '[' {
				return add()
			}
			return r.elements(add)
		})
	}
	if err != nil {
		wrong.addf(m.File, 1, "%v", err)
	}
}

func (m *Map) add(num int, name, number string, wrong, warnings *diagnostics) {
	bits := 32
	if m.Kind == "protocol" || m.Kind == "maps" || m.Kind == "opcodes" {
		bits = codeBits
	}
	n64, err := strconv.ParseUint(number, 10, bits)
	if err != nil || !isName(name) {
		wrong.addf(m.File, num, "want a name and a number below 2^%d, got %s and %s", bits, shown.Quote(name), shown.Quote(number))
		return
	}
	n, before := uint32(n64), m.numbers[name]
	switch other, taken := m.byNum[n]; {
	case taken && other == name, m.second[named{name, n}]:
		warnings.addf(m.File, num, "%s has the number %d already", name, n)
		return
	case taken:
		warnings.addf(m.File, num, "%s has the number %d, as %s has", name, n, other)
		m.second[named{name, n}] = true
	default:
		m.byNum[n] = name
	}
	if len(before) == 0 {
		m.names = append(m.names, name)
	} else {
		warnings.addf(m.File, num, "%s has the number %d, too", name, before[0])
	}
	m.numbers[name] = append(before, n)
}

// Len returns the number of names.
func (m *Map) Len() int { return len(m.names) }

// Name returns the name of a number; ok is false if it has none.
func (m *Map) Name(number uint32) (name string, ok bool) {
	name, ok = m.byNum[number]
	return name, ok
}

// Number returns the first number of a name; ok is false if it has none.
func (m *Map) Number(name string) (number uint32, ok bool) {
	numbers := m.numbers[name]
	if len(numbers) == 0 {
		return 0, false
	}
	return numbers[0], true
}

// All yields names and numbers, names in the order of the file.
func (m *Map) All() iter.Seq2[string, uint32] {
	return func(yield func(string, uint32) bool) {
		for _, name := range m.names {
			for _, n := range m.numbers[name] {
				if !yield(name, n) {
					return
				}
			}
		}
	}
}

// AppendJSON appends the map as a JSON object, a name in each line, in the order of the
// file. ParseMap reads it.
func (m *Map) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range m.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, "\n \""...), name...)
		dst = append(dst, "\": "...)
		dst = appendNumbers(dst, m.numbers[name])
	}
	return append(dst, "\n}\n"...)
}

// appendNumbers appends the only number, or an array of several.
func appendNumbers(dst []byte, numbers []uint32) []byte {
	if len(numbers) == 1 {
		return strconv.AppendUint(dst, uint64(numbers[0]), 10)
	}
	for i, n := range numbers {
		dst = strconv.AppendUint(append(dst, "[,"[min(i, 1)]), uint64(n), 10)
	}
	return append(dst, ']')
}

// Names is a set of packet names, such as the padded ones.
type Names map[string]bool

// ParseNames reads a JSON array of names.
func ParseNames(file string, src []byte) (Names, error) {
	var list []string
	if err := parseList(file, src, "an array of packet names", &list); err != nil {
		return nil, err
	}
	n := make(Names, len(list))
	for _, name := range list {
		n[name] = true
	}
	return n, nil
}

// Revision describes a client revision.
type Revision struct {
	// Region is empty for most.
	Region string
	Patch  Patch
	// Sysmsg is the revision of the map of system messages, if it has its own.
	Sysmsg string
}

// ParseRevisions reads a JSON object such as {"373824": "eu-98.02"}, of client
// revisions and [REGION-]MAJOR[.MINOR][/SYSMSG].
func ParseRevisions(file string, src []byte) (map[string]Revision, error) {
	var texts map[string]string
	if err := parseList(file, src, "an object of client revisions and versions", &texts); err != nil {
		return nil, err
	}
	all := make(map[string]Revision, len(texts))
	for id, text := range texts {
		var r Revision
		version, sysmsg, _ := strings.Cut(text, "/")
		region, patch, has := strings.Cut(version, "-")
		if !has {
			region, patch = "", version
		}
		p, err := ParsePatch(patch)
		if err != nil {
			return nil, &SyntaxError{Diagnostics: []Diagnostic{{File: file, Line: 1, Text: id + ": " + err.Error()}}}
		}
		r.Region, r.Patch, r.Sysmsg = region, p, sysmsg
		all[id] = r
	}
	return all, nil
}

// Deprecation says for which major versions of the game a definition may be used.
type Deprecation struct {
	// Min and Max are the first and the last major version; nil is no bound.
	Min, Max *uint32
	// Readable says that packets may be read by it outside of that range too.
	Readable bool
}

// Allows reports whether packets of patch p may be read by the definition. An unknown patch
// counts as the newest.
func (d Deprecation) Allows(p Patch) bool { return d.Readable || d.contains(p) }

// contains reports whether patch p is in the range.
func (d Deprecation) contains(p Patch) bool {
	major := uint32(p / 100)
	return (d.Min == nil || p == 0 || major >= *d.Min) && (d.Max == nil || p != 0 && major <= *d.Max)
}

func (d Deprecation) String() string {
	var words []string
	if d.Min != nil {
		words = append(words, fmt.Sprintf("from patch %d on", *d.Min))
	}
	if d.Max != nil {
		words = append(words, fmt.Sprintf("up to patch %d", *d.Max))
	}
	return strings.Join(words, " ")
}

// Deprecations are the deprecations of each name and version.
type Deprecations map[string]map[string]Deprecation

// Allows reports whether packets of patch p may be read by a definition.
func (d Deprecations) Allows(name string, version int, p Patch) bool {
	one, ok := d[name][strconv.Itoa(version)]
	return !ok || one.Allows(p)
}

// ParseDeprecations reads a JSON object such as
// {"S_LOGIN": {"14": {"max": 113, "readable": true}}}.
func ParseDeprecations(file string, src []byte) (Deprecations, error) {
	var d Deprecations
	return d, parseList(file, src, "an object of packet names, versions, and their ranges", &d)
}

// parseList reads one of the small JSON files beside the definitions. want describes its
// form.
func parseList(file string, src []byte, want string, v any) error {
	fail := func(off int64, text string) error {
		line := 1 + bytes.Count(src[:min(max(off, 0), int64(len(src)))], []byte{'\n'})
		return &SyntaxError{Diagnostics: []Diagnostic{{File: file, Line: line, Text: text}}}
	}
	if len(src) > maxMap {
		return fail(0, "longer than 8 MiB")
	}
	err := json.Unmarshal(bytes.TrimLeft(src, "\ufeff"), v)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fail(e.Offset, "want "+want)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fail(e.Offset, err.Error())
	}
	if err != nil {
		return fail(0, err.Error())
	}
	return nil
}
