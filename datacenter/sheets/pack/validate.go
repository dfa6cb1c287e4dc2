package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/repeat"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/cores"
)

// Problem is something that Validate found.
type Problem struct {
	// File is the path below the folder.
	File string
	// Line and Column count from 1, columns in characters. They are 0 if the whole file is
	// meant.
	Line, Column int
	// What was found and what was expected.
	What string
	// Refused is set if Pack refuses the sheet for it. The other problems are departures
	// from the schema, which novadrop-dc refuses.
	Refused bool
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.What
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.What)
}

// Validate checks each sheet below a folder against the schema beside it, on all
// processors, and calls report for each problem, in the order of the files, behind those of
// files that are probably copies. It accepts the same files as Pack. If report fails, Validate
// ends with its error. Other errors come from ctx or from reading.
func Validate(ctx context.Context, fsys iofs.FS, report func(Problem) error) error {
	folder, err := Look(ctx, fsys)
	if err != nil {
		return err
	}
	return folder.Validate(ctx, report)
}

// Validate is [Validate] for a folder that was looked through.
func (s *Folder) Validate(ctx context.Context, report func(Problem) error) error {
	for _, p := range s.strays() {
		if err := report(p); err != nil {
			return err
		}
	}
	schemas := newSchemaFiles(s.fsys)
	g, inner := errgroup.WithContext(ctx)
	inOrder, jobs := make(chan *checking, sheetsAhead), make(chan *checking)
	g.Go(func() error {
		defer close(inOrder)
		defer close(jobs)
		for _, f := range s.files {
			job := &checking{file: f, found: make(chan []finding, findingsAhead)}
			for _, to := range []chan *checking{inOrder, jobs} {
				select {
				case to <- job:
				case <-inner.Done():
					return fmt.Errorf("sheets: %w", inner.Err()) // or that of another goroutine, which came first
				}
			}
		}
		return nil
	})
	for range min(cores.Count(), len(s.files)) {
		g.Go(func() error {
			v := newValidator(inner, s, schemas)
			for job := range jobs {
				v.job = job
				job.err = v.file(job.file)
				if err := v.flush(); job.err == nil {
					job.err = err
				}
				close(job.found)
			}
			return nil
		})
	}
	g.Go(func() error {
		c := newCensus(s, report)
		for job := range inOrder {
			if err := c.sheet(inner, job); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

const (
	sheetsAhead   = 16      // of the first whose problems are not reported yet
	findingsMost  = 1 << 10 // that are passed on at once
	findingsAhead = 4       // of these, of a sheet
)

// checking is a sheet while it is checked.
type checking struct {
	file  sheetFile
	found chan []finding
	// The rest is set once found is closed. ended is set if the whole sheet could be read.
	nodes, attributes int64
	ended             bool
	err               error
}

// finding is a problem that a validator found, or something that counts over all sheets.
type finding struct {
	problem Problem
	// schema is the error of a schema that can't be read, if the problem is that. It is
	// reported once.
	schema error
	// name or keys were met in the node at offset, for the first time by this validator.
	name   string
	keys   datacenter.KeyDefinition
	offset int
}

// validator checks sheets against schemas. Each goroutine has one.
type validator struct {
	ctx     context.Context
	src     *Folder
	schemas *schemaFiles
	needs   map[*xsd.ElementType]*needs
	// numbered are all needs by their numbers.
	numbered []*needs

	job   *checking
	batch []finding
	// problems counts those found so far.
	problems int
	// names and definitions are those that have been passed on.
	names       nameSet
	definitions definitions
	memory      repeat.Memory[validNode]
	// next was recalled. shaped is set if that was a start tag by its shape, and values are its values.
	next   validNode
	shaped bool
	values xmltext.Values
	// nodes counts those whose attributes were located, and places are those of the last one.
	nodes  int64
	places []int

	path string
	p    *xmlsheet.Parser
	open []validated
	// The line and column of the last problem's offset: the next one lies behind it, and
	// counting from the start each time would be slow for a large sheet.
	at, line, start, column int
}

func newValidator(ctx context.Context, src *Folder, schemas *schemaFiles) *validator {
	return &validator{
		ctx: ctx, src: src, schemas: schemas, needs: map[*xsd.ElementType]*needs{},
		names: newNameSet(), definitions: definitions{},
	}
}

// pass passes a finding on.
func (v *validator) pass(f finding) error {
	v.batch = append(v.batch, f)
	if len(v.batch) < findingsMost {
		return nil
	}
	return v.flush()
}

// flush passes on what was found.
func (v *validator) flush() error {
	if len(v.batch) == 0 {
		return nil
	}
	select {
	case v.job.found <- v.batch:
		v.batch = nil
		return nil
	case <-v.ctx.Done():
		return fmt.Errorf("sheets: %w", v.ctx.Err())
	}
}

// report passes a problem on.
func (v *validator) report(p Problem) error {
	v.problems++
	return v.pass(finding{problem: p})
}

// file checks one sheet.
func (v *validator) file(f sheetFile) error {
	if f.broken != nil {
		return v.refused(f.broken)
	}
	data, err := f.read(v.src.fsys, v.memory.Room(roomFor(f.size)))
	if err != nil {
		return err
	}
	v.path, v.open = f.path, v.open[:0]
	v.at, v.line, v.start, v.column = 0, 1, 0, 0
	if v.p, err = xmlsheet.New(f.path, data); err != nil {
		return v.refused(err)
	}
	v.memory.Sheet(v.p.Data())
	v.p.Recall(func(at int) (int, bool) { return v.recall(v.p.Data(), at) })
	for steps := 0; ; steps++ {
		if steps%stepsBetweenChecks == 0 && v.ctx.Err() != nil {
			return fmt.Errorf("sheets: %w", v.ctx.Err())
		}
		event, err := v.p.Next()
		switch {
		case errors.Is(err, io.EOF):
			v.job.ended = true
			return nil
		case err != nil:
			return v.refused(err)
		case event == xmlsheet.Begin:
			err = v.begin()
		case event == xmlsheet.Whole:
			err = v.passOver()
		default:
			err = v.end()
		}
		if err != nil {
			return err
		}
	}
}

// refused reports a parser's error about the sheet, and returns any other error.
func (v *validator) refused(err error) error {
	p, ok := refusal(err)
	if !ok {
		return err
	}
	return v.report(p)
}

// refusal returns the problem of a parser's error.
func refusal(err error) (p Problem, ok bool) {
	p.Refused = true
	if e, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		p.File, p.Line, p.Column, p.What = e.File, e.Line, e.Column, e.What
		return p, true
	}
	if e, ok := errors.AsType[*xmltext.ValueError](err); ok {
		p.File, p.Line, p.Column, p.What = e.File, e.Line, e.Column, e.Text()
		return p, true
	}
	return p, false
}

// problem reports something at an offset.
func (v *validator) problem(offset int, refused bool, format string, args ...any) error {
	data := v.p.Data()
	if offset < v.at {
		v.at, v.line, v.start, v.column = 0, 1, 0, 0
	}
	line, start := xmltext.CountLines(data, v.at, offset, v.line, v.start)
	if line > v.line {
		v.at, v.column = start, 0
	}
	v.column += utf8.RuneCount(data[v.at:offset])
	v.at, v.line, v.start = offset, line, start
	return v.report(Problem{
		File: v.path, Line: v.line, Column: v.column + 1,
		What: fmt.Sprintf(format, args...), Refused: refused,
	})
}
