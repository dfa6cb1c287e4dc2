package worldkind

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/geometry"
	"lorefs/internal/source"
	"lorefs/nodes/worldtree"
)

// worldFinding is a finding in a file of a folder as a JSON object.
type worldFinding struct {
	File string `json:"file"`
	// Offset is an offset in In. "zone" and "area" mean the decompressed content, and "file", or
	// ".zgd file" for people, the file itself.
	Offset int64  `json:"offset"`
	In     string `json:"in"`
	What   string `json:"what"`
}

func (f worldFinding) object() worldFinding {
	if strings.HasSuffix(f.In, " file") {
		f.In = "file"
	}
	return f
}

func (f worldFinding) String() string {
	return fmt.Sprintf("%s: offset %d of the %s: %s", f.File, f.Offset, f.In, f.What)
}

// verifyWorld decodes each file of a folder, and checks the names of the files.
func verifyWorld(ctx context.Context, path string, o kinds.Opening, v kinds.VerifyOptions) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		o.Logger = slog.New(slog.DiscardHandler) // it would log what Verify finds
		w, err := NewWorld(ctx, path, o, worldtree.Options{})
		if err != nil {
			yield(kinds.Finding{}, kinds.Unreadable(path, err))
			return
		}
		defer func() { _ = w.closeFolder() }() // nothing was written
		for _, l := range w.Tree.LeftOut() {
			f := worldFinding{File: l.File, In: "name", What: l.Why}
			if !yield(kinds.Finding{Object: f.object(), Line: f}, nil) {
				return
			}
		}
		done := int64(0)
		for _, file := range w.Tree.Files() {
			for f, err := range w.verify(ctx, file, v.Strict) {
				if !yield(kinds.Finding{Object: f.object(), Line: f}, err) || err != nil {
					return
				}
			}
			done += file.Size
			o.Progress(done, w.Tree.Usage().Bytes)
		}
		if err := w.Check(); err != nil {
			yield(kinds.Finding{}, err)
		}
	}
}

// verify yields the findings in one file.
func (w *World) verify(ctx context.Context, file worldtree.File, strict bool) iter.Seq2[worldFinding, error] {
	return func(yield func(worldFinding, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(worldFinding{}, err)
			return
		}
		data, err := w.read(file.File)
		if err != nil {
			yield(worldFinding{}, fmt.Errorf("%s: %w", file.File, err))
			return
		}
		check := geometry.VerifyZone
		if file.Area {
			check = geometry.VerifyArea
		}
		for g := range check(data, strict, geometry.DecodeOptions{}) {
			if !yield(worldFinding{File: file.File, Offset: g.Off, In: g.In, What: g.What}, nil) {
				return
			}
		}
	}
}

// read reads a whole file.
func (w *World) read(name string) ([]byte, error) {
	if w.distant == nil {
		f, err := source.Open(filepath.Join(w.Dir, name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readGeometry(kinds.Guarded{File: f}, f.Size())
	}
	info, err := w.files.Stat(name)
	if err != nil {
		return nil, err
	}
	f, err := w.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readGeometry(f.(io.ReaderAt), info.Size()) //nolint:forcetypeassert // see [objects.Folder]
}

// readGeometry reads a whole file. It refuses a file that is larger than any decompressed
// zone or area.
func readGeometry(r io.ReaderAt, size int64) ([]byte, error) {
	if size > geometry.MaxArea {
		return nil, fmt.Errorf("it has %d bytes: %w", size, geometry.ErrTooLarge)
	}
	return io.ReadAll(io.NewSectionReader(r, 0, size))
}
