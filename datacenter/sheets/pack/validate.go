package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"unicode/utf8"

	"lorefs/datacenter/sheets/xmlsheet"
	"lorefs/datacenter/sheets/xmltext"
	"lorefs/datacenter/sheets/xsd"
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

// Validate checks each sheet below a folder against the schema beside it, and calls report
// for each problem, in the order of the files. It accepts the same files as Pack. If report
// fails, Validate ends with its error. Other errors come from ctx or from reading.
func Validate(ctx context.Context, fsys iofs.FS, report func(Problem) error) error {
	src, err := findSheets(ctx, fsys)
	if err != nil {
		return err
	}
	v := &validator{ctx: ctx, src: src, schemas: newSchemaFiles(fsys), report: report, broken: map[error]bool{}, census: newCensus(), needs: map[*xsd.ElementType]*needs{}}
	for _, f := range src.files {
		if err := v.file(f); err != nil {
			return err
		}
	}
	return nil
}

// validator checks sheets against schemas.
type validator struct {
	ctx     context.Context
	src     *sheetFiles
	schemas *schemaFiles
	report  func(Problem) error
	// broken are the errors of unreadable schemas that have been reported.
	broken map[error]bool
	census census
	needs  map[*xsd.ElementType]*needs

	buf  []byte
	path string
	p    *xmlsheet.Parser
	open []validated
	// The line and column of the last problem's offset: the next one lies behind it, and
	// counting from the start each time would be slow for a large sheet.
	at, line, start, column int
}

// file checks one sheet.
func (v *validator) file(f sheetFile) error {
	if f.broken != nil {
		return v.refused(f.broken)
	}
	var err error
	if v.buf, err = readFile(v.src.fsys, f.path, v.buf); err != nil {
		return err
	}
	v.path, v.open = f.path, v.open[:0]
	v.at, v.line, v.start, v.column = 0, 1, 0, 0
	if v.p, err = xmlsheet.New(f.path, v.buf); err != nil {
		return v.refused(err)
	}
	for steps := 0; ; steps++ {
		if steps%stepsBetweenChecks == 0 && v.ctx.Err() != nil {
			return fmt.Errorf("sheets: %w", v.ctx.Err())
		}
		event, err := v.p.Next()
		switch {
		case errors.Is(err, io.EOF):
			return v.total()
		case err != nil:
			return v.refused(err)
		case event == xmlsheet.Begin:
			err = v.begin()
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
	p := Problem{Refused: true}
	if e, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		p.File, p.Line, p.Column, p.What = e.File, e.Line, e.Column, e.What
		return v.report(p)
	}
	if e, ok := errors.AsType[*xmltext.ValueError](err); ok {
		p.File, p.Line, p.Column, p.What = e.File, e.Line, e.Column, e.Text()
		return v.report(p)
	}
	return err
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
