package casc_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// synthetic is a storage of the fixtures, unpacked in memory, with the lists of its maker
// and of CascLib.
type synthetic struct {
	*casctest.Synthetic
	kind  string
	store fstest.MapFS
	rows  []cascLibRow
}

// cascLibRow is a line of CascLib's own listing.
type cascLibRow struct {
	status, md5, ckey, ekey, name string
	size                          int64
	id                            int64
	locale, flags                 uint32
	local                         bool
	spans                         int
}

// loaded keeps what was unpacked. It must not be changed.
var loaded = map[string]*synthetic{}

func loadSynthetic(t testing.TB, kind string) *synthetic {
	t.Helper()
	if s, ok := loaded[kind]; ok {
		return s
	}
	s := &synthetic{Synthetic: casctest.LoadSynthetic(t, kind), kind: kind}
	s.store = casctest.FS(s.Store)
	for line := range strings.Lines(string(s.Beside["casclib.tsv"])) {
		s.rows = append(s.rows, parseRow(t, strings.Split(strings.TrimRight(line, "\n"), "\t")))
	}
	loaded[kind] = s
	return s
}

func parseRow(t testing.TB, c []string) cascLibRow {
	t.Helper()
	r := cascLibRow{
		status: c[0], md5: c[2], ckey: c[3], ekey: c[4], local: c[8] == "1", name: strings.ReplaceAll(c[10], `\`, "/"),
	}
	var errs [5]error
	var size, locale, flags uint64
	size, errs[0] = strconv.ParseUint(c[1], 10, 64)
	r.id, errs[1] = strconv.ParseInt(c[5], 10, 64)
	locale, errs[2] = strconv.ParseUint(c[6], 0, 32)
	flags, errs[3] = strconv.ParseUint(c[7], 0, 32)
	r.spans, errs[4] = strconv.Atoi(c[9])
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	r.size, r.locale, r.flags = int64(size), uint32(locale), uint32(flags)
	return r
}

// open opens the storage with its keys and, for WoW, its list of IDs or of names.
func (s *synthetic) open(t testing.TB, list string, opts casc.Options) *casc.Storage {
	t.Helper()
	keys, err := blte.ParseKeys(s.Beside["keys"])
	if err != nil {
		t.Fatal(err)
	}
	opts.Keys = keys
	if text := s.Beside["listfile."+list]; text != nil {
		if opts.Names, err = root.ParseListFile(text); err != nil {
			t.Fatal(err)
		}
	}
	st, err := casc.Open(s.store, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// read reads a whole file in pieces.
func read(c *casc.Content) (string, error) {
	h := md5.New()
	_, err := io.CopyBuffer(h, io.NewSectionReader(c, 0, c.Size()), make([]byte, 10000))
	return hex.EncodeToString(h.Sum(nil)), err
}

// TestManifest reads every file of the manifests by name, content key and encoding key.
func TestManifest(t *testing.T) {
	for _, kind := range casctest.Synthetics {
		for _, list := range []string{"csv", "txt"} {
			if list == "txt" && (testneeds.Quick() || !strings.HasPrefix(kind, "wow")) {
				continue // the others have no list
			}
			s := loadSynthetic(t, kind)
			st := s.open(t, list, casc.Options{})
			if p := st.Problems(); len(p) > 0 {
				t.Errorf("%s: %v", kind, p)
			}
			for _, f := range s.Files {
				if list == "txt" && f.CFlags&uint32(root.ContentNoNames) != 0 {
					continue // it can be named by its ID only
				}
				s.checkFile(t, st, &f)
			}
		}
	}
}

func (s *synthetic) checkFile(t *testing.T, st *casc.Storage, f *casctest.SyntheticFile) {
	name := f.Name
	if f.Listed != "" {
		name = f.Listed
	}
	file, err := st.Lookup(t.Context(), strings.ToUpper(name))
	if err != nil {
		t.Errorf("%s: %v", s.kind, err)
		return
	}
	info, err := st.Stat(t.Context(), &file)
	if err != nil || info.Size != f.Size {
		t.Errorf("%s: %s: %+v, %v; the size is %d", s.kind, name, info, err, f.Size)
	}
	state, want := casc.StateLocal, error(nil)
	switch {
	case strings.Contains(name, "absent/"):
		state, want = casc.StateNotLocal, casc.ErrNotLocal
	case strings.Contains(name, "missing_key"):
		state, want = casc.StateNoKey, blte.ErrNoKey
	}
	if info.State != state {
		t.Errorf("%s: %s: state %v, want %v", s.kind, name, info.State, state)
	}
	check := func(how string, c *casc.Content, err error) {
		t.Helper()
		got := ""
		if err == nil {
			got, err = read(c)
		}
		if !errors.Is(err, want) || want == nil && got != f.MD5 {
			t.Errorf("%s: %s by %s: %v, MD5 %s; want %v, %s", s.kind, name, how, err, got, want, f.MD5)
		}
	}
	c, err := st.OpenName(t.Context(), name)
	check("name", c, err)
	if f.CKey != "" && len(file.Spans) < 2 {
		c, err = st.OpenContent(t.Context(), casctest.Key(t, f.CKey))
		check("content key", c, err)
		for _, text := range f.EKeys {
			ekey := casctest.Key(t, text)
			c, err = st.OpenEncoded(t.Context(), ekey[:])
			check("encoding key", c, err)
			c, err = st.OpenEncoded(t.Context(), ekey[:keys.ShortSize])
			check("short encoding key", c, err)
		}
	}
}

// TestCascLib compares names, sizes, keys, IDs, flags and readability with CascLib's
// listing, without what CascLib lists by encoding key only.
func TestCascLib(t *testing.T) {
	for _, kind := range casctest.Synthetics {
		if kind == "tvfs_mixedidx" {
			continue // CascLib does not read the update section
		}
		s := loadSynthetic(t, kind)
		st := s.open(t, "csv", casc.Options{Locale: root.LocaleEnUS}) // as CascLib, by the tags
		files, err := st.Files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		manifests, err := st.Manifests()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]cascLibRow{}
		for _, r := range s.rows {
			_, err := keys.Parse(r.name)
			none := r.name == "ROOT" && strings.Trim(r.ckey, "0") == "" // the build has no root
			if err != nil && !none {
				want[strings.ToLower(r.name)] = r
			}
		}
		for _, f := range slices.Concat(files, manifests) {
			r, ok := want[strings.ToLower(f.Name)]
			if !ok {
				t.Errorf("%s: CascLib does not list %q", kind, f.Name)
				continue
			}
			delete(want, strings.ToLower(f.Name))
			compareRow(t, kind, st, &f, &r)
		}
		for _, r := range want {
			t.Errorf("%s: only CascLib lists %q", kind, r.name)
		}
	}
}

func compareRow(t *testing.T, kind string, st *casc.Storage, f *root.File, r *cascLibRow) {
	t.Helper()
	info, err := st.Stat(t.Context(), f)
	if err != nil || info.Size != r.size || (info.State == casc.StateNotLocal) == r.local || max(len(f.Spans), 1) != r.spans {
		t.Errorf("%s: %s: %+v, %v, %d spans; CascLib has %+v", kind, f.Name, info, err, len(f.Spans), r)
	}
	if f.HasID && (int64(f.ID) != r.id || uint32(f.Locale) != r.locale || uint32(f.Flags) != r.flags) {
		t.Errorf("%s: %s: %+v; CascLib has %+v", kind, f.Name, f, r)
	}
	if len(f.Spans) < 2 && f.CKey.String() != r.ckey {
		t.Errorf("%s: %s: content key %v; CascLib has %s", kind, f.Name, f.CKey, r.ckey)
	}
	c, err := st.Open(t.Context(), f)
	if err != nil {
		if r.status == "ok" {
			t.Errorf("%s: %s: %v; CascLib reads it", kind, f.Name, err)
		}
		return
	}
	sum, err := read(c)
	if info.State == casc.StateNoKey {
		if !errors.Is(err, blte.ErrNoKey) { // CascLib was told to give zeros
			t.Errorf("%s: %s: %v", kind, f.Name, err)
		}
		return
	}
	if err != nil || sum != r.md5 || r.status != "ok" {
		t.Errorf("%s: %s: %s, %v; CascLib has %+v", kind, f.Name, sum, err, r)
	}
}
