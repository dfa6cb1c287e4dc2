package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"lorefs/internal/kinds"
	"lorefs/internal/shown"
)

// mostTexts is how many texts are printed that are not saved.
const mostTexts = 20

// printTexts prints the texts that are not saved, with sep behind what they are.
func printTexts(w io.Writer, l *kinds.LeftOut, sep string) {
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

// printFiles prints how many other files will not be saved, in the same way.
func printFiles(w io.Writer, l *kinds.LeftOut, sep string) {
	printLoose(w, "scratch"+sep, "file of an editor", "files of editors", l.Scratch)
	printLoose(w, "strays"+sep, "file without a value", "files without values", l.Strays)
}

func printLoose(w io.Writer, label, one, more string, files kinds.SomeFiles) {
	if n := files.Count; n > 0 {
		shown.Fprintf(w, label+"%d %s that will not be saved, such as %s\n", n, shown.Verb(n, one, more), strings.Join(files.Names, ", "))
	}
}

// unsavedTexts is the error of texts that were not saved, nil if there are none. The hint
// tells where they are kept.
func unsavedTexts(l *kinds.LeftOut, hint string) error {
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
	return &commandError{code: exitUnsaved, err: errors.New(strings.Join(what, "; ")), hint: hint}
}
