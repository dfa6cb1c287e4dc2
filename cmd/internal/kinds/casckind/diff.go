package casckind

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"lorefs/casc"
	"lorefs/casc/cascdiff"
	"lorefs/casc/keys"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/nodes/casctree"
)

// Build is a build of a CASC storage: the storage and the options that open it.
type Build struct {
	Path    string
	Options *kinds.Options
}

// BuildDifference is a file that differs between two builds. Its fields are printed in this
// order, and scripts rely on their names.
type BuildDifference struct {
	// Kind is added, removed, changed, or changed_or_encoded_anew.
	Kind string `json:"kind"`
	// Path is the path in a mount, where no other file has its name.
	Path string `json:"path"`
	// Old and New are the content keys that only one of the builds has for it or, where the
	// roots have none, the encoding keys.
	Old []string `json:"old,omitempty"`
	New []string `json:"new,omitempty"`
}

// Append implements [kinds.Edit].
func (d *BuildDifference) Append(dst []byte) []byte {
	kind := d.Kind
	if kind == string(cascdiff.Unsure) {
		kind = "changed, or only encoded anew"
	}
	return fmt.Appendf(dst, "%s: %s\n", kind, shown.Text(d.Path))
}

// DiffBuilds yields the files that differ between two builds, as [*BuildDifference], from their roots
// alone, and then, if there are definitions of client tables, the rows of tables that differ. An error
// comes last, also if a root has faults, so that files may be missing in it.
func DiffBuilds(ctx context.Context, old, now Build) iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		if err := diffBuilds(ctx, old, now, func(d kinds.Edit) bool { return yield(d, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func diffBuilds(ctx context.Context, old, now Build, yield func(kinds.Edit) bool) (err error) {
	var sides [2]*cascStorage
	defer func() {
		for _, c := range sides {
			if c != nil {
				err = errors.Join(err, c.Close())
			}
		}
	}()
	for i, b := range [...]Build{old, now} {
		o := kinds.NewOpening(b.Options)
		if sides[i], err = newCASC(ctx, b.Path, o, nil, o.Store()); err != nil {
			return noCASC(b.Path, err)
		}
		if err := sides[i].rootFault(ctx, true); err != nil {
			return err
		}
	}
	lists, err := listsOf(&now.Options.CASC)
	if err != nil {
		return err
	}
	tables, err := newTableDiff(ctx, now.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tables.close()) }()
	from, to := sides[0].storage, sides[1].storage
	roots := map[bool]string{false: to.Kind(ctx), true: from.Kind(ctx)} // of the root that has a file
	var opts cascdiff.Options
	for _, list := range lists {
		opts.Lists = append(opts.Lists, list.Open)
	}
	for d, err := range cascdiff.Compare(ctx, from, to, opts) {
		if err != nil && !kinds.Known(err) {
			err = &kinds.Error{Err: err} // it says which build
		}
		if err != nil {
			return err
		}
		tables.add(&d.File)
		file := &BuildDifference{
			Kind: string(d.Kind), Path: casctree.PathOf(roots[d.Kind == cascdiff.Removed], &d.File),
			Old: keyTexts(d.Old), New: keyTexts(d.New),
		}
		if !yield(file) {
			return nil
		}
	}
	for d, err := range tables.diff(ctx, sides) {
		if err != nil {
			return err
		}
		if !yield(d) {
			return nil
		}
	}
	return errors.Join(sides[0].rootFault(ctx, false), sides[1].rootFault(ctx, false), sides[0].Check(), sides[1].Check())
}

// rootFault returns an error if names of the root are missing. before says that the root has
// not been walked yet, so that only a root that can't be read at all is known.
func (c *cascStorage) rootFault(ctx context.Context, before bool) error {
	if before {
		c.storage.Kind(ctx) // reads the root
	}
	faults := c.storage.RootFaults()
	for _, err := range faults {
		if errors.Is(err, casc.ErrNoRoot) || !before {
			return kinds.Errorf("%s: the root is not all there, so the differences are not, either: %w", c.path, err)
		}
	}
	return nil
}

func keyTexts(list []keys.Key) (all []string) {
	for _, k := range list {
		text := k.String()
		if short := 2 * keys.ShortSize; strings.Trim(text[short:], "0") == "" { // only its beginning is known
			text = text[:short]
		}
		all = append(all, text)
	}
	return all
}
