package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"lorefs/geometry"
	"lorefs/internal/source"
	"lorefs/nodes/worldtree"
)

// worldFinding is what verify tells of a file of a folder.
type worldFinding struct {
	File string `json:"file"`
	// Offset is one in In: "zone" and "area" are decompressed.
	Offset int64  `json:"offset"`
	In     string `json:"in"`
	What   string `json:"what"`
}

func (f worldFinding) String() string {
	return fmt.Sprintf("%s: offset %d of the %s: %s", f.File, f.Offset, f.In, f.What)
}

// verifyWorld decodes each file of a folder, and looks at the names of the files.
func verifyWorld(ctx context.Context, path string, o opening, v *verifying) error {
	o.log = slog.New(slog.DiscardHandler) // what it would tell of are findings
	w, err := newWorld(path, o, worldtree.Options{})
	if err != nil {
		return explainOpen(path, err)
	}
	for _, l := range w.tree.LeftOut() {
		f := worldFinding{File: l.File, In: "name", What: l.Why}
		if more, err := v.found(f, f); err != nil || !more {
			return err
		}
	}
	done := int64(0)
	for _, file := range w.tree.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err := v.geometry(w.dir, file); err != nil || !more {
			return err
		}
		done += file.Size
		o.progress(done, w.tree.Usage().Bytes)
	}
	return w.check()
}

// geometry shows what there is to find in one file, and tells whether to go on.
func (v *verifying) geometry(dir string, file worldtree.File) (more bool, err error) {
	data, err := readGeometry(filepath.Join(dir, file.File))
	if err != nil {
		return false, fmt.Errorf("%s: %w", file.File, err)
	}
	check := geometry.VerifyZone
	if file.Area {
		check = geometry.VerifyArea
	}
	for g := range check(data, v.strict, geometry.DecodeOptions{}) {
		f := worldFinding{File: file.File, Offset: g.Off, In: g.In, What: g.What}
		if more, err := v.found(f, f); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// readGeometry reads a file as a whole. One that is larger than what it could
// decompress to is none.
func readGeometry(path string) ([]byte, error) {
	f, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > geometry.MaxArea {
		return nil, fmt.Errorf("it has %d bytes: %w", f.Size(), geometry.ErrTooLarge)
	}
	return io.ReadAll(io.NewSectionReader(guarded{f}, 0, f.Size()))
}
