package casc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lorefs/blte"
	"lorefs/casc/far"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// files looks for each file that the root names.
func (v *verifier) files() error {
	for f, err := range v.s.Walk(v.ctx) {
		if err != nil {
			if err := v.report(Finding{Kind: v.kindOf(err), What: err.Error()}); err != nil {
				return err
			}
			break
		}
		if f.Name == "" {
			f.Name = root.CleanName(v.s.opts.Names.Name(&f))
		}
		if err := v.file(&f); err != nil {
			return err
		}
		v.checked++
	}
	for _, err := range v.s.RootFaults() {
		if err := v.report(Finding{Kind: v.kindOf(err), What: err.Error()}); err != nil {
			return err
		}
	}
	return v.ctx.Err()
}

// nameDamaged reports which files have the damage that was found, when ctx has ended the
// run: the run that continues does not know of it. It takes no longer than reading the
// root.
func (v *verifier) nameDamaged() error {
	if len(v.bad) == 0 {
		return nil
	}
	v.ctx = context.WithoutCancel(v.ctx)
	n := 0
	for f, err := range v.s.Walk(v.ctx) {
		if err != nil {
			return nil //nolint:nilerr // the run that goes on tells of it
		}
		if n++; n <= v.checked {
			continue
		}
		r, err := v.readFrom(&f)
		if err != nil || !slices.ContainsFunc(r.keys, func(key []byte) bool { f, bad := v.bad[keys.Short(key)]; return bad && f.Kind != FindingNoKey }) {
			continue
		}
		if f.Name == "" {
			f.Name = root.CleanName(v.s.opts.Names.Name(&f))
		}
		if err := v.file(&f); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) file(f *root.File) error {
	r, err := v.readFrom(f)
	if err != nil {
		return v.report(Finding{Kind: v.kindOf(err), File: f.Label(), Row: f, What: err.Error()})
	}
	if found, bad := v.stateOfAll(r); bad {
		found.File, found.Row = f.Label(), f
		return v.report(found)
	}
	return v.isEncoded(f)
}

// isEncoded reports a file whose encoding keys the root has, while the encoding file lacks
// its content key: it can be read, but only the root leads to it. Nested manifests are left
// out, since the build configuration names them.
func (v *verifier) isEncoded(f *root.File) error {
	if strings.HasSuffix(f.Name, ":") {
		return nil
	}
	for i := range f.Spans {
		s := &f.Spans[i]
		if s.CKey.IsZero() {
			continue
		}
		_, err := v.s.encoding.Find(v.ctx, s.CKey)
		if !errors.Is(err, ErrNotFound) {
			continue // damage was reported already
		}
		return v.report(Finding{
			Kind: FindingMissing, File: f.Label(), Row: f, EKey: s.EKey[:s.KeySize],
			What: fmt.Sprintf("content key %v is not in the encoding file; the file is read by the encoding key that the root has", s.CKey),
		})
	}
	return nil
}

// reading says where a file is read from: all of some encoded files or, if they are forms of
// the same content, any one of them.
type reading struct {
	keys  [][]byte
	forms bool
}

// stateOfAll returns what keeps a file from being read.
func (v *verifier) stateOfAll(r reading) (found Finding, bad bool) {
	for _, k := range r.keys {
		one, oneBad := v.stateOf(k)
		switch {
		case r.forms && !oneBad:
			return Finding{}, false
		case oneBad && !bad:
			found, bad = one, true
		}
	}
	return found, bad
}

// readFrom returns the encoded files of a file, all of them local.
func (v *verifier) readFrom(f *root.File) (r reading, err error) {
	if f.Err != nil {
		return r, f.Err
	}
	for i := range f.Spans {
		key := f.Spans[i].EKey[:f.Spans[i].KeySize]
		if err := v.isHere(key); err != nil {
			return r, err
		}
		r.keys = append(r.keys, key)
	}
	if len(r.keys) > 0 {
		return r, nil
	}
	r.forms = true
	entry, err := v.s.encoding.Find(v.ctx, f.CKey)
	if errors.Is(err, ErrNotFound) {
		return r, fmt.Errorf("%w: %w", err, v.s.Absent())
	}
	if err != nil {
		return r, err
	}
	why := fmt.Errorf("content key %v: %w", f.CKey, v.s.Absent())
	for i := range entry.EKeys {
		key := entry.EKeys[i][:]
		switch err := v.isHere(key); {
		case err == nil:
			r.keys = append(r.keys, key)
		case !errors.Is(err, ErrNotLocal):
			why = err
		}
	}
	if len(r.keys) > 0 {
		return r, nil
	}
	return r, why
}

// isHere returns nil if an encoded file is local, ErrNotLocal if not, or the error that
// keeps it from finding out.
func (v *verifier) isHere(key []byte) error {
	ok, err := v.s.archives.Has(key)
	if err == nil && !ok {
		err = ErrNotLocal
	}
	if err != nil {
		return fmt.Errorf("encoding key %x: %w", key, err)
	}
	return nil
}

// stateOf returns what was found in an encoded file. What no index lists was not among the spans,
// and is checked here.
func (v *verifier) stateOf(key []byte) (found Finding, bad bool) {
	if found, bad := v.bad[keys.Short(key)]; bad {
		return found, true
	}
	if a, far := v.s.archives.(*far.Archives); far && !a.Lists(v.ctx, key) {
		if found = v.checkFound(key); found.What != "" {
			v.bad[keys.Short(key)] = found
		}
		return found, found.What != ""
	}
	if v.opts.Since == (Place{}) {
		return Finding{}, false
	}
	// This run may not have read it.
	info, err := v.s.statEncoded(v.ctx, key, 0)
	if err != nil || info.State != StateNoKey {
		return Finding{}, false
	}
	found = Finding{Kind: FindingNoKey, EKey: key, What: (&blte.KeyError{Name: info.Key}).Error()}
	if p, err := v.s.archives.Find(v.ctx, key); err == nil {
		found.Archive, found.Off = p.In, p.Off
	}
	return found, true
}
