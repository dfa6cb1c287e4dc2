// Package parts is about folders of sheets that may be a part of a data center. sides.go and
// sideparts.go open the two sides of diff. completing.go completes a folder that is packed, or refuses
// it. marking.go writes into an exported folder what it is a part of.
package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter"
	"lorefs/datacenter/same"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/origin"
)

// Sides are the two data centers to compare. Folders of sheets are packed in memory for that.
type Sides struct {
	Flags *options.SourceFlags
	Log   *slog.Logger
	// Stderr gets what is to be known of the sources.
	Stderr io.Writer
	Paths  [2]string
	// Whole is set if folders have to be packed as a whole.
	Whole bool
	// All is set if what a folder lacks counts as removed.
	All   bool
	parts [2]partSide
	Files [2]*datacenter.File
	// looked return what is in the folders, which are looked through while the other side is opened.
	looked     [2]func() (*pack.Folder, error)
	endLooking context.CancelFunc
	// Same are the sheets that a folder holds as the bytes of the other side. They are in
	// only one of the files.
	Same   same.Sheets
	opened []*kinds.Source
	// spared are to be called at the end: until then more is done to keep the memory small.
	spared []func()
}

// Open opens both sides. If one is a folder of sheets, it takes types and keys that no schema
// has from the other.
func (s *Sides) Open(ctx context.Context) error {
	if err := s.openFiles(ctx); err != nil {
		return err
	}
	if err := s.complete(ctx); err != nil {
		return err
	}
	for i := range s.Paths {
		if s.Files[i] != nil {
			continue
		}
		var err error
		if len(s.opened) == 1 {
			err = s.beside(ctx, i)
		} else {
			s.Files[i], err = s.packed(ctx, i, pack.Options{})
		}
		if ctx.Err() != nil {
			return ctx.Err() // without the path, which tells nothing
		}
		if err != nil {
			return err
		}
	}
	return s.lack()
}

// Incomparable returns a better error than err if one of the sides is of a kind that diff can't
// compare: a folder of any kind was looked through for sheets.
func (s *Sides) Incomparable(ctx context.Context, err error) error {
	o, parseErr := s.Flags.Parse()
	if parseErr != nil || ctx.Err() != nil {
		return err
	}
	o.Logger = s.Log
	for _, path := range s.Paths {
		if origin.IsRemote(path) {
			continue
		}
		if k, kErr := registry.Find(ctx, path, "", o); kErr == nil && !k.Sheets && !k.Builds {
			return &cli.Error{
				Code: cli.ExitCode(err),
				Err:  fmt.Errorf("%s is a source of the kind %s: diff compares data centers and folders of their sheets, or two sources of one other kind", path, k.Name),
			}
		}
	}
	return err
}

// comparedCache is the largest cache for each side. A comparison passes once through most of a
// file, so more would be of little use.
const comparedCache = 64 << 20

// closeAtEnd notes a source to be closed at the end.
func (s *Sides) closeAtEnd(o *kinds.Source) {
	s.opened = append(s.opened, o)
	s.spared = append(s.spared, o.Spare(s.cache()))
}

// cache returns the largest cache for a side that was just opened. A data center beside a folder is
// compared with that alone, before packing needs memory.
func (s *Sides) cache() int64 {
	if s.Flags.ReadWhole {
		return int64(s.Flags.CacheSize)
	}
	return comparedCache
}

// openFiles opens the data centers. Folders are left for later.
func (s *Sides) openFiles(ctx context.Context) error {
	s.look(ctx)
	// Of what is read whole, ReadOnce makes no difference.
	s.Flags.AsFile = true
	s.Flags.ReadOnce, s.Flags.ReadWhole = !s.Whole, !s.Whole && s.endLooking != nil
	for i, path := range s.Paths {
		if s.looked[i] != nil {
			continue
		}
		if !origin.IsRemote(path) {
			if _, err := os.Stat(path); err != nil {
				return kinds.Unreadable(path, err)
			}
		}
		o, err := reach.OpenRead(ctx, path, s.Flags, s.Log, s.Stderr)
		if err != nil {
			return err
		}
		s.closeAtEnd(o)
		d, err := reach.DataCenterOf(o)
		if err != nil {
			return err
		}
		s.Files[i] = d.File()
	}
	return nil
}

// look begins to look through the folders.
func (s *Sides) look(ctx context.Context) {
	for i, path := range s.Paths {
		if m, err := reach.MountIn(path); !isLocalFolder(path) || err == nil && m != nil && m.Inside == "." {
			continue
		}
		if s.endLooking == nil {
			ctx, s.endLooking = context.WithCancel(ctx)
		}
		look := sync.OnceValues(func() (*pack.Folder, error) { return dckind.LookForSheets(ctx, path) })
		go func() { _, _ = look() }()
		s.looked[i] = look
	}
}

// isLocalFolder reports whether a path is that of a folder on this machine.
func isLocalFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !origin.IsRemote(path)
}

// beside packs the folder on one side, without the sheets that it holds as the bytes of the
// data center on the other side. On the left side the names in the folder decide in which
// order differences are told, so there it packs all sheets unless all are the same.
func (s *Sides) beside(ctx context.Context, side int) error {
	source := s.opened[0]
	d, err := reach.DataCenterOf(source)
	if err != nil {
		return err
	}
	if !s.Whole {
		found, all, err := s.sameSheets(ctx, d, side)
		if err != nil {
			return err
		}
		if all || side == 1 {
			s.Same = found
		}
	}
	err = s.packBeside(ctx, side, d)
	if errors.Is(err, pack.ErrOmitted) {
		s.Same = nil
		err = s.packBeside(ctx, side, d)
	}
	return err
}

// OpenWith packs the folder on the right side again, with all sheets of some names.
func (s *Sides) OpenWith(ctx context.Context, names []string) error {
	d, err := reach.DataCenterOf(s.opened[0])
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.Same, func(_ string, sheet sheets.Sheet) bool { return slices.Contains(names, sheet.Name) })
	s.Files[1] = nil // it takes as much memory as the next one
	return s.packBeside(ctx, 1, d)
}

// few is into how many parts the sheets are divided, of which one takes so little memory to pack that
// the blocks of the data center can stay for the comparison.
const few = 64

// packBeside packs the folder on one side, without s.same. It takes types and keys from the
// data center on the other side.
func (s *Sides) packBeside(ctx context.Context, side int, d *dckind.DataCenter) (err error) {
	if most := d.File().Counts().Sheets; (most-int64(len(s.Same)))*few > most {
		// Until all is packed the other side is only asked for these.
		blocks := s.opened[0].Blocks
		blocks.SetBudget(min(int64(s.Flags.CacheSize), KnownCache))
		defer blocks.SetBudget(min(int64(s.Flags.CacheSize), comparedCache))
	}
	s.Files[side], err = s.packed(ctx, side, pack.Options{Template: d.Schemas(ctx), Omit: s.Same.Names()})
	return err
}

// sameSheets calls [dckind.DataCenter.SameSheets] with a progress bar.
func (s *Sides) sameSheets(ctx context.Context, d *dckind.DataCenter, side int) (found same.Sheets, all bool, err error) {
	folder, err := s.looked[side]()
	if err != nil {
		return nil, false, err
	}
	p := cli.NewCounter("sheets")
	defer p.Finish()
	return d.SameSheets(ctx, folder, p.Set)
}

// packed packs the folder on one side in memory.
func (s *Sides) packed(ctx context.Context, side int, opts pack.Options) (_ *datacenter.File, err error) {
	if opts.Looked, err = s.looked[side](); err != nil {
		return nil, err
	}
	s.spared = append(s.spared, budget.WholeFiles(0))
	p := cli.NewProgress("packing")
	defer p.Finish()
	opts.Progress = p.Set
	return dckind.OpenSheets(ctx, s.Paths[side], opts)
}

// Check returns an error if one of the sources has changed since it was opened.
func (s *Sides) Check() error {
	for _, o := range s.opened {
		if err := o.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the sources.
func (s *Sides) Close() error {
	var errs []error
	if s.endLooking != nil {
		s.endLooking()
	}
	for _, end := range slices.Backward(s.spared) {
		end()
	}
	for _, o := range slices.Backward(s.opened) {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}
