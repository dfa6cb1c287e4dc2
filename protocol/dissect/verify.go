package dissect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"

	"lorefs/internal/shown"
	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// Finding is a fault of a session or its definitions.
type Finding struct {
	// File is the path of the bad definition or map in the folder, and Line the line, from
	// 1 on. File is empty for faults of the log.
	File string
	Line int
	// Packet is the number of the packet, from 0 on, and Name its name. Packet is -1 for
	// faults of the log as a whole.
	Packet int
	Name   string
	// Off is where the packet begins.
	Off  int64
	What string
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
	return fmt.Sprintf("%#x: %s: %s", f.Off, f.Where(), f.What)
}

// askEvery is after how many packets Verify asks its context.
const askEvery = 1024

// Verify reads every packet, decodes it, and writes it again by way of JSON. It yields
// packets that are damaged, that do not fit their definition, or that did not become the
// same bytes again. A packet without a definition is no finding, and wrong definitions are
// reported by [VerifyLibrary]. progress, unless it is nil, is called with the number of
// packets done.
//
// An error comes from reading and ends it.
func (r *Recording) Verify(ctx context.Context, progress func(done, total int64)) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var v verifier
		for i := range r.log.Len() {
			if i%askEvery == 0 {
				if ctx.Err() != nil {
					yield(Finding{}, context.Cause(ctx))
					return
				}
				if progress != nil {
					progress(int64(i), int64(r.log.Len()))
				}
			}
			what, err := v.packet(r, i)
			if err == nil && what == "" {
				continue
			}
			if !yield(r.finding(i, what), err) || err != nil {
				return
			}
		}
		if end := r.log.Info().Incomplete; end != nil {
			yield(atEnd(end), nil)
		}
	}
}

// atEnd returns the finding of a log that ends too early.
func atEnd(err error) Finding {
	f := Finding{Packet: -1, What: err.Error()}
	if e, ok := errors.AsType[*capture.FormatError](err); ok {
		f.Off, f.What = e.Off, shown.Fault(e.What, e.Err)
	}
	return f
}

func (r *Recording) finding(i int, what string) Finding {
	return Finding{Packet: i, Name: r.codes[r.log.Code(i)].Name, Off: r.log.Offset(i), What: what}
}

// verifier has the buffers of one run.
type verifier struct{ packetBytes, text []byte }

// packet returns what is wrong with packet i, or "".
func (v *verifier) packet(r *Recording, i int) (what string, err error) {
	p, err := r.log.Packet(i, v.packetBytes)
	switch {
	case IsDamage(err):
		return err.Error(), nil
	case err != nil:
		return "", err
	}
	if cap(p.Data) > cap(v.packetBytes) {
		v.packetBytes = p.Data
	}
	table := r.codes[r.log.Code(i)].Table
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

// difference returns the first offset at which a and b differ, or -1.
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

// VerifyLibrary reads every definition and every map of a library, and yields each line
// that can't be read, or only by a guess. With strict, it also yields what is odd but
// unambiguous, and hidden definitions. patch is the version of the game, 0 for the newest.
//
// An error comes from reading and ends it.
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

// libraryVerifier is one run of [VerifyLibrary]. Its methods report whether to go on.
type libraryVerifier struct {
	lib    *protocol.Library
	patch  protocol.Patch
	strict bool
	yield  func(Finding, error) bool
}

// waited reports whether the caller still wants findings.
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

// wrong yields an error in a file, or ends the run.
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

// hiddenBy returns the remark that another definition is used in place of definition i, if
// it is.
func hiddenBy(lib *protocol.Library, i int, d protocol.DefinitionFile) []protocol.Diagnostic {
	used := lib.Definitions()
	if i < len(used) {
		return nil
	}
	k := slices.IndexFunc(used, func(u protocol.DefinitionFile) bool { return u.FileName == d.FileName })
	return []protocol.Diagnostic{{File: d.Path, Line: 1, Text: fmt.Sprintf("not used: %s is %v already", used[k].Path, d.FileName)}}
}

// inFolder returns the path of the file that a diagnostic names: file itself, or a file
// beside it that it includes.
func inFolder(file, named string) string { return path.Join(path.Dir(file), path.Base(named)) }
