package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"lorefs/datacenter"
	"lorefs/internal/diskspace"
	"lorefs/internal/replace"
)

// writing are the flags of commands that write a data center.
type writing struct {
	level int
	// revision is nil if it is not given: any number is one.
	revision *uint32
	noBackup bool
	// check tells whether the file may still be replaced, once the new one is written.
	check func() error
}

const defaultLevel = 6

// dirPerm is that of folders: they are as open as the umask lets them be.
const dirPerm = 0o777

func (w *writing) add(flags *pflag.FlagSet) {
	flags.IntVar(&w.level, "level", defaultLevel, "how hard to compress, 0 to 9")
	flags.Func("revision", "the `revision` in the header, 0 to 4294967295 (default: the source's, or novadrop's)", func(s string) error {
		n, err := strconv.ParseUint(s, 0, 32)
		w.revision = new(uint32(n))
		return err
	})
	flags.BoolVar(&w.noBackup, "no-backup", false, "do not keep a replaced file as NAME.bak")
}

// options are those that a data center is written with. Without a layout it is the
// default that other gives.
func (w *writing) options(layout string, other datacenter.Layout) (datacenter.WriteOptions, error) {
	const most = 9
	if w.level < 0 || w.level > most {
		return datacenter.WriteOptions{}, usageErrorf("--level %d: want 0 to %d", w.level, most)
	}
	l, err := datacenter.ParseLayout(layout)
	if err != nil {
		return datacenter.WriteOptions{}, usageErrorf("--layout %q is unknown: want auto, v3, v6-x86 or v6-x64", layout)
	}
	if l == datacenter.LayoutAuto {
		l = other
	}
	return datacenter.WriteOptions{Layout: l, Level: &w.level, Revision: w.revision}, nil
}

// writeFile puts a file in its place, whole or not at all. One that is there
// already becomes NAME.bak. The caller has a claim on it.
func (w *writing) writeFile(ctx context.Context, path string, write func(io.Writer) error, verify func(*os.File) error) error {
	o := replace.Options{NoBackup: w.noBackup, Check: w.check}
	p := producer{write: write, guard: diskspace.NewGuard(filepath.Dir(path))}
	_, err := os.Stat(path)
	if errors.Is(err, iofs.ErrNotExist) {
		err = replace.Create(ctx, path, nil, o, p.run, verify)
	} else if err == nil {
		err = replace.Replace(ctx, path, o, p.run, verify)
	}
	return p.explain(path, err)
}

// producer remembers why a file could not be written: what fails is most often what
// is to be written, of which the name of a temporary file says nothing.
type producer struct {
	write func(io.Writer) error
	to    io.Writer
	// guard leaves some room on the disk.
	guard *diskspace.Guard
	// own is the error of write, unless that is full, the one of writing.
	own, full error
}

func (p *producer) run(to io.Writer) error {
	p.to = to
	err := p.write(p)
	if p.full == nil {
		p.own = err
	}
	return err
}

// Write implements [io.Writer].
func (p *producer) Write(b []byte) (int, error) {
	n, err := 0, p.guard.Take(int64(len(b)))
	if err == nil {
		n, err = p.to.Write(b)
	}
	if err != nil {
		p.full = err
	}
	return n, err
}

// explain is what to tell of err, which replacing the file at path gave.
func (p *producer) explain(path string, err error) error {
	step, ok := errors.AsType[*replace.StepError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return &commandError{code: exitInterrupted, err: fmt.Errorf("%s was not written: interrupted", path)}
	case ok && step.Step == replace.StepWrite && p.own != nil:
		return p.own
	case errors.Is(err, replace.ErrChanged):
		told := fmt.Errorf("%s was not written: %w", path, replace.ErrChanged)
		if kept, ok := errors.AsType[*replace.KeptError](err); ok {
			told = errors.Join(told, kept)
		}
		return told
	case ok && (step.Step == replace.StepWrite || step.Step == replace.StepVerify):
		cause := step.Err
		if of, ok := errors.AsType[*iofs.PathError](cause); ok {
			cause = of.Err // the path is that of the temporary file
		}
		return fmt.Errorf("%s was not written: %w", path, cause)
	}
	return err
}
