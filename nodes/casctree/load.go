package casctree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"

	"lorefs/casc"
	"lorefs/casc/root"
	"lorefs/internal/cache"
)

// loader makes the table, or takes it from the store.
type loader struct {
	st   *casc.Storage
	opts *Options
}

// load returns the table, and its faults besides the storage's.
func (l *loader) load(ctx context.Context) (*table, []error, error) {
	key, err := l.key(ctx)
	if err != nil {
		return nil, nil, err
	}
	id := cache.ID{Kind: tableKind, Of: key}
	if t, ok := l.restore(id); ok {
		return t, nil, nil
	}
	t, sealed, problems, err := l.build(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	for _, err := range problems {
		l.opts.Logger.Warn("the tree is not complete", slog.Any("err", err))
	}
	// What could not be read now may be readable the next time.
	if len(problems) == 0 && len(l.st.Problems()) == 0 {
		if err := id.Save(l.opts.Index, sealed); err != nil {
			l.opts.Logger.Warn("the table of names can't be kept", slog.Any("err", err))
		}
	}
	return t, problems, nil
}

// restore takes the table from the store, if there is a valid one.
func (l *loader) restore(id cache.ID) (*table, bool) {
	data, err := id.Load(l.opts.Index)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, false
	}
	var t *table
	if err == nil {
		t, err = openTable(data)
	}
	if err != nil {
		l.opts.Logger.Warn("the table of names is damaged and made anew", slog.Any("err", err))
		return nil, false
	}
	return t, true
}

// key returns a hash of everything that the table is made from. The build's key is the MD5
// of the configuration, which has the keys of root, encoding file and install manifest.
func (l *loader) key(ctx context.Context) (key [32]byte, err error) {
	h := sha256.New()
	for _, word := range []any{l.st.Build.BuildKey, l.st.Locale(), l.st.PreferredLocale(), len(l.opts.ListFiles)} {
		fmt.Fprintf(h, "%v\n", word)
	}
	for _, list := range l.opts.ListFiles {
		sum := sha256.New()
		if err := list.read(ctx, func(r io.Reader) error {
			_, err := io.CopyBuffer(sum, r, make([]byte, 1<<20))
			return err
		}); err != nil {
			return key, err
		}
		h.Write(sum.Sum(nil))
	}
	return [32]byte(h.Sum(nil)), nil
}

// read opens a list file and calls read.
func (l *ListFile) read(ctx context.Context, read func(io.Reader) error) error {
	f, err := l.Open()
	if err == nil {
		err = cmp.Or(read(reader{ctx, f}), f.Close())
	}
	if err != nil {
		err = fmt.Errorf("list file %s: %w", l.Name, err)
	}
	return err
}

// build makes the table, and its cached form.
func (l *loader) build(ctx context.Context, id cache.ID) (t *table, sealed []byte, problems []error, err error) {
	b := newBuilder(l.st)
	if err := l.addRoot(ctx, b); err != nil {
		return nil, nil, nil, err
	}
	install, err := l.st.Install(ctx)
	switch {
	case err == nil:
		err = b.addInstall(install)
	case l.st.Unreached(err):
	case !errors.Is(err, casc.ErrNotFound):
		b.addFault(fmt.Errorf("install manifest: %w: install/ is not there", err))
		err = nil
	default:
		err = nil
	}
	if err == nil {
		err = b.join(ctx, l.st.Encoding())
	}
	if err == nil {
		t, sealed, err = b.finish(ctx, id)
	}
	return t, sealed, b.faultList(), err
}

// addRoot adds the files of the root, and then the names in the list files. A root that
// can't be read, or only in part, is a fault.
func (l *loader) addRoot(ctx context.Context, b *builder) error {
	for f, err := range l.st.Walk(ctx) {
		if err := ctx.Err(); err != nil {
			return err // not that of a damaged root
		}
		if l.st.Unreached(err) {
			return err
		}
		if err != nil {
			b.addFault(fmt.Errorf("%w: %w", casc.ErrNoRoot, err))
			break
		}
		if b.counts.rootRows == 0 {
			b.kind = l.st.Kind(ctx)
		}
		if err := b.add(&f); err != nil {
			return err
		}
	}
	if b.nProblems == 0 {
		b.kind = l.st.Kind(ctx) // also of a root without files
	}
	b.sortWaiting()
	for _, list := range l.opts.ListFiles {
		if err := list.read(ctx, func(r io.Reader) error { return l.nameFrom(ctx, b, list.Name, r) }); err != nil {
			return err
		}
	}
	return b.nameRest()
}

// nameFrom names the files that a list has. A list of another form may have lines that are all
// taken for names, so that it names nothing is told.
func (l *loader) nameFrom(ctx context.Context, b *builder, name string, list io.Reader) error {
	lines, found, err := b.nameFrom(ctx, root.ListLines(list, l.badLines(name)))
	if err == nil && found == 0 && b.isWaiting() {
		l.opts.Logger.Warn("a list file names nothing of this build: want lines ID;NAME or NAME", slog.String("file", name), slog.Int("lines", lines))
	}
	return err
}

// maxBadLines is how many bad lines of a list file are reported.
const maxBadLines = 10

// badLines reports the lines of a list file that are left out.
func (l *loader) badLines(file string) func(line int, err error) {
	n := 0
	return func(line int, err error) {
		if n++; n <= maxBadLines {
			l.opts.Logger.Warn("a line of a list file is left out", slog.String("file", file), slog.Int("line", line), slog.Any("err", err))
		}
		if n == maxBadLines {
			l.opts.Logger.Warn("more bad lines of the list file are not reported", slog.String("file", file))
		}
	}
}
