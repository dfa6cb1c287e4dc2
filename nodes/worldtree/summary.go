package worldtree

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"golang.org/x/sync/errgroup"

	"lorefs/geometry"
	"lorefs/nodes"
)

// totals are counts of a file's content.
type totals struct {
	// Raw is the decompressed size in bytes.
	Raw int64 `json:"raw"`
	// Volumes are those of a zone, Nodes and Edges those of an area.
	Volumes int64 `json:"volumes,omitempty"`
	Nodes   int64 `json:"nodes,omitempty"`
	Edges   int64 `json:"edges,omitempty"`
}

func totalsOfZone(z *geometry.Zone) totals {
	return totals{Raw: int64(z.RawSize()), Volumes: int64(z.Volumes())}
}

func totalsOfArea(a *geometry.Area) totals {
	return totals{Raw: int64(len(a.Raw())), Nodes: int64(a.Nodes()), Edges: int64(a.Edges())}
}

// File is a file of the folder that the tree shows.
type File struct {
	// File is its name in the folder, Name its name in the tree.
	File, Name string
	// Area is set for an area. Otherwise it is the zone at Zone.
	Area bool
	Zone geometry.ZonePosition
	Size int64
}

// Summary has counts of a file's content.
type Summary struct {
	File
	// Raw is the decompressed size in bytes.
	Raw int64
	// Volumes are those of a zone, Nodes and Edges those of an area.
	Volumes, Nodes, Edges int64
	// Err says why the file can't be shown. The numbers are 0 then.
	Err error
}

// Files returns the files that the tree shows: zones, then areas, sorted by name.
func (t *Tree) Files() []File {
	files := make([]File, len(t.sources))
	for i, s := range t.sources {
		files[i] = File{File: s.file, Name: s.name, Area: s.kind == area, Zone: s.at, Size: s.now().size}
	}
	return files
}

// LeftOut is a file that is not shown although it looks as if it should be.
type LeftOut struct{ File, Why string }

// LeftOut returns the files that the tree leaves out.
func (t *Tree) LeftOut() []LeftOut { return t.leftOut }

// Summaries returns a summary of each of Files. It decodes files that have not been decoded
// yet, several at a time. The error is ctx's.
func (t *Tree) Summaries(ctx context.Context) ([]Summary, error) {
	all := make([]Summary, len(t.sources))
	files := t.Files()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(t.decoding))
	for i, s := range t.sources {
		group.Go(func() error {
			sum, err := t.totals(ctx, s.now())
			all[i] = Summary{File: files[i], Raw: sum.Raw, Volumes: sum.Volumes, Nodes: sum.Nodes, Edges: sum.Edges, Err: err}
			return ctx.Err()
		})
	}
	return all, group.Wait()
}

// totals returns the totals of a source, from memory if they are there.
func (t *Tree) totals(ctx context.Context, s *version) (totals, error) {
	if m := t.recall(s); m != nil {
		return m.Totals, nil
	}
	image, err := t.image(ctx, s)
	if err != nil {
		return totals{}, err
	}
	if s.kind == zone {
		z, err := geometry.ZoneOfImage(image)
		if err != nil {
			return totals{}, err
		}
		return totalsOfZone(z), nil
	}
	a, err := geometry.AreaOfImage(image)
	if err != nil {
		return totals{}, err
	}
	return totalsOfArea(a), nil
}

// Check returns an error that matches [nodes.ErrChanged] if a file has changed since the
// tree was made. It does not look for new files.
func (t *Tree) Check() error {
	var first error
	count := 0
	for _, s := range t.sources {
		if err := s.now().check(t.fsys); err != nil {
			count++
			if first == nil {
				first = fmt.Errorf("%s: %w", s.file, err)
			}
		}
	}
	if count > 1 {
		return fmt.Errorf("%w (and %d more files)", first, count-1)
	}
	return first
}

// check looks at a file without opening it.
func (s *version) check(fsys iofs.FS) error {
	info, err := iofs.Stat(fsys, s.file)
	if errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("%w: %w", nodes.ErrChanged, err)
	}
	if err != nil {
		return err
	}
	return s.same(info)
}
