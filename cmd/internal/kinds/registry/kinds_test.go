package registry_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/sample"
	"lorefs/datacenter"
	"lorefs/nodes"
)

// TestKinds checks that each kind recognizes, opens, describes and checks its sources, and
// knows whether they can be edited. The CASC storage has files without content and files
// whose key is unknown.
func TestKinds(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	if _, err := sample.Write(dir); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]struct {
		kind, entry string
		findings    int
		editable    bool
	}{
		sample.DataCenterName: {kinds.DataCenterName, "sheets", 0, true},
		"world":               {kinds.WorldName, "zones", 0, true},
		"game":                {kinds.CASCName, "casc.json", 3, false},
		"session.TeraLog":     {kinds.PacketsName, "packets", 0, false},
		"definitions":         {kinds.PacketsName, "definitions", 0, false},
	} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join(dir, file)
			k, err := registry.Find(t.Context(), path, "", &kinds.Options{})
			if err != nil || k.Name != want.kind || k.Editable != want.editable {
				t.Fatalf("it is of the kind %v, want %s: %v", k, want.kind, err)
			}
			opts := &kinds.Options{CacheSize: 1 << 20, NoIndex: true}
			opts.DataCenter.Keys = datacenter.DefaultKeys()
			found := 0
			for f, err := range k.Verify(t.Context(), path, opts, kinds.VerifyOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				if found++; found > want.findings {
					t.Errorf("%v is wrong", f.Line)
				}
			}
			if found != want.findings {
				t.Errorf("%d things are wrong, want %d", found, want.findings)
			}
			s, err := k.Open(t.Context(), path, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Find(t.Context(), want.entry); err != nil {
				t.Error(err)
			}
			if _, err := s.Find(t.Context(), "no such name"); !errors.Is(err, nodes.ErrNotExist) {
				t.Errorf("a name that it does not have: %v", err)
			}
			describes(t, s)
			err = s.Edit(t.Context(), kinds.EditOptions{Logger: slog.New(slog.DiscardHandler)})
			if errors.Is(err, kinds.ErrReadOnly) == want.editable || want.editable && err != nil {
				t.Errorf("editing it: %v", err)
			}
			if (len(s.Sessions) > 0) != want.editable {
				t.Errorf("it has %d sessions", len(s.Sessions))
			}
		})
	}
}

// describes checks that a source has a description as a table and as an object, and has not
// changed.
func describes(t *testing.T, s *kinds.Source) {
	t.Helper()
	d, err := s.Describe()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := d.Print(&table); err != nil || table.Len() == 0 {
		t.Errorf("%q, %v", table.String(), err)
	}
	object, err := json.Marshal(d)
	if err != nil || !strings.Contains(string(object), `"source_size":`) {
		t.Errorf("%s, %v", object, err)
	}
	if err := s.Check(); err != nil || !s.Complete("/") {
		t.Errorf("complete: %v, %v", s.Complete("/"), err)
	}
}

// TestNoSource checks that the error of a path without a source names the path.
func TestNoSource(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		_, err := registry.Find(t.Context(), path, "", &kinds.Options{})
		if _, ok := errors.AsType[*kinds.Error](err); !ok || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%v", err)
		}
	}
}

// TestNoRegularFile has what is no regular file refused, also if the kind is told.
func TestNoRegularFile(t *testing.T) {
	for _, k := range registry.All() {
		if _, err := k.Open(t.Context(), os.DevNull, &kinds.Options{CacheSize: 1 << 20, NoIndex: true}); err == nil {
			t.Errorf("%s: no error", k.Name)
		}
	}
}
