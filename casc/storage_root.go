package casc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"lorefs/casc/config"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// Walk yields the files that the root names, in its order, without those that are only for
// other languages than Options.Locale and its Fallback. Names are the root's own, without the list file.
// Walk reads the root each time and keeps nothing of it. An error comes last.
func (s *Storage) Walk(ctx context.Context) iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		top, err := s.loadRoot(ctx)
		if err != nil {
			yield(root.File{}, err)
			return
		}
		defer func() {
			if ctx.Err() == nil { // else parts are missing that are not damaged
				s.addProblems(top)
			}
		}()
		locale := s.opts.Locale | s.opts.Locale.Fallback()
		for f, err := range top.Files() {
			if err != nil {
				yield(root.File{}, fmt.Errorf("%s root: %w", top.Kind(), err))
				return
			}
			if locale != 0 && f.Locale != 0 && f.Locale&locale == 0 {
				continue
			}
			if !yield(f, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(root.File{}, err)
		}
	}
}

// Kind returns the form of the root, such as "wow" or "tvfs", or "" if the root can't be
// read.
func (s *Storage) Kind(ctx context.Context) string {
	s.root.mu.Lock()
	kind := s.root.kind
	s.root.mu.Unlock()
	if kind != "" {
		return kind
	}
	if top, err := s.loadRoot(ctx); err == nil {
		kind = top.Kind()
	}
	return kind
}

// loadRoot reads the root. It notes its kind and the faults of the roots that it would have
// preferred.
func (s *Storage) loadRoot(ctx context.Context) (root.Root, error) {
	top, faults, err := s.chooseRoot(ctx)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return nil, err // a root that could not be read in time is no damaged one
	}
	s.root.mu.Lock()
	known := s.root.kind != ""
	s.root.kind, s.root.faults = top.Kind(), faults
	s.root.mu.Unlock()
	for _, err := range faults {
		if !known { // a second reading has nothing new to report
			s.warn(err)
		}
	}
	return top, nil
}

// addProblems takes over the faults of the root.
func (s *Storage) addProblems(top root.Root) {
	p, ok := top.(root.Problems)
	if !ok {
		return
	}
	faults := p.Problems()
	s.root.mu.Lock()
	s.root.faults = append(s.root.faults, faults...)
	s.root.mu.Unlock()
	for _, err := range faults {
		s.warn(err)
	}
}

// chooseRoot chooses the root. That of World of Warcraft comes first, because it says more
// than the virtual file system of the same build. Then follow the virtual file system, the
// root, and the install manifest, which at least has names. The faults are those of the
// roots that could not be used.
func (s *Storage) chooseRoot(ctx context.Context) (top root.Root, faults []error, err error) {
	ref, err := s.BuildConfig.Ref("root")
	if err != nil {
		return nil, nil, err
	}
	vfs, err := s.BuildConfig.Ref("vfs-root")
	if err != nil {
		return nil, nil, err
	}
	if !ref.CKey.IsZero() {
		top, err = s.contentRoot(ctx, ref.CKey)
		if s.Unreached(err) {
			return nil, nil, fmt.Errorf("root: %w", err)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("root: %w", err))
		}
	}
	if !vfs.EKey.IsZero() && (top == nil || top.Kind() != "wow") {
		v, err := s.vfsRoot(ctx, vfs)
		if err == nil {
			return v, faults, nil
		}
		if s.Unreached(err) {
			return nil, nil, fmt.Errorf("vfs-root: %w", err)
		}
		faults = append(faults, fmt.Errorf("vfs-root: %w", err))
	}
	if top != nil {
		return top, faults, nil
	}
	if len(faults) > 0 && s.BuildConfig.Text("install") == "" {
		return nil, nil, errors.Join(faults...)
	}
	if top, err = s.installRoot(ctx); err != nil {
		return nil, nil, errors.Join(append(faults, err)...)
	}
	for i, err := range faults {
		faults[i] = fmt.Errorf("%w, and those of the install manifest stand for them: %w", ErrNoRoot, err)
	}
	return top, faults, nil
}

func (s *Storage) contentRoot(ctx context.Context, ckey keys.Key) (root.Root, error) {
	data, err := s.Content(ctx, ckey)
	if err != nil {
		return nil, err
	}
	return ParseRoot(data, loader{ctx, s})
}

// vfsRoot reads the virtual file system, and says which manifests are nested in it.
func (s *Storage) vfsRoot(ctx context.Context, ref config.Ref) (root.Root, error) {
	data, err := s.referred(ctx, ref)
	if err != nil {
		return nil, err
	}
	t, err := tvfs.Parse(data, loader{ctx, s})
	if err != nil {
		return nil, err
	}
	for ref, err := range s.BuildConfig.VFS() {
		if err != nil {
			return nil, err
		}
		t.Nest(ref.EKey)
	}
	return t, nil
}

func (s *Storage) installRoot(ctx context.Context) (root.Root, error) {
	ref, err := s.BuildConfig.Ref("install")
	if err != nil {
		return nil, err
	}
	if ref.CKey.IsZero() {
		return nil, config.Format.Bad(0, "the build configuration has no root, vfs-root, or install")
	}
	m, err := s.Install(ctx)
	if err != nil {
		return nil, err
	}
	return m.Root(), nil
}

// Locale is Options.Locale.
func (s *Storage) Locale() root.Locale { return s.opts.Locale }

// FillsMissingKeys is Options.FillMissingKeys.
func (s *Storage) FillsMissingKeys() bool { return s.opts.FillMissingKeys }

// RootFaults returns the faults from the last reading of the root.
func (s *Storage) RootFaults() []error {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	return slices.Clone(s.root.faults)
}

// loader reads what a root consists of. It makes a Storage a Loader.
type loader struct {
	ctx context.Context //nolint:containedctx // that of Walk, which the root lives as long as
	s   *Storage
}

func (l loader) Content(ckey keys.Key) ([]byte, error) { return l.s.Content(l.ctx, ckey) }

func (l loader) Encoded(prefix []byte) ([]byte, error) { return l.s.Encoded(l.ctx, prefix) }
