// Package output writes files that may take the place of others: each whole or not at all,
// none that somebody edits, and never the last of the disk.
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

// Options say how a file is written.
type Options struct {
	// NoBackup keeps no copy of a file that is replaced.
	NoBackup bool
	// Check tells whether the file may still be replaced, once the new one is written.
	Check func() error
}

// Write puts a file in its place, whole or not at all. One that is there already becomes
// NAME.bak. The caller has a claim on it. verify, if it is not nil, looks at what was written.
func Write(ctx context.Context, path string, opts Options, write func(io.Writer) error, verify func(*os.File) error) error {
	o := replace.Options{NoBackup: opts.NoBackup, Check: opts.Check}
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

// InterruptedError is the error of a file that was not written, as the context ended.
type InterruptedError struct{ Path string }

func (e *InterruptedError) Error() string { return e.Path + " was not written: interrupted" }

// Is makes the error match context.Canceled.
func (e *InterruptedError) Is(target error) bool { return target == context.Canceled }
