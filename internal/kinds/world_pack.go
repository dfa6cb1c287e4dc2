package kinds

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"lorefs/geometry"
	"lorefs/internal/links"
	"lorefs/internal/output"
)

// WorldPacking says how zones and areas are packed.
type WorldPacking struct {
	output.Options
	// Quality is that of compression, 0 for the best.
	Quality int
	// Progress is told how many of all files are done, from one goroutine at a time.
	Progress func(done, total int64)
	// Tell is told of what is kept of a run that was killed.
	Tell func(error)
}

// PackWorld packs inputs of a folder, each into a file of the folder to, which is made if
// it is not there.
func PackWorld(ctx context.Context, dir, to string, inputs []geometry.Input, o WorldPacking) error {
	const dirPerm = 0o777 // as open as the umask lets it be
	folder, err := links.MakeDir(to, dirPerm)
	if err != nil {
		return err
	}
	claimed, err := output.Claim(to, o.Tell)
	if err != nil {
		return err
	}
	defer claimed.Close() // It was only held.
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
