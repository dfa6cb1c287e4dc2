package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"lorefs/geometry"
	"lorefs/internal/kinds"
	"lorefs/internal/links"
	"lorefs/internal/shown"
)

// worldInputs are the zones and areas that a folder holds as JSON, or as the files
// of the original server; none if it is a folder of sheets. One that has both needs
// --kind.
func (f *packing) worldInputs(dir string) (inputs []geometry.Input, hidden []string, err error) {
	if f.kind == kinds.DataCenterName {
		return nil, nil, nil
	}
	fsys := os.DirFS(dir)
	inputs, hidden, err = geometry.Inputs(fsys)
	switch {
	case f.kind == kinds.WorldName:
		if err == nil && len(inputs) == 0 {
			err = fmt.Errorf("%s: neither zones nor areas are in it", dir)
		}
	case err != nil || len(inputs) > 0:
		if sheet := aSheet(fsys); sheet != "" {
			err = usageErrorf("%s holds sheets, such as %s, and zones or areas: --kind %s or %s says which to pack",
				dir, sheet, kinds.DataCenterName, kinds.WorldName)
		}
	}
	return inputs, hidden, err
}

// aSheet is a file of a folder that is called like a sheet, empty if there is none.
func aSheet(fsys iofs.FS) string {
	for _, pattern := range []string{"[^.]*-?*.xml", "[^.]*/[^.]*-?*.xml"} {
		if found, err := iofs.Glob(fsys, pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// world packs zones and areas into a folder.
func (f *packing) world(ctx context.Context, c *cobra.Command, dir, to string, inputs []geometry.Input) error {
	if err := checkQuality(f.quality); err != nil {
		return err
	}
	folder, err := links.MakeDir(to, dirPerm)
	if err != nil {
		return err
	}
	claimed, err := claim(c, to)
	if err != nil {
		return err
	}
	defer claimed.Close() // It was only held.
	p := newCounter("files")
	defer p.finish()
	var mu sync.Mutex // guards done and p
	done := int64(0)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(geometry.Parallel())
	for _, in := range inputs {
		sweepBeside(c, filepath.Join(folder, in.Name))
		group.Go(func() error {
			if err := f.geometry(ctx, dir, folder, in); err != nil {
				return fmt.Errorf("%s: %w", in.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			p.set(done, int64(len(inputs)))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	p.finish()
	_, err = shown.Fprintf(c.OutOrStdout(), "wrote %s to %s\n", shown.Plural(len(inputs), "file"), to)
	return err
}

// geometry packs one zone or area.
func (f *packing) geometry(ctx context.Context, dir, to string, in geometry.Input) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.write.writeFile(ctx, filepath.Join(to, in.Name), func(w io.Writer) error {
		out := bufio.NewWriter(w)
		err := in.Pack(ctx, os.DirFS(dir), out, geometry.EncodeOptions{Quality: f.quality})
		if err != nil {
			return err
		}
		return out.Flush()
	}, decodes(in.Name))
}

// decodes reads back a zone or an area that was written.
func decodes(name string) func(*os.File) error {
	return func(file *os.File) error {
		data, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		verify := geometry.VerifyZone
		if filepath.Ext(name) == ".apd" {
			verify = geometry.VerifyArea
		}
		for finding := range verify(data, false, geometry.DecodeOptions{}) {
			return fmt.Errorf("reading back what was written: %v", finding)
		}
		return nil
	}
}
