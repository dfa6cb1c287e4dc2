package casc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
)

// game is a small storage whose files are checked.
type game struct{ *casctest.Game }

func newGame() game { return game{casctest.New()} }

func makeGame(tb testing.TB, root, form string) (game, write.Files) {
	tb.Helper()
	g, files := casctest.Make(tb, root, form)
	return game{g}, files
}

func (g game) options(tb testing.TB) casc.Options {
	tb.Helper()
	names, err := root.ParseListFile([]byte(g.List()))
	if err != nil {
		tb.Fatal(err)
	}
	return casc.Options{Keys: bltetest.Keys(), Names: names}
}

// check reads all files of a storage and returns what is wrong.
func (g game) check(st *casc.Storage) error {
	files, err := st.Files(context.Background())
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var errs []error
	for _, f := range files {
		seen[f.Name] = true
		if err := g.checkFile(st, &f); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Name, err))
		}
	}
	for name := range g.Want {
		if !seen[name] {
			errs = append(errs, fmt.Errorf("%s is not listed", name))
		}
	}
	if len(seen) != len(g.Want) {
		errs = append(errs, fmt.Errorf("%d files, want %d", len(seen), len(g.Want)))
	}
	return errors.Join(append(errs, st.Problems()...)...)
}

// errWrong is wrapped by the worst error: bytes that are not the file's.
var errWrong = errors.New("WRONG BYTES")

func (g game) checkFile(st *casc.Storage, f *root.File) error {
	want, state, cause := g.Want[f.Name], casc.StateLocal, error(nil)
	switch {
	case g.Secret[f.Name]:
		state, cause = casc.StateNoKey, blte.ErrNoKey
	case want == nil:
		state, cause = casc.StateNotLocal, casc.ErrNotLocal
	}
	info, err := st.Stat(context.Background(), f)
	if err != nil {
		return err
	}
	if info.State != state || want != nil && info.Size != int64(len(want)) {
		return fmt.Errorf("%+v, want %v of %d bytes", info, state, len(want))
	}
	c, err := st.Open(context.Background(), f)
	if err == nil {
		var got []byte
		if got, err = c.ReadAll(context.Background(), 1<<20); err == nil && !bytes.Equal(got, want) {
			return errWrong
		}
	}
	if !errors.Is(err, cause) || (err == nil) != (cause == nil) {
		return fmt.Errorf("reading it: %w; want %w", err, cause)
	}
	return nil
}
