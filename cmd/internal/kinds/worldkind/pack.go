package worldkind

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"lorefs/cmd/internal/output"
	"lorefs/geometry"
	"lorefs/internal/links"
)

// WorldPacking are the options of PackWorld.
type WorldPacking struct {
	output.Options
	// Quality is the quality of compression; 0 is the best.
	Quality int
	// Progress is called with the number of files that are done, from one goroutine at a
	// time.
	Progress func(done, total int64)
	// Tell is called with what a run that was killed has left.
	Tell func(error)
}

// PackWorld packs the inputs of a folder, each into a file in the folder to, which it makes
// if needed.
func PackWorld(ctx context.Context, dir, to string, inputs []geometry.Input, o WorldPacking) error {
	const dirPerm = 0o777 // the umask takes away from it
	folder, err := links.MakeDir(to, dirPerm)
	if err != nil {
		return err
	}
	claimed, err := output.Claim(to, o.Tell)
	if err != nil {
		return err
	}
	defer claimed.Close() // nothing was written to it
	var mu sync.Mutex     // guards done and Progress
	done := int64(0)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(geometry.Parallel())
	for _, in := range inputs {
		output.Sweep(filepath.Join(folder, in.Name), o.Tell)
		group.Go(func() error {
			if err := o.pack(ctx, dir, folder, in); err != nil {
				return fmt.Errorf("%s: %w", in.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			o.Progress(done, int64(len(inputs)))
			return nil
		})
	}
	return group.Wait()
}

// pack packs one zone or area.
func (o *WorldPacking) pack(ctx context.Context, dir, to string, in geometry.Input) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return output.Write(ctx, filepath.Join(to, in.Name), o.Options, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		err := in.Pack(ctx, os.DirFS(dir), out, geometry.EncodeOptions{Quality: o.Quality})
		if err != nil {
			return err
		}
		return out.Flush()
	}, decodes(in.Name))
}

// decodes checks that a zone or an area that was written can be decoded.
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
