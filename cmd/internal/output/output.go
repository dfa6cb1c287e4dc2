// Package output writes files that may replace others. Each file is written as a whole or
// not at all, files that are being edited are not replaced, and some of the disk stays free.
package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lorefs/internal/diskspace"
	"lorefs/internal/replace"
)

// Options are options for writing a file.
type Options struct {
	// NoBackup keeps no backup of a file that is replaced.
	NoBackup bool
	// Sum, if it is not nil, gets what is written.
	Sum io.Writer
	// Check, if it is not nil, is called when the new file is written. If it returns an
	// error, the old file stays.
	Check func() error
}

// Write writes a file. If there is one already, that becomes NAME.bak. The caller must have
// a claim on it. verify, if it is not nil, reads the new file before it replaces the old
// one.
func Write(ctx context.Context, path string, opts Options, write func(io.Writer) error, verify func(*os.File) error) error {
	o := replace.Options{NoBackup: opts.NoBackup, Check: opts.Check}
	if opts.Sum != nil {
		unsummed := write
		write = func(w io.Writer) error { return unsummed(io.MultiWriter(w, opts.Sum)) }
	}
	p := producer{write: write, guard: diskspace.NewGuard(filepath.Dir(path))}
	_, err := os.Stat(path)
	if errors.Is(err, iofs.ErrNotExist) {
		err = replace.Create(ctx, path, nil, o, p.run, verify)
	} else if err == nil {
		err = replace.Replace(ctx, path, o, p.run, verify)
	}
	return p.explain(path, err)
}

// producer remembers why a file could not be written. The cause is most often in the data to
// write, and then the name of a temporary file would tell users nothing.
type producer struct {
	write func(io.Writer) error
	to    io.Writer
	// guard keeps some of the disk free.
	guard *diskspace.Guard
	// own is the error of write, unless that is full, which is the error of writing to the
	// disk.
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

// explain returns the error for users, where err is the error of replacing the file at path.
func (p *producer) explain(path string, err error) error {
	step, ok := errors.AsType[*replace.StepError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return &InterruptedError{path}
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

// InterruptedError means that a file was not written because the context ended.
type InterruptedError struct{ Path string }

func (e *InterruptedError) Error() string { return e.Path + " was not written: interrupted" }

// Is makes the error match context.Canceled.
func (e *InterruptedError) Is(target error) bool { return target == context.Canceled }
