package dissect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"

	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// Finding is something that is wrong with a session or its definitions.
type Finding struct {
	// File is the definition or the map that is wrong, as it lies in the folder,
	// and Line the line, from 1 on. File is empty for what is wrong with the log.
	File string
	Line int
	// Packet is the number of the packet, from 0 on, and Name what it is called.
	// Packet is -1 for what is wrong with the log as a whole.
	Packet int
	Name   string
	// Off is where the packet begins, in the inflated data if Inflated is set.
	Off      int64
	Inflated bool
	What     string
	// Guess is set for a field of a definition that is read by a guess, see
	// [protocol.Table.Guessed].
	Guess bool
}

// Where returns the place of the finding in words.
func (f Finding) Where() string {
	switch {
	case f.File != "":
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	case f.Packet < 0:
		return "end of the log"
	}
	return fmt.Sprintf("packet %d, %s", f.Packet, f.Name)
}

func (f Finding) String() string {
	if f.File != "" {
		return f.Where() + ": " + f.What
	}
	of := ""
	if f.Inflated {
		of = " inflated"
	}
	return fmt.Sprintf("%#x%s: %s: %s", f.Off, of, f.Where(), f.What)
}

// Verify reads every packet, decodes it, writes it again by way of JSON, and tells
// of each that is damaged, that its definition does not fit, or that did not become
// the same bytes again. A packet without a definition is none of them, and a
// definition that is wrong is told by [VerifyLibrary]. progress, unless it is nil,
// is told how many packets are done.
//
// An error ends it: it is one of reading.
func (s *Session) Verify(ctx context.Context, progress func(done, total int64)) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var v verifier
		for i := range s.log.Len() {
			if i%askEvery == 0 {
				if ctx.Err() != nil {
					yield(Finding{}, context.Cause(ctx))
					return
				}
				if progress != nil {
					progress(int64(i), int64(s.log.Len()))
				}
			}
			what, err := v.packet(s, i)
			if err == nil && what == "" {
				continue
			}
			if !yield(s.finding(i, what), err) || err != nil {
				return
			}
		}
		if end := s.log.Info().Incomplete; end != nil {
			yield(atEnd(end), nil)
		}
	}
}

// atEnd returns the finding of a log that ends too early.
func atEnd(err error) Finding {
	f := Finding{Packet: -1, What: err.Error()}
	if e, ok := errors.AsType[*capture.FormatError](err); ok {
		f.Off, f.Inflated, f.What = e.Off, e.Inflated, e.What
		if e.Err != nil {
			f.What += ": " + e.Err.Error()
		}
	}
	return f
}

func (s *Session) finding(i int, what string) Finding {
	f := Finding{Packet: i, Name: s.codes[s.log.Code(i)].Name, What: what}
	f.Off, f.Inflated = s.log.Offset(i)
	return f
}

// verifier has the buffers of one run.
type verifier struct{ packetBytes, text []byte }

// packet tells what is wrong with packet i, empty if nothing is.
func (v *verifier) packet(s *Session, i int) (what string, err error) {
	p, err := s.log.Packet(i, v.packetBytes)
	switch {
	case IsDamage(err):
		return err.Error(), nil
	case err != nil:
		return "", err
	}
	if cap(p.Data) > cap(v.packetBytes) {
		v.packetBytes = p.Data
	}
	table := s.codes[s.log.Code(i)].Table
	if table == nil {
		return "", nil
	}
	if v.text, err = table.AppendJSON(v.text[:0], p.Data); err != nil {
		return fmt.Sprintf("not a packet of %s: %v", table.Name(), err), nil
	}
	again, err := encode(table, v.text)
	if err != nil {
		return fmt.Sprintf("read by %s, it cannot be written again: %v", table.Name(), err), nil
	}
	if at := difference(p.Data, again); at >= 0 {
		return fmt.Sprintf("read by %s and written again, it differs at offset %d of the packet", table.Name(), at), nil
	}
	return "", nil
}

func encode(table *protocol.Table, text []byte) ([]byte, error) {
	m, err := table.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	return table.Encode(m)
}

// difference returns the first offset at which a and b differ, -1 if they do not.
func difference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// VerifyLibrary reads every definition and every map of a library, and tells of
// each line that cannot be made sense of, or only by a guess; with strict, also of what is
// odd but has one meaning, and of definitions that others hide. patch is the version of
// the game, 0 for the newest.
//
// An error ends it: it is one of reading.
func VerifyLibrary(ctx context.Context, lib *protocol.Library, patch protocol.Patch, strict bool) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		v := libraryVerifier{lib: lib, patch: patch, strict: strict, yield: yield}
		for i, d := range slices.Concat(lib.Definitions(), lib.Hidden()) {
			if !v.waited(ctx) || !v.definition(i, d) {
				return
			}
		}
		for i, file := range lib.Maps() {
			if !v.waited(ctx) || !v.names(i, file) {
				return
			}
		}
	}
}

// libraryVerifier is one run of [VerifyLibrary]. Its methods tell whether to go on.
type libraryVerifier struct {
	lib    *protocol.Library
	patch  protocol.Patch
	strict bool
	yield  func(Finding, error) bool
}

// waited reports whether somebody still waits for the findings.
func (v *libraryVerifier) waited(ctx context.Context) bool {
	if ctx.Err() != nil {
		v.yield(Finding{}, context.Cause(ctx))
	}
	return ctx.Err() == nil
}

func (v *libraryVerifier) definition(i int, d protocol.DefinitionFile) bool {
	odd := hiddenBy(v.lib, i, d)
	def, err := v.lib.Definition(i)
	var table *protocol.Table
	if err == nil {
		odd = append(odd, def.Warnings...)
		table, err = v.lib.Table(i, v.patch)
	}
	if v.strict && !v.show(d.Path, odd, false) {
		return false
	}
	if err != nil {
		return v.wrong(d.Path, err)
	}
	return v.show(d.Path, table.Guessed(), true)
}

func (v *libraryVerifier) names(i int, file protocol.MapFile) bool {
	m, err := v.lib.Map(i)
	if err != nil {
		return v.wrong(file.Path, err)
	}
	return (!v.strict || v.show(file.Path, m.Warnings, false)) && v.show(file.Path, m.Wrong, false)
}

// wrong shows what keeps a file from being read, or ends the run.
func (v *libraryVerifier) wrong(file string, err error) bool {
	wrong, syntax := errors.AsType[*protocol.SyntaxError](err)
	if !syntax {
		v.yield(Finding{}, err)
		return false
	}
	return v.show(file, wrong.Diagnostics, false)
}

func (v *libraryVerifier) show(file string, list []protocol.Diagnostic, guess bool) bool {
	for _, d := range list {
		if !v.yield(Finding{File: inFolder(file, d.File), Line: d.Line, What: d.Text, Guess: guess}, nil) {
			return false
		}
	}
	return true
}

// hiddenBy returns the remark on definition i that another one is used in its place; none if
// it is used itself.
func hiddenBy(lib *protocol.Library, i int, d protocol.DefinitionFile) []protocol.Diagnostic {
	used := lib.Definitions()
	if i < len(used) {
		return nil
	}
	k := slices.IndexFunc(used, func(u protocol.DefinitionFile) bool { return u.FileName == d.FileName })
	return []protocol.Diagnostic{{File: d.Path, Line: 1, Text: fmt.Sprintf("not used: %s is %v already", used[k].Path, d.FileName)}}
}

// inFolder returns the path of the file that a diagnostic names: file itself, or one
// beside it that it includes.
func inFolder(file, named string) string { return path.Join(path.Dir(file), path.Base(named)) }
