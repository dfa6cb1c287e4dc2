package casctree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/nodes"
)

// Traced is all that a storage knows about a file.
type Traced struct {
	// Path is the path in the mount, Size the size of the content.
	Path string
	Size int64
	// CKey is the content key, zero if none is known.
	CKey keys.Key
	// Rows are the first files of the root that are this one, NRows their number: a file may
	// be there for several languages, or under several numbers.
	Rows  []root.File
	NRows int
	// Forms are the encoded forms of the content, any of which will do. Each consists of
	// spans, most of a single one.
	Forms [][]TracedSpan
	// Gaps are the parts that lack an encryption key. Err is why the content can't be read;
	// it matches [nodes.ErrUnavailable] or [nodes.ErrNoKey] where they apply. It is set for a
	// file with gaps even if they are filled with zeros.
	Gaps []blte.Gap
	Err  error
}

// TracedSpan is an encoded file, and the part of its content that belongs to a file.
type TracedSpan struct {
	casc.EncodedFile
	// From and Length are the part of its content. Whole says that it is all of it.
	From, Length int64
	Whole        bool
	// Err says why a part of EncodedFile is missing.
	Err error
}

// maxRows is how many rows of a root Trace returns: some contents, such as empty files, are
// there a thousand times.
const maxRows = 32

// Trace looks up all about a file of the storage. It reads the root, the encoding file and the
// content. If the node is no file of the storage, the error matches [nodes.ErrInvalid].
func (t *Tree) Trace(ctx context.Context, id nodes.ID) (tr Traced, err error) {
	k, _ := splitID(id)
	if k != kindFile && k != kindContent {
		return tr, fmt.Errorf("no file of the archives: %w", nodes.ErrInvalid)
	}
	if tr.Size, err = t.size(ctx, id); err != nil {
		return tr, err
	}
	tr.Path = t.name(ctx, id)
	// What can't be found out for want of a part of the storage, reading the file tells.
	if forms, _, err := t.formsOfID(ctx, id); err == nil {
		t.traceForms(ctx, &tr, forms)
		t.traceRows(ctx, id, &tr)
	}
	tr.Gaps, tr.Err = t.check(ctx, id)
	return tr, ctx.Err()
}

// traceForms looks up the encoded files of all forms, and the content key.
func (t *Tree) traceForms(ctx context.Context, tr *Traced, forms []root.File) {
	for i := range forms {
		same := func(f root.File) bool { return slices.Equal(f.Spans, forms[i].Spans) }
		if slices.ContainsFunc(forms[:i], same) { // the encoding file may have a key twice
			continue
		}
		var spans []TracedSpan
		for _, s := range forms[i].Spans {
			f, err := t.st.EncodedFile(ctx, s.EKey[:keys.ShortSize])
			whole := s.Off == 0 && (s.Size == s.ContentSize || s.ContentSize == 0)
			spans = append(spans, TracedSpan{EncodedFile: f, From: s.Off, Length: s.Size, Whole: whole, Err: err})
			if whole && len(forms[i].Spans) == 1 && tr.CKey.IsZero() {
				if tr.CKey = s.CKey; tr.CKey.IsZero() {
					tr.CKey, _ = t.st.ContentKeyOf(ctx, s.EKey[:keys.ShortSize]) // without it less is known, and nothing is wrong
				}
			}
		}
		tr.Forms = append(tr.Forms, spans)
	}
}

// traceRows looks for the file in the root: by its name or, if the root has none, by what it
// consists of.
func (t *Tree) traceRows(ctx context.Context, id nodes.ID, tr *Traced) {
	named := false
	for f, err := range t.st.Walk(ctx) {
		if err != nil || ctx.Err() != nil {
			return
		}
		if !tr.isOf(&f) && !t.lacksForm(id, &f) {
			continue
		}
		if tr.CKey.IsZero() {
			tr.CKey = f.CKey
		}
		if same := f.Name != "" && strings.EqualFold(PathOf(t.table.kind, &f), tr.Path); same != named {
			if named {
				continue
			}
			named = true
			tr.Rows, tr.NRows = nil, 0
		}
		if tr.NRows++; len(tr.Rows) < maxRows {
			tr.Rows = append(tr.Rows, f)
		}
	}
}

// lacksForm reports whether a file of the root is one whose content key the encoding file does
// not have. The table has only the beginning of the key.
func (t *Tree) lacksForm(id nodes.ID, f *root.File) bool {
	k, i := splitID(id)
	if k != kindFile || t.table.entry(i).flags()&flagNoForm == 0 || f.CKey.IsZero() {
		return false
	}
	return bytes.HasPrefix(f.CKey[:], t.table.entry(i).ekey())
}

// PathOf returns the path of a file of a root of a kind in the mount, if no other file has it.
func PathOf(kind string, f *root.File) string {
	name := f.Name
	switch {
	case name != "":
		if kind == "tvfs" {
			name = strings.ReplaceAll(name, ":", "/")
		}
		b := []byte(filesName)
		for part := range strings.SplitSeq(name, "/") {
			b = appendEscaped(append(b, '/'), part)
		}
		return string(b)
	case f.HasID:
		name = fmt.Sprintf(formatID, f.ID)
	case f.HasHash:
		name = fmt.Sprintf(formatHash, f.NameHash)
	case len(f.Spans) > 0:
		name = f.Spans[0].EKey.String()
	default:
		name = f.CKey.String()
	}
	return unnamedName + "/" + name[:unnamedDigits] + "/" + name + unnamedEnding
}

// isOf reports whether a file of the root has the content.
func (tr *Traced) isOf(f *root.File) bool {
	if !f.CKey.IsZero() {
		return f.CKey == tr.CKey
	}
	return slices.ContainsFunc(tr.Forms, func(spans []TracedSpan) bool {
		return slices.EqualFunc(spans, f.Spans, func(x TracedSpan, y root.Span) bool {
			return bytes.Equal(x.EKey[:keys.ShortSize], y.EKey[:keys.ShortSize]) && x.From == y.Off && x.Length == y.Size
		})
	})
}

// check reads all of a file. It returns what the file lacks, and why it can't be read.
func (t *Tree) check(ctx context.Context, id nodes.ID) ([]blte.Gap, error) {
	size, err := t.size(ctx, id)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 1<<20)
	for off := int64(0); off < size && err == nil; {
		var n int
		n, err = t.ReadAt(ctx, id, buf[:min(int64(len(buf)), size-off)], off)
		off += int64(n)
	}
	if err != nil && !errors.Is(err, nodes.ErrNoKey) {
		return nil, err
	}
	f, _, openErr := t.readers.get(ctx, id)
	if openErr != nil {
		return nil, t.treeError(ctx, id, 0, openErr)
	}
	gaps, gapsErr := f.gaps(ctx)
	switch {
	case err == nil && gapsErr != nil:
		err = gapsErr
	case err == nil && len(gaps) > 0:
		err = nodes.Mark(&blte.KeyError{Name: gaps[0].Key}, nodes.ErrNoKey)
	}
	return gaps, err
}
