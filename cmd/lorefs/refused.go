package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lorefs/internal/links"
	"lorefs/internal/replace"
	"lorefs/internal/save"
	"lorefs/internal/shown"
	"lorefs/internal/source"
	"lorefs/internal/userdir"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// leftOut is what lies in a mount and is not saved with it.
type leftOut struct {
	// Refused are texts that can't become what their files hold.
	Refused []refusedText `json:"refused"`
	// Failed are texts with which nothing is wrong, but that could not be taken: the journal
	// had no space for them, or the source was changed by another program.
	Failed []refusedText `json:"failed"`
	// Scratch are editors' files, Strays all others without a value, such as new files and
	// those that are no part of the source.
	Scratch someFiles `json:"scratch"`
	Strays  someFiles `json:"strays"`
}

// refusedText tells of a text that is not saved.
type refusedText struct {
	Path string `json:"path"`
	// Line and Column count from 1. They are 0 if no place in the text is to blame.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
}

// someFiles are counted, and some are named.
type someFiles struct {
	Count int      `json:"count"`
	Names []string `json:"names"`
}

// mostNames is how many are named.
const mostNames = 5

func (s *someFiles) add(files []string) {
	s.Count += len(files)
	s.Names = append(s.Names, files[:min(len(files), mostNames-len(s.Names))]...)
}

// leftOut is what all editors leave out.
func (s *opened) leftOut() leftOut {
	l := leftOut{
		Refused: []refusedText{}, Failed: []refusedText{},
		Scratch: someFiles{Names: []string{}}, Strays: someFiles{Names: []string{}},
	}
	for _, e := range s.editors {
		for _, r := range e.refused() {
			if isFailure(r.Problem) {
				l.Failed = append(l.Failed, tellRefused(&r))
			} else {
				l.Refused = append(l.Refused, tellRefused(&r))
			}
		}
		loose := e.loose()
		l.Scratch.add(loose.Scratch)
		l.Strays.add(loose.Strays)
	}
	return l
}

// isFailure tells why a text was not taken from what is wrong with the text itself.
func isFailure(problem error) bool {
	_, unjournalled := errors.AsType[*save.AppendError](problem)
	return unjournalled || errors.Is(problem, source.ErrChanged) || errors.Is(problem, nodes.ErrChanged)
}

// placed is an error that knows its place in a text.
type placed interface {
	error
	Place() (line, column int, what string)
}

func tellRefused(r *editing.Refused) refusedText {
	t := refusedText{Path: r.Path, Reason: r.Problem.Error()}
	if p, ok := errors.AsType[placed](r.Problem); ok {
		t.Line, t.Column, t.Reason = p.Place()
	} else if a, ok := errors.AsType[*save.AppendError](r.Problem); ok {
		t.Reason = a.Error()
	}
	return t
}

// String is as compilers tell of a mistake: FILE:LINE:COLUMN: REASON.
func (t *refusedText) String() string {
	if t.Line == 0 {
		return fmt.Sprintf("%s: %s", t.Path, t.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", t.Path, t.Line, t.Column, t.Reason)
}

// mostTexts is how many texts are printed that are not saved.
const mostTexts = 20

// printTexts prints the texts that are not saved, with sep behind what they are.
func (l *leftOut) printTexts(w io.Writer, sep string) {
	printTexts(w, "refused"+sep, l.Refused)
	printTexts(w, "failed"+sep, l.Failed)
}

func printTexts(w io.Writer, label string, texts []refusedText) {
	for i, t := range texts {
		if i == mostTexts {
			shown.Fprintf(w, label+"%d more\n", len(texts)-i)
			return
		}
		shown.Fprintf(w, label+"%s\n", t.String())
	}
}

// printFiles prints how many other files will not be saved, in the same way.
func (l *leftOut) printFiles(w io.Writer, sep string) {
	printFiles(w, "scratch"+sep, "file of an editor", "files of editors", l.Scratch)
	printFiles(w, "strays"+sep, "file without a value", "files without values", l.Strays)
}

func printFiles(w io.Writer, label, one, more string, files someFiles) {
	if n := files.Count; n > 0 {
		shown.Fprintf(w, label+"%d %s that will not be saved, such as %s\n", n, verb(n, one, more), strings.Join(files.Names, ", "))
	}
}

// texts is how many texts are not saved.
func (l *leftOut) texts() int { return len(l.Refused) + len(l.Failed) }

// unsavedTexts is the error of texts that were not saved, nil if there are none. The hint
// tells where they are kept.
func (l *leftOut) unsavedTexts(hint string) error {
	var what []string
	if n := len(l.Refused); n > 0 {
		what = append(what, fmt.Sprintf("%s %s refused and %s not saved", plural(n, "text"), was(n), is(n)))
	}
	if n := len(l.Failed); n > 0 {
		what = append(what, fmt.Sprintf("%s could not be taken and %s not saved", plural(n, "text"), is(n)))
	}
	if what == nil {
		return nil
	}
	return &commandError{code: exitUnsaved, err: errors.New(strings.Join(what, "; ")), hint: hint}
}

// refusedFolder is the folder that has a folder for each mount that texts were kept of.
const refusedFolder = "refused"

// refusedPath is where that folder is. Where it can't be made, it is told by its name.
func refusedPath() string {
	d, err := userdir.State(refusedFolder)
	if err != nil {
		return refusedFolder
	}
	defer d.Close()
	return d.Path()
}

// keepTexts writes what would go with the mount to a folder of the user's state: somebody
// has written it, and most tools say little of why it was not taken. Where that can't be, as
// where the disk is full that the journal is on, it writes beside the source. The error tells
// of all such texts, and of those that are lost.
func (m *mounting) keepTexts(ctx context.Context, now time.Time) error {
	suffix := "-" + now.UTC().Format("20060102-150405.000")
	k := keeper{name: filepath.Base(m.source) + suffix}
	for _, e := range m.opened.editors {
		k.beside = e.path() + refusedMark + suffix
		for _, r := range e.refused() {
			folder, err := k.keep(ctx, r)
			if err != nil {
				k.lose(r.Path, err)
				continue
			}
			m.log.Warn("a text that is not saved is kept", "file", r.Path, "in", folder, "err", r.Problem)
		}
	}
	hint := ""
	if len(k.folders) > 0 {
		hint = "kept in " + strings.Join(k.folders, " and ")
	}
	left := m.opened.leftOut()
	return both(left.unsavedTexts(hint), k.lost())
}

// refusedMark stands behind the source's name in that of the folder beside it.
const refusedMark = ".refused"

// keeper keeps texts.
type keeper struct {
	// name is that of the folder in refusedFolder, and beside the path of the one that is
	// taken where that can't be. folders are those that were made.
	name, beside string
	folders      []string
	// losses are why texts could not be kept, the first mostTexts, and more how many
	// others there are.
	losses []error
	more   int
}

// keep keeps a text.
func (k *keeper) keep(ctx context.Context, r editing.Refused) (folder string, err error) {
	folder, err = keepText(k.name, r)
	if err != nil {
		if besideErr := keepBeside(ctx, k.beside, r); besideErr != nil {
			return "", errors.Join(err, besideErr)
		}
		folder = k.beside
	}
	if !slices.Contains(k.folders, folder) {
		k.folders = append(k.folders, folder)
	}
	return folder, nil
}

// lose notes that a text is lost.
func (k *keeper) lose(path string, err error) {
	if len(k.losses) == mostTexts {
		k.more++
		return
	}
	k.losses = append(k.losses, fmt.Errorf("the text of %s is lost, it could not be kept: %w", path, err))
}

// lost is the error of texts that could not be kept, nil if there are none.
func (k *keeper) lost() error {
	if len(k.losses) == 0 {
		return nil
	}
	err := errors.Join(k.losses...)
	if k.more > 0 {
		err = errors.Join(err, fmt.Errorf("and so %s %d more", is(k.more), k.more))
	}
	return &commandError{code: exitUnsaved, err: err}
}

func keepText(name string, r editing.Refused) (folder string, err error) {
	top, err := userdir.State(refusedFolder, name)
	if err != nil {
		return "", err
	}
	defer top.Close()
	dir, file := path.Split(r.Path)
	in := strings.FieldsFunc(dir, func(c rune) bool { return c == '/' })
	d, err := userdir.State(append([]string{refusedFolder, name}, in...)...)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return top.Path(), d.WriteFile(file, r.Text)
}

// keepBeside keeps a text in a folder that is not in the user's state.
func keepBeside(ctx context.Context, folder string, r editing.Refused) error {
	const perm = 0o700
	dir, file := filepath.Split(filepath.Join(folder, filepath.FromSlash(r.Path)))
	dir, err := links.MakeDir(dir, perm)
	if err != nil {
		return err
	}
	return replace.Create(ctx, filepath.Join(dir, file), nil, replace.Options{Private: true}, func(w io.Writer) error {
		_, err := w.Write(r.Text)
		return err
	}, nil)
}
