// Package partof says what a folder of sheets is a part of. A file in the folder has that, its [Mark]: which sheets
// of which data center were written there. So whoever reads the folder later can tell a sheet that somebody
// removed from one that never was there.
package partof

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// File is the name of the file with the mark, beside the folders of the sheets.
const File = ".lorefs.json"

// Record is the name of another file that an export may leave in a folder: a list of all files that it wrote. It is
// no sheet either.
const Record = ".lorefs-files.jsonl"

// maxFile bounds a mark, in bytes. One that names each other sheet of a real data center has 100 KB.
const maxFile = 1 << 20

// format is the form of marks that this package reads and writes.
const format = 1

// about tells people who find the file what it is for.
const about = "lorefs export wrote these sheets. Keep this file beside them: a sheet that it does not name was never here, and does not count as removed."

// Mark says which sheets were written to a folder.
type Mark struct {
	About  string `json:"about"`
	Format int    `json:"format"`
	// Program is the version of lorefs that wrote the mark.
	Program string `json:"lorefs"`
	// Exports are what was written, one for each data center.
	Exports []Export `json:"exports"`
}

// Export records what was written of one data center.
type Export struct {
	Of Origin `json:"of"`
	// Kinds are the sheets by the names of their folders.
	Kinds map[string]Numbers `json:"kinds"`
}

// None returns the export before anything is written.
func (e Export) None() Export {
	none := Export{Of: e.Of, Kinds: map[string]Numbers{}}
	for folder := range e.Kinds {
		none.Kinds[folder] = Numbers{}
	}
	return none
}

// Origin tells a data center from others.
type Origin struct {
	// Name is the name of its file, without any folder.
	Name       string `json:"name"`
	Revision   uint32 `json:"revision"`
	Kinds      int    `json:"kinds"`
	Sheets     int64  `json:"sheets"`
	Nodes      int64  `json:"nodes"`
	Attributes int64  `json:"attributes"`
}

// whole reports whether all sheets of the data center were written.
func (e *Export) whole() bool {
	for _, n := range e.Kinds {
		if !n.All {
			return false
		}
	}
	return len(e.Kinds) == e.Of.Kinds
}

// key is the name of a folder in a mark: JSON has no lone surrogates.
func key(folder string) string { return strings.ToValidUTF8(folder, "\uFFFD") }

// Read returns the mark of a folder, or nil if there is none.
func Read(fsys iofs.FS) (*Mark, error) {
	info, err := iofs.Stat(fsys, File)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil //nolint:nilnil // nil means that there is none
	}
	if err == nil && !info.Mode().IsRegular() { // to open it may block forever
		err = fmt.Errorf("%s: not a regular file", File)
	}
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	m, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; export the sheets again, or remove it if all are there", File, err)
	}
	return m, nil
}

func parse(text []byte) (*Mark, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	m := &Mark{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("want what lorefs export writes: %w", err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("it has the format %d, want %d", m.Format, format)
	}
	return m, nil
}

// Append appends the mark as it is written to [File].
func (m *Mark) Append(dst []byte) ([]byte, error) {
	m.About, m.Format = about, format
	out := bytes.NewBuffer(dst)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return out.Bytes(), err
}

// Add notes that sheets were written. All of a data center replace what was noted before.
func (m *Mark) Add(e Export) {
	for folder, n := range e.Kinds {
		if k := key(folder); k != folder {
			delete(e.Kinds, folder)
			e.Kinds[k] = e.Kinds[k].with(n)
		}
	}
	if i := slices.IndexFunc(m.Exports, func(old Export) bool { return old.Of == e.Of }); i >= 0 {
		for folder, n := range m.Exports[i].Kinds {
			e.Kinds[folder] = e.Kinds[folder].with(n)
		}
		m.Exports = slices.Delete(m.Exports, i, i+1)
	}
	if e.whole() {
		m.Exports = nil
	}
	m.Exports = append(m.Exports, e)
}

// Of returns the data center whose sheets were written last.
func (m *Mark) Of() Origin {
	if len(m.Exports) == 0 {
		return Origin{}
	}
	return m.Exports[len(m.Exports)-1].Of
}

// Whole reports whether all sheets of a data center were written.
func (m *Mark) Whole() bool {
	return slices.ContainsFunc(m.Exports, func(e Export) bool { return e.whole() })
}

// Kinds returns the sorted folders of which sheets were written.
func (m *Mark) Kinds() []string {
	all := map[string]bool{}
	for i := range m.Exports {
		for folder := range m.Exports[i].Kinds {
			all[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Sheets returns the numbers of the sheets that were written to a folder.
func (m *Mark) Sheets(folder string) (all Numbers) {
	for i := range m.Exports {
		all = all.with(m.Exports[i].Kinds[key(folder)])
	}
	return all
}

// Numbers are numbers of sheets of one kind.
type Numbers struct {
	// All are those of all sheets that the data center has of the kind.
	All bool
	// of is how many it has, 0 if All is set or that is unknown.
	of uint32
	// spans ascend, and do not touch.
	spans []span
}

// span is the numbers from first to last.
type span struct{ first, last uint32 }

// NumbersOf returns ascending numbers of sheets of a kind, of which there are of.
func NumbersOf(ascending []uint32, of int) Numbers {
	n := Numbers{of: uint32(of)}
	for _, i := range ascending {
		n.spans = append(n.spans, span{i, i})
	}
	return n.with(Numbers{})
}

// Has reports whether a number is among them.
func (n Numbers) Has(number uint32) bool {
	i, found := slices.BinarySearchFunc(n.spans, number, func(r span, number uint32) int { return cmp.Compare(r.first, number) })
	return n.All || found || i > 0 && number <= n.spans[i-1].last
}

// with returns the numbers of both.
func (n Numbers) with(m Numbers) Numbers {
	if n.All || m.All {
		return Numbers{All: true}
	}
	spans := slices.Concat(n.spans, m.spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	joined := Numbers{of: max(n.of, m.of)}
	for _, r := range spans {
		if last := len(joined.spans) - 1; last >= 0 && uint64(r.first) <= uint64(joined.spans[last].last)+1 {
			joined.spans[last].last = max(joined.spans[last].last, r.last)
			continue
		}
		joined.spans = append(joined.spans, r)
	}
	if joined.of > 0 && len(joined.spans) == 1 && joined.spans[0].first == 0 && joined.spans[0].last >= joined.of-1 {
		return Numbers{All: true}
	}
	return joined
}

const (
	allText  = "all"
	noneText = "none"
	ofText   = " of "
)

// MarshalText returns "all", or spans and how many there are, such as "0-3,7 of 14".
func (n Numbers) MarshalText() ([]byte, error) {
	if n.All {
		return []byte(allText), nil
	}
	var text []byte
	for i, r := range n.spans {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(text, uint64(r.first), 10)
		if r.last > r.first {
			text = strconv.AppendUint(append(text, '-'), uint64(r.last), 10)
		}
	}
	if len(text) == 0 {
		text = append(text, noneText...)
	}
	return strconv.AppendUint(append(text, ofText...), uint64(n.of), 10), nil
}

// UnmarshalText parses what MarshalText returns.
func (n *Numbers) UnmarshalText(text []byte) error {
	*n = Numbers{All: string(text) == allText}
	if n.All {
		return nil
	}
	list, of, ok := strings.Cut(string(text), ofText)
	total, err := strconv.ParseUint(of, 10, 32)
	wrong := fmt.Errorf("%q: want numbers of sheets such as 0-3,7 of 14", text)
	if !ok || err != nil {
		return wrong
	}
	read := Numbers{of: uint32(total)}
	for one := range strings.SplitSeq(list, ",") {
		if list == noneText {
			break
		}
		first, last, more := strings.Cut(one, "-")
		if !more {
			last = first
		}
		a, err := strconv.ParseUint(first, 10, 32)
		b, lastErr := strconv.ParseUint(last, 10, 32)
		if err != nil || lastErr != nil || b < a {
			return wrong
		}
		read.spans = append(read.spans, span{uint32(a), uint32(b)})
	}
	*n = read.with(Numbers{})
	return nil
}
