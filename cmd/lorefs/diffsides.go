package main

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
	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter"
	"lorefs/datacenter/same"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/origin"
)

// sides are the two data centers to compare. Folders of sheets are packed in memory for that.
type sides struct {
	flags *sourceFlags
	log   *slog.Logger
	// stderr gets what is to be known of the sources.
	stderr io.Writer
	paths  [2]string
	// whole is set if folders have to be packed as a whole.
	whole bool
	// all is set if what a folder lacks counts as removed.
	all   bool
	parts [2]partSide
	files [2]*datacenter.File
	// looked return what is in the folders, which are looked through while the other side is opened.
	looked     [2]func() (*pack.Folder, error)
	endLooking context.CancelFunc
	// same are the sheets that a folder holds as the bytes of the other side. They are in
	// only one of the files.
	same   same.Sheets
	opened []*kinds.Source
	// spared are to be called at the end: until then more is done to keep the memory small.
	spared []func()
}

// open opens both sides. If one is a folder of sheets, it takes types and keys that no schema
// has from the other.
func (s *sides) open(ctx context.Context) error {
	if err := s.openFiles(ctx); err != nil {
		return err
	}
	if err := s.complete(ctx); err != nil {
		return err
	}
	for i := range s.paths {
		if s.files[i] != nil {
			continue
		}
		var err error
		if len(s.opened) == 1 {
			err = s.beside(ctx, i)
		} else {
			s.files[i], err = s.packed(ctx, i, pack.Options{})
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

// incomparable returns a better error than err if one of the sides is of a kind that diff can't
// compare: a folder of any kind was looked through for sheets.
func (s *sides) incomparable(ctx context.Context, err error) error {
	o, parseErr := s.flags.parse()
	if parseErr != nil || ctx.Err() != nil {
		return err
	}
	o.Logger = s.log
	for _, path := range s.paths {
		if origin.IsRemote(path) {
			continue
		}
		if k, kErr := kinds.Find(ctx, path, "", o); kErr == nil && k.Name != kinds.DataCenterName && k.Name != kinds.CASCName {
			return &commandError{
				code: exitCode(err),
				err:  fmt.Errorf("%s is a source of the kind %s: diff compares data centers, folders of their sheets, and CASC storages", path, k.Name),
			}
		}
	}
	return err
}

// comparedCache is the largest cache for each side. A comparison passes once through most of a
// file, so more would be of little use.
const comparedCache = 64 << 20

// keep notes a source to be closed at the end.
func (s *sides) keep(o *kinds.Source) {
	s.opened = append(s.opened, o)
	s.spared = append(s.spared, o.Spare(s.cache()))
}

// cache returns the largest cache for a side that was just opened. A data center beside a folder is
// compared with that alone, before packing needs memory.
func (s *sides) cache() int64 {
	if s.flags.readWhole {
		return int64(s.flags.cacheSize)
	}
	return comparedCache
}

// openFiles opens the data centers. Folders are left for later.
func (s *sides) openFiles(ctx context.Context) error {
	s.look(ctx)
	// Of what is read whole, readOnce makes no difference.
	s.flags.asFile = true
	s.flags.readOnce, s.flags.readWhole = !s.whole, !s.whole && s.endLooking != nil
	for i, path := range s.paths {
		if s.looked[i] != nil {
			continue
		}
		if !origin.IsRemote(path) {
			if _, err := os.Stat(path); err != nil {
				return kinds.Unreadable(path, err)
			}
		}
		o, err := openRead(ctx, path, s.flags, s.log, s.stderr)
		if err != nil {
			return err
		}
		s.keep(o)
		d, err := dataCenterOf(o)
		if err != nil {
			return err
		}
		s.files[i] = d.File()
	}
	return nil
}

// look begins to look through the folders.
func (s *sides) look(ctx context.Context) {
	for i, path := range s.paths {
		if m, err := mountIn(path); !isLocalFolder(path) || err == nil && m != nil && m.inside == "." {
			continue
		}
		if s.endLooking == nil {
			ctx, s.endLooking = context.WithCancel(ctx)
		}
		look := sync.OnceValues(func() (*pack.Folder, error) { return kinds.LookForSheets(ctx, path) })
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
func (s *sides) beside(ctx context.Context, side int) error {
	source := s.opened[0]
	d, err := dataCenterOf(source)
	if err != nil {
		return err
	}
	if !s.whole {
		found, all, err := s.sameSheets(ctx, d, side)
		if err != nil {
			return err
		}
		if all || side == 1 {
			s.same = found
		}
	}
	err = s.packBeside(ctx, side, d)
	if errors.Is(err, pack.ErrOmitted) {
		s.same = nil
		err = s.packBeside(ctx, side, d)
	}
	return err
}

// openWith packs the folder on the right side again, with all sheets of some names.
func (s *sides) openWith(ctx context.Context, names []string) error {
	d, err := dataCenterOf(s.opened[0])
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.same, func(_ string, sheet sheets.Sheet) bool { return slices.Contains(names, sheet.Name) })
	s.files[1] = nil // it takes as much memory as the next one
	return s.packBeside(ctx, 1, d)
}

// few is into how many parts the sheets are divided, of which one takes so little memory to pack that
// the blocks of the data center can stay for the comparison.
const few = 64

// packBeside packs the folder on one side, without s.same. It takes types and keys from the
// data center on the other side.
func (s *sides) packBeside(ctx context.Context, side int, d *kinds.DataCenter) (err error) {
	if most := d.File().Counts().Sheets; (most-int64(len(s.same)))*few > most {
		// Until all is packed the other side is only asked for these.
		blocks := s.opened[0].Blocks
		blocks.SetBudget(min(int64(s.flags.cacheSize), knownCache))
		defer blocks.SetBudget(min(int64(s.flags.cacheSize), comparedCache))
	}
	s.files[side], err = s.packed(ctx, side, pack.Options{Template: d.Schemas(ctx), Omit: s.same.Names()})
	return err
}

// sameSheets calls [kinds.DataCenter.SameSheets] with a progress bar.
func (s *sides) sameSheets(ctx context.Context, d *kinds.DataCenter, side int) (found same.Sheets, all bool, err error) {
	folder, err := s.looked[side]()
	if err != nil {
		return nil, false, err
	}
	p := newCounter("sheets")
	defer p.finish()
	return d.SameSheets(ctx, folder, p.set)
}

// packed packs the folder on one side in memory.
func (s *sides) packed(ctx context.Context, side int, opts pack.Options) (_ *datacenter.File, err error) {
	if opts.Looked, err = s.looked[side](); err != nil {
		return nil, err
	}
	s.spared = append(s.spared, budget.WholeFiles(0))
	p := newProgress("packing")
	defer p.finish()
	opts.Progress = p.set
	return kinds.OpenSheets(ctx, s.paths[side], opts)
}

func (s *sides) check() error {
	for _, o := range s.opened {
		if err := o.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *sides) close() error {
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
