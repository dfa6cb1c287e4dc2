package casctree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/nodes"
)

// isLocal searches the index for all data of a file.
func (t *Tree) isLocal(e entry) bool {
	flags := e.flags()
	if flags&(flagForms|flagSpans|flagNoForm|flagFault) == 0 {
		return t.st.Has(e.ekey())
	}
	forms, all, err := t.formsOf(e)
	if err != nil {
		return true // reading it returns the error
	}
	has := func(f root.File) bool {
		for i := range f.Spans {
			if !t.st.Has(f.Spans[i].EKey[:keys.ShortSize]) {
				return false
			}
		}
		return true
	}
	return all && slices.ContainsFunc(forms, has)
}

// Readable returns why a file can't be read, as far as that is known without reading it: that it
// is not local, that the key of a part is not known, or that what names it is damaged.
func (t *Tree) Readable(ctx context.Context, id nodes.ID) error {
	k, i := splitID(id)
	if k != kindFile || i >= t.table.nFiles {
		return nil
	}
	e := t.table.entry(i)
	var err error
	switch {
	case !t.local(i):
		err = fmt.Errorf("%w: %w", nodes.ErrUnavailable, casc.ErrNotLocal)
	case !t.st.FillsMissingKeys() && e.flags()&flagEncrypted != 0 && t.lacksKey(ctx, e):
		err = nodes.ErrNoKey
	default:
		_, _, err = t.formsOf(e)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name(ctx, id), err)
	}
	return nil
}

// formsOf returns the encoded forms of a file, any of which will do. ok is false if none is
// known.
func (t *Tree) formsOf(e entry) (forms []root.File, ok bool, err error) {
	size := e.size()
	switch flags := e.flags(); {
	case flags&flagNoForm != 0:
		return nil, false, nil
	case flags&flagFault != 0:
		return nil, false, t.table.fault(e)
	case flags&flagForms != 0:
		more, err := t.table.more(e, keys.ShortSize)
		if err != nil {
			return nil, false, err
		}
		for ekey := range slices.Chunk(more, keys.ShortSize) {
			forms = append(forms, oneForm(ekey, size))
		}
		return forms, true, nil
	case flags&flagSpans != 0:
		more, err := t.table.more(e, spanSize)
		if err != nil {
			return nil, false, err
		}
		var f root.File
		for b := range slices.Chunk(more, spanSize) {
			s := root.Span{KeySize: keys.ShortSize}
			copy(s.EKey[:], b[:keys.ShortSize])
			b = b[keys.ShortSize:]
			s.Off, s.Size, s.ContentSize = be40(b), be40(b[sizeSize:]), be40(b[2*sizeSize:])
			f.Spans = append(f.Spans, s)
		}
		return []root.File{f}, true, nil
	}
	return []root.File{oneForm(e.ekey(), size)}, true, nil
}

// oneForm returns a file of one encoded file. It cuts the key as the local index does, so
// that a file has the same chunks in the cache however it is named.
func oneForm(ekey []byte, size int64) root.File {
	s := root.Span{KeySize: keys.ShortSize, Size: size, ContentSize: size}
	copy(s.EKey[:], ekey[:keys.ShortSize])
	return root.File{Spans: []root.Span{s}, Size: size}
}

// open opens a file of the table or of content/.
func (t *Tree) open(ctx context.Context, id nodes.ID) (openFile, error) {
	f := openFile{updates: t.st.Updates(), known: &knownGaps{}}
	var err error
	f.Content, err = t.openRef(ctx, id)
	return f, err
}

func (t *Tree) openRef(ctx context.Context, id nodes.ID) (*casc.Content, error) {
	forms, size, err := t.formsOfID(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(forms) == 0 {
		return nil, fmt.Errorf("the encoding file does not have it: %w", t.st.Absent())
	}
	c, err := t.openForms(ctx, forms, size)
	if err == nil && c.Size() != size {
		err = fmt.Errorf("it has %d bytes, stated are %d", c.Size(), size)
	}
	return c, err
}

// openForms opens a file in any of its forms that can be read.
func (t *Tree) openForms(ctx context.Context, forms []root.File, size int64) (*casc.Content, error) {
	if len(forms) == 1 {
		return t.st.Open(ctx, &forms[0])
	}
	var ekeys [][]byte
	for i := range forms {
		ekeys = append(ekeys, forms[i].Spans[0].EKey[:keys.ShortSize])
	}
	return t.st.OpenForms(ctx, forms[0].Spans[0].CKey, ekeys, size)
}

func (t *Tree) formsOfID(ctx context.Context, id nodes.ID) (forms []root.File, size int64, err error) {
	k, i := splitID(id)
	if k == kindFile {
		e := t.table.entry(i)
		forms, _, err = t.formsOf(e)
		return forms, e.size(), err
	}
	row, err := t.row(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	for i := range row.Forms() {
		ekey := row.EKey(i)
		form := oneForm(ekey[:], row.Size())
		form.Spans[0].CKey = row.CKey()
		forms = append(forms, form)
	}
	return forms, row.Size(), nil
}

// readFile reads a file of the storage, and tries again if what it was opened from is gone.
func (t *Tree) readFile(ctx context.Context, id nodes.ID, size int64, p []byte, off int64) (int, error) {
	if off >= size {
		return 0, io.EOF
	}
	ended := int64(len(p)) > size-off
	p = p[:min(int64(len(p)), size-off)]
	if k, i := splitID(id); k == kindFile {
		t.ahead.saw(i, off, off+int64(len(p)))
	}
	n, was, before, err := t.tryRead(ctx, id, p, off)
	if err != nil && ctx.Err() != nil {
		return n, err // that says nothing of the file
	}
	if err != nil && nodes.IsUnasked(ctx) {
		return n, err
	}
	if err != nil && !errors.Is(err, blte.ErrNoKey) {
		n, err = t.readAgain(ctx, id, p, off, was, before, err)
	}
	switch {
	case err != nil:
		return n, t.treeError(ctx, id, off+int64(n), err)
	case ended:
		return n, io.EOF
	}
	return n, nil
}

// tryRead fills p. It returns the open file, and whether it was open before.
func (t *Tree) tryRead(ctx context.Context, id nodes.ID, p []byte, off int64) (n int, f openFile, before bool, err error) {
	f, before, err = t.readers.get(ctx, id)
	if err != nil {
		return 0, f, before, err
	}
	n, err = f.ReadAtContext(ctx, p, off)
	if n < len(p) && (err == nil || errors.Is(err, io.EOF)) {
		err = fmt.Errorf("byte %d: %w", off+int64(n), io.ErrUnexpectedEOF)
	}
	if n == len(p) {
		err = nil
	}
	if f.Filled() {
		t.partial.add(id)
	}
	return n, f, before, err
}

// readAgain checks whether the storage was written to since the file was opened, and if so
// reads again. An error then is caused by the update.
func (t *Tree) readAgain(ctx context.Context, id nodes.ID, p []byte, off int64, was openFile, before bool, first error) (int, error) {
	t.readers.drop(id)
	if _, err := t.st.Refresh(); err != nil {
		return 0, errors.Join(first, err)
	}
	updated := t.st.Updates() != was.updates
	if !before && !updated {
		return 0, first
	}
	n, _, _, err := t.tryRead(ctx, id, p, off)
	if err == nil || errors.Is(err, blte.ErrNoKey) {
		return n, err
	}
	t.readers.drop(id)
	// If it never was local the update has not changed it.
	if updated && (before || !errors.Is(err, casc.ErrNotLocal)) {
		return 0, fmt.Errorf("%w: %w", nodes.ErrChanged, err)
	}
	return 0, err
}

// treeError converts an error of the storage to one of the tree, and logs it if it is a fault.
func (t *Tree) treeError(ctx context.Context, id nodes.ID, off int64, err error) error {
	switch {
	case errors.Is(err, nodes.ErrChanged):
	case errors.Is(err, blte.ErrNoKey):
		return nodes.Mark(err, nodes.ErrNoKey) // which says the same
	case errors.Is(err, casc.ErrNotLocal) && t.st.IsRemote():
		return nodes.Mark(err, nodes.ErrUnavailable) // which speaks of this machine
	case errors.Is(err, casc.ErrNotLocal):
		return fmt.Errorf("%w: %w", nodes.ErrUnavailable, err)
	}
	if t.readers.firstFailure(id) {
		t.opts.Logger.Error("a file can't be read", slog.String("file", t.name(ctx, id)), slog.Int64("offset", off), slog.Any("err", err))
	}
	return err
}

// name returns the path of a file of the storage.
func (t *Tree) name(ctx context.Context, id nodes.ID) string {
	if k, i := splitID(id); k == kindFile {
		return t.table.path(i)
	}
	row, err := t.row(ctx, id)
	if err != nil {
		return "content"
	}
	key := row.CKey()
	return fmt.Sprintf("content/%x/%v", key[:1], key)
}

// StoredKeys returns the beginnings of the encoding keys of what a file is read from: one of its
// forms, or all of its spans. There is none if the encoding file does not have it. In a folder it is a form that is
// there, if any is.
func (t *Tree) StoredKeys(ctx context.Context, id nodes.ID) (keys [][]byte, err error) {
	if k, i := splitID(id); k != kindFile && k != kindContent || k == kindFile && i >= t.table.nFiles {
		return nil, nil
	}
	forms, _, err := t.formsOfID(ctx, id)
	if err != nil || len(forms) == 0 {
		return nil, err
	}
	best := forms[0].Spans
	for i := range forms {
		if !t.st.IsRemote() && len(forms[i].Spans) == 1 && t.st.Has(forms[i].Spans[0].EKey[:forms[i].Spans[0].KeySize]) {
			best = forms[i].Spans
			break
		}
	}
	for i := range best {
		keys = append(keys, best[i].EKey[:best[i].KeySize])
	}
	return keys, nil
}

// SameAs tells whether the content of a file is one whose MD5 sum returns, by the encoding file alone: nothing of
// the file is read. size is that of the content. It returns false if the encoding file does not tell.
func (t *Tree) SameAs(ctx context.Context, id nodes.ID, size int64, sum func(off, size int64) (keys.Key, error)) (bool, error) {
	if k, i := splitID(id); k != kindFile && k != kindContent || k == kindFile && i >= t.table.nFiles {
		return false, nil
	}
	forms, want, err := t.formsOfID(ctx, id)
	if err != nil || size != want || len(forms) == 0 {
		return false, err
	}
	at := int64(0)
	for i := range forms[0].Spans {
		s := &forms[0].Spans[i]
		if s.Off != 0 || s.ContentSize != 0 && s.Size != s.ContentSize {
			return false, nil // it is a part of what has a content key
		}
		same, err := t.sameSpan(ctx, forms, i, func() (keys.Key, error) { return sum(at, s.Size) })
		if !same || err != nil {
			return false, err
		}
		at += s.Size
	}
	return at == size, nil
}

// sameSpan tells whether a span of any form of a file has the content with a key.
func (t *Tree) sameSpan(ctx context.Context, forms []root.File, i int, sum func() (keys.Key, error)) (bool, error) {
	key, err := sum()
	if err != nil {
		return false, err
	}
	row, _, err := t.st.Encoding().FindRow(ctx, key)
	if errors.Is(err, casc.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, f := range forms {
		s := &f.Spans[i]
		for n := range row.Forms() {
			if ekey := row.EKey(n); bytes.Equal(ekey[:s.KeySize], s.EKey[:s.KeySize]) {
				return true, nil
			}
		}
	}
	return false, nil
}
