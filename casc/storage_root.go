package casc

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Walk yields the files that the root names, in its order, and leaves out those for
// other languages than Options.Locale. Names are the root's own: it does not look
// into the list file. It reads the root each time and keeps nothing of it; an error
// comes last.
func (s *Storage) Walk() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		root, err := s.loadRoot()
		if err != nil {
			yield(File{}, err)
			return
		}
		defer s.noteProblems(root)
		for f, err := range root.Files() {
			if err != nil {
				yield(File{}, fmt.Errorf("%s root: %w", root.Kind(), err))
				return
			}
			if s.opts.Locale != 0 && f.Locale != 0 && f.Locale&s.opts.Locale == 0 {
				continue
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// Kind returns the form of the root, such as "wow" or "tvfs"; it is empty if the root
// can't be read.
func (s *Storage) Kind() string {
	s.root.mu.Lock()
	kind := s.root.kind
	s.root.mu.Unlock()
	if kind != "" {
		return kind
	}
	if root, err := s.loadRoot(); err == nil {
		kind = root.Kind()
	}
	return kind
}

// loadRoot reads the root, and notes its kind and what was wrong with those that
// would have been better.
func (s *Storage) loadRoot() (Root, error) {
	root, faults, err := s.chooseRoot()
	if err != nil {
		return nil, err
	}
	s.root.mu.Lock()
	known := s.root.kind != ""
	s.root.kind, s.root.faults = root.Kind(), faults
	s.root.mu.Unlock()
	for _, err := range faults {
		if !known { // who reads it again was told
			s.warn(err)
		}
	}
	return root, nil
}

// noteProblems takes over the faults that the root lives with.
func (s *Storage) noteProblems(root Root) {
	p, ok := root.(Problems)
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

// chooseRoot chooses the root: that of World of Warcraft wherever it is, for it
// says more than the virtual file system of the same build; else the virtual file
// system, the root, or the install manifest, which has names at least. The faults are
// those of what would have been better.
func (s *Storage) chooseRoot() (root Root, faults []error, err error) {
	ref, err := s.BuildConfig.Ref("root")
	if err != nil {
		return nil, nil, err
	}
	vfs, err := s.BuildConfig.Ref("vfs-root")
	if err != nil {
		return nil, nil, err
	}
	if !ref.CKey.IsZero() {
		if root, err = s.contentRoot(ref.CKey); err != nil {
			faults = append(faults, fmt.Errorf("root: %w", err))
		}
	}
	if !vfs.EKey.IsZero() && (root == nil || root.Kind() != "wow") {
		v, err := s.vfsRoot(vfs)
		if err == nil {
			return v, faults, nil
		}
		faults = append(faults, fmt.Errorf("vfs-root: %w", err))
	}
	if root != nil {
		return root, faults, nil
	}
	if len(faults) > 0 && s.BuildConfig.Text("install") == "" {
		return nil, nil, errors.Join(faults...)
	}
	if root, err = s.installRoot(); err != nil {
		return nil, nil, errors.Join(append(faults, err)...)
	}
	for i, err := range faults {
		faults[i] = fmt.Errorf("%w, and those of the install manifest stand for them: %w", ErrNoRoot, err)
	}
	return root, faults, nil
}

func (s *Storage) contentRoot(ckey Key) (Root, error) {
	data, err := s.Content(ckey)
	if err != nil {
		return nil, err
	}
	return ParseRoot(data, s)
}

// vfsRoot reads the virtual file system and says which manifests it nests.
func (s *Storage) vfsRoot(ref Ref) (Root, error) {
	data, err := s.referred(ref)
	if err != nil {
		return nil, err
	}
	t, err := ParseTVFS(data, s)
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

func (s *Storage) installRoot() (Root, error) {
	ref, err := s.BuildConfig.Ref("install")
	if err != nil {
		return nil, err
	}
	if ref.CKey.IsZero() {
		return nil, config.bad(0, "the build configuration has no root, vfs-root, or install")
	}
	m, err := s.Install()
	if err != nil {
		return nil, err
	}
	return m.Root(), nil
}

// Locale is Options.Locale.
func (s *Storage) Locale() Locale { return s.opts.Locale }

// rootFaults are what the root lives with, as it was last read.
func (s *Storage) rootFaults() []error {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	return slices.Clone(s.root.faults)
}
