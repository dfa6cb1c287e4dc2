package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"lorefs/datacenter/sheets"
)

// sheetsAsJSON writes each sheet of a data center as a JSON document.
func (f *exporting) sheetsAsJSON(ctx context.Context, c *cobra.Command, s *opened, dir string) error {
	d, err := s.dataCenter()
	if err != nil {
		return err
	}
	p := newCounter("files")
	defer p.finish()
	var count atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, family := range d.sheets.Families() {
		folder := filepath.Join(dir, family.File)
		if err := os.MkdirAll(folder, dirPerm); err != nil {
			return errors.Join(err, group.Wait())
		}
		for sheet := range family.Sheets(0) {
			group.Go(func() error {
				count.Add(1)
				return f.sheetAsJSON(ctx, d.sheets, sheet, filepath.Join(folder, family.JSONFile(sheet.Ordinal)))
			})
			p.set(count.Load(), -1)
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.ErrOrStderr(), "%d files\n", count.Load())
	return err
}

// sheetAsJSON writes one file whole, or leaves none.
func (f *exporting) sheetAsJSON(ctx context.Context, src *sheets.Source, sheet sheets.Sheet, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.overwrite {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(path, flags, filePerm)
	if err != nil {
		return err
	}
	err = src.WriteJSON(ctx, file, sheet)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
