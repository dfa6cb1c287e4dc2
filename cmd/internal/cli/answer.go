package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/save"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// NothingEdited says that there was nothing to do.
const NothingEdited = "nothing was edited that is not saved"

// Telling prints what came of edits.
type Telling struct {
	Out io.Writer
	// Lines is where JSON goes, or nil if people read it.
	Lines *jsonout.Lines
	// Dir is the mount point as the user calls it, and Name its [daemon.Name]; both are empty for
	// a source that is not mounted. Stays says that it stays mounted.
	Dir, Name string
	Stays     bool
}

// NewTelling returns what prints on out, as JSON or for people.
func NewTelling(out io.Writer, asJSON bool) *Telling {
	t := &Telling{Out: out}
	if asJSON {
		t.Lines = jsonout.NewLines(out)
	}
	return t
}

// EditsOutcome tells what came of edits, as --json prints it.
type EditsOutcome struct {
	Mountpoint string `json:"mountpoint,omitempty"`
	// Saved has a report of each source that was saved.
	Saved []save.Report `json:"saved"`
	// NotSaved has the sources that could not be saved, and why.
	NotSaved []mounted.NotSaved `json:"not_saved"`
	// Begun lists what unmount --lazy will save once nobody uses the mount, and Discarded what
	// --discard gave up or, with --lazy, will give up.
	Begun     []mounted.Begun `json:"begun"`
	Discarded []mounted.Begun `json:"discarded"`
	// LeftOut was not saved.
	kinds.LeftOut
}

// PrintJSON prints an answer as JSON.
func (t *Telling) PrintJSON(a *mounted.Answer) error {
	o := EditsOutcome{
		Mountpoint: t.Name, Saved: []save.Report{}, NotSaved: AsList(a.NotSaved),
		Begun: AsList(a.Begun), Discarded: AsList(a.Discarded), LeftOut: a.Left,
	}
	for _, r := range a.Saved {
		if r.Path != "" {
			o.Saved = append(o.Saved, r)
		}
	}
	o.Refused, o.Failed = AsList(o.Refused), AsList(o.Failed)
	o.Scratch.Names, o.Strays.Names = AsList(o.Scratch.Names), AsList(o.Strays.Names)
	return t.Lines.Write(o)
}

// Told prints an answer, first the texts that were not saved, and returns the error of the
// command.
func (t *Telling) Told(a *mounted.Answer) error {
	var err error
	if t.Lines != nil {
		err = t.PrintJSON(a)
	} else {
		PrintTexts(t.Out, &a.Left, ": ")
		err = t.PrintSaved(a)
		PrintFiles(t.Out, &a.Left, ": ")
	}
	switch {
	case a.Unsaved:
		return errors.Join(err, &Error{Code: ExitUnsaved, Err: errors.New(a.Error)})
	case a.Error != "":
		return errors.Join(err, errors.New(a.Error))
	case a.Saved != nil && !a.Wrote() && t.Lines == nil:
		_, err := fmt.Fprintln(t.Out, NothingEdited)
		return err
	}
	return err
}

// PrintSaved prints what was saved, and how to undo that: one line for all sources, because
// it ends the mount of all.
func (t *Telling) PrintSaved(a *mounted.Answer) error {
	var kept []string
	for _, r := range a.Saved {
		if r.Path == "" {
			continue
		}
		text := fmt.Sprintf("saved %s to %s: %d bytes in %.1f s\n", shown.Plural(r.Edits, "edit"), shown.Text(r.Path), r.Bytes, r.Seconds)
		if r.Backup != "" {
			text += fmt.Sprintf("the file before is %s\n", shown.Text(r.Backup))
			kept = append(kept, r.Kept...)
		}
		if r.Problem != "" {
			text += shown.Text(r.Problem) + "\n"
		}
		if _, err := io.WriteString(t.Out, text); err != nil {
			return err
		}
	}
	if kept == nil {
		return nil
	}
	mount := ""
	if t.Stays {
		mount = t.Dir
	}
	_, err := shown.Fprintf(t.Out, "to go back: %s\n", wayBack(kept, mount))
	return err
}

// wayBack returns the command line that brings back the old files of the given new ones. In a
// mount, edits made since belong to the new files, and saving them would replace the old ones.
func wayBack(files []string, mount string) string {
	line := ""
	if mount != "" {
		line = "lorefs unmount --discard " + shown.Shell(mount) + " && "
	}
	if len(files) == 1 {
		return line + "mv " + shown.Shell(files[0]+".bak") + " " + shown.Shell(files[0])
	}
	line += "for f in"
	for _, f := range files {
		line += " " + shown.Shell(f)
	}
	return line + `; do mv "$f.bak" "$f"; done`
}

// ToldBegun prints an answer for a caller who does not wait for the end, and returns the
// error of the command.
func (t *Telling) ToldBegun(a *mounted.Answer) error {
	err := t.printBegun(a)
	if unsaved := unsavedTexts(&a.Left, "at the end "+shown.They(a.Left.Texts())+" put into "+a.Kept); unsaved != nil {
		return errors.Join(err, unsaved)
	}
	return err
}

func (t *Telling) printBegun(a *mounted.Answer) error {
	if t.Lines != nil {
		return t.PrintJSON(a)
	}
	PrintTexts(t.Out, &a.Left, ": ")
	for _, b := range a.Begun {
		what := shown.Plural(b.Edits, "edit") + " of " + b.Path
		if b.Converts != "" {
			what += ", in the layout " + b.Converts
		}
		if _, err := shown.Fprintf(t.Out, "%s: the save begins once no program uses the mount\n", what); err != nil {
			return err
		}
	}
	if a.Begun != nil {
		if _, err := shown.Fprintf(t.Out, "lorefs status %s shows how far the save is; afterwards lorefs journal list has what could not be saved\n", shown.Shell(t.Dir)); err != nil {
			return err
		}
	}
	PrintFiles(t.Out, &a.Left, ": ")
	return nil
}

// ToldDiscarded prints what was given up, and returns the error of the command.
func (t *Telling) ToldDiscarded(a *mounted.Answer) error {
	if t.Lines != nil {
		return errors.Join(t.PrintJSON(a), FailureOf(a))
	}
	w := t.Out
	for _, d := range a.Discarded {
		if d.Edits > 0 {
			shown.Fprintf(w, "gave up %s of %s\n", shown.Plural(d.Edits, "edit"), d.Path)
		}
	}
	const gaveUp = "gave up: "
	printRefused(w, gaveUp, a.Left.Refused)
	printRefused(w, gaveUp, a.Left.Failed)
	for _, files := range [...]kinds.SomeFiles{a.Left.Scratch, a.Left.Strays} {
		if files.Count > 0 {
			shown.Fprintf(w, gaveUp+"%s, such as %s\n", shown.Plural(files.Count, "file"), strings.Join(files.Names, ", "))
		}
	}
	return FailureOf(a)
}

// mostTexts is the largest number of texts that are printed.
const mostTexts = 20

// PrintTexts prints the texts that are not saved. sep follows the word for their state.
func PrintTexts(w io.Writer, l *kinds.LeftOut, sep string) {
	printRefused(w, "refused"+sep, l.Refused)
	printRefused(w, "failed"+sep, l.Failed)
}

func printRefused(w io.Writer, label string, texts []kinds.RefusedText) {
	for i, t := range texts {
		if i == mostTexts {
			shown.Fprintf(w, label+"%d more\n", len(texts)-i)
			return
		}
		shown.Fprintf(w, label+"%s\n", t.String())
	}
}

// PrintFiles prints the number of other files that will not be saved, in the same way.
func PrintFiles(w io.Writer, l *kinds.LeftOut, sep string) {
	printLoose(w, "scratch"+sep, "file of an editor", "files of editors", l.Scratch)
	printLoose(w, "strays"+sep, "file without a value", "files without values", l.Strays)
}

func printLoose(w io.Writer, label, one, more string, files kinds.SomeFiles) {
	if n := files.Count; n > 0 {
		shown.Fprintf(w, label+"%d %s that will not be saved, such as %s\n", n, shown.Verb(n, one, more), strings.Join(files.Names, ", "))
	}
}

// unsavedTexts returns an error for texts that were not saved, or nil. The hint says where
// they are kept.
func unsavedTexts(l *kinds.LeftOut, hint string) *Error {
	var what []string
	if n := len(l.Refused); n > 0 {
		what = append(what, fmt.Sprintf("%s %s refused and %s not saved", shown.Plural(n, "text"), shown.Was(n), shown.Is(n)))
	}
	if n := len(l.Failed); n > 0 {
		what = append(what, fmt.Sprintf("%s could not be taken and %s not saved", shown.Plural(n, "text"), shown.Is(n)))
	}
	if what == nil {
		return nil
	}
	return &Error{Code: ExitUnsaved, Err: errors.New(strings.Join(what, "; ")), Hint: hint}
}

// FailureOf returns the error of an answer, or nil.
func FailureOf(a *mounted.Answer) error {
	switch {
	case a.Error == "":
		return nil
	case a.Code != 0:
		return &Error{Code: a.Code, Err: errors.New(a.Error)}
	}
	return errors.New(a.Error)
}
