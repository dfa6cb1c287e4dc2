package mods

import (
	"errors"
	"io"
	"os"
	"slices"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/patch"
)

// Stdin is the PATCH that is standard input.
const Stdin = "-"

// ReadAll reads patches, of which one may be standard input.
func ReadAll(stdin io.Reader, names []string) (patches []*patch.Patch, err error) {
	if i := slices.Index(names, Stdin); i >= 0 && slices.Contains(names[i+1:], Stdin) {
		return nil, cli.UsageErrorf("standard input can be one PATCH only")
	}
	for _, name := range names {
		text, err := Read(stdin, name)
		if err != nil {
			return nil, err
		}
		if name == Stdin {
			name = "stdin"
		}
		all, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		patches = append(patches, all...)
	}
	return patches, nil
}

// parse reads the patches of a text.
func parse(name string, text []byte) ([]*patch.Patch, error) {
	all, err := patch.ParseAll(name, text)
	return all, explained(err)
}

// explained returns the error of a text that is no patch as one for users.
func explained(err error) error {
	if e, ok := errors.AsType[*patch.SyntaxError](err); ok {
		return cli.UsageErrorf("%s:%d: %s", e.File, e.Line, e.What)
	}
	return err
}

// Read reads the text of a patch.
func Read(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != Stdin {
		file, err := os.Open(name)
		if err != nil {
			return nil, kinds.Unreadable(name, err)
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, patch.MaxBytes+1)) // Parse refuses a longer one
	if err != nil {
		return nil, kinds.Unreadable(name, err)
	}
	return text, nil
}
