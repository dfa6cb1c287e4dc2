package registry_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/keys"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/cdntest"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/internal/remote/remotetest"
	"lorefs/internal/salsa20"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

// openOnCDN opens a source on the hosts of a server.
func openOnCDN(t *testing.T, o *kinds.Options) (*kinds.Source, error) {
	t.Helper()
	k, err := registry.Find(t.Context(), "cdn:"+cdntest.Product, "", &kinds.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return k.Open(t.Context(), "cdn:"+cdntest.Product, o)
}

func mustOpenOnCDN(t *testing.T, o *kinds.Options) *kinds.Source {
	t.Helper()
	s, err := openOnCDN(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeSource(t *testing.T, s *kinds.Source) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// readOnCDN reads a file of a source.
func readOnCDN(t *testing.T, s *kinds.Source, name string) ([]byte, error) {
	t.Helper()
	f, err := s.Find(t.Context(), name)
	if err != nil {
		return nil, err
	}
	attr, err := s.Tree.Attr(t.Context(), f.ID)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(s.Content(t.Context(), nodes.Entry{ID: f.ID, Size: attr.Size}))
}

// listAll lists everything below a directory, with attributes, and counts the files.
func listAll(ctx context.Context, t *testing.T, tree nodes.Tree, dir nodes.ID) (n int) {
	t.Helper()
	for e, err := range tree.ReadDir(ctx, dir, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == nodes.Dir {
			n += listAll(ctx, t, tree, e.ID)
			continue
		}
		n++
		if _, err := tree.Attr(ctx, e.ID); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// listFiles lists everything below files/.
func listFiles(t *testing.T, s *kinds.Source) int {
	t.Helper()
	dir, err := s.Tree.Lookup(t.Context(), nodes.Root, "files")
	if err != nil {
		t.Fatal(err)
	}
	return listAll(t.Context(), t, s.Tree, dir.ID)
}

// served returns a server of a storage of large games, with n files.
func served(t *testing.T, n, archives, hosts int) (*casctest.Large, *write.CDN, *cdntest.Server, *kinds.Options) {
	t.Helper()
	l, c, err := casctest.NewLargeCDN(n, archives)
	if err != nil {
		t.Fatal(err)
	}
	s := cdntest.Start(hosts, c, "1.0.0.1")
	t.Cleanup(s.Close)
	dir := t.TempDir()
	list := filepath.Join(dir, "list.csv")
	if err := os.WriteFile(list, []byte(l.List), 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.Options(filepath.Join(dir, "cache"))
	o.CASC.ListFiles = []string{list}
	return l, c, s, o
}

// TestMain has tests run side by side that wait between their tries.
func TestMain(m *testing.M) {
	testneeds.AtOnce(4)
	m.Run()
}

// TestCDNBudget counts what is asked of the hosts of a large storage.
func TestCDNBudget(t *testing.T) {
	n, archives := 300_000, 200
	if testneeds.Quick() {
		n, archives = 20_000, 20
	}
	l, c, s, o := served(t, n, archives, 2)
	src := mustOpenOnCDN(t, o)
	files := listFiles(t, src)
	objects, indexes, tables := s.Asked()
	got := s.Objects.Bytes()
	t.Logf("listing %d files: %d objects, %d indexes, %d tables, %d bytes", files, objects, indexes, tables, got)
	if objects+tables > 20 || indexes > 0 {
		t.Errorf("the first listing takes %d requests and %d indexes: %v", objects+tables, indexes, s.Objects.Requests())
	}
	if most := neededBytes(c) * 12 / 10; got > most {
		t.Errorf("the first listing takes %d bytes, want at most %d", got, most)
	}
	all := int64(0)
	for name, data := range c.Files {
		if strings.HasSuffix(name, ".index") || strings.Contains(string(data[:min(len(data), 4)]), "BLTE") && len(data) > 1<<20 {
			all += int64(len(data))
		}
	}
	t.Logf("reading all of the indexes, the encoding file and the root takes %d requests and %d bytes", archives+1+objects, all)
	for _, at := range []int{1, n / 2} {
		s.Reset()
		got, err := readOnCDN(t, src, l.Find(at))
		if err != nil || !bytes.Equal(got, casctest.LargeContent(at)) {
			t.Fatalf("%s: %d bytes, %v", l.Find(at), len(got), err)
		}
		objects, indexes, _ := s.Asked()
		t.Logf("a file: %d objects, %d indexes", objects, indexes)
		if objects > 4 || (indexes > 0) != (at == 1) || indexes > archives+1 {
			t.Errorf("a file takes %d requests and %d indexes", objects, indexes)
		}
	}
	closeSource(t, src)
	for _, build := range []string{"", "1.0.0.1", c.Build.String()} {
		s.Reset()
		o.CASC.CDN.Build = build
		src := mustOpenOnCDN(t, o)
		listFiles(t, src)
		if got, err := readOnCDN(t, src, l.Find(1)); err != nil || !bytes.Equal(got, casctest.LargeContent(1)) {
			t.Errorf("build %q: %v", build, err)
		}
		closeSource(t, src)
		objects, indexes, tables := s.Asked()
		if objects+indexes > 0 || build == "" && tables != 2 || build != "" && tables > 0 {
			t.Errorf("a second time, build %q: %d objects, %d indexes, %d tables: %v", build, objects, indexes, tables, s.Objects.Requests())
		}
	}
}

// neededBytes returns the size of what a listing can't do without: the configurations, the root,
// and the encoding file up to the end of its content pages.
func neededBytes(c *write.CDN) (n int64) {
	for name, data := range c.Files {
		switch {
		case strings.HasPrefix(name, "config"):
			n += int64(len(data))
		case strings.HasSuffix(name, ".index"), !bytes.HasPrefix(data, []byte("BLTE")):
		default:
			head, err := blte.ReadHeader(bytes.NewReader(data), int64(len(data)))
			switch {
			case err != nil || !strings.Contains(name, "/"):
			case len(head.Chunks) == 7: // the encoding file
				n += head.Chunks[4].Off
			case isLoose(c, name):
				n += int64(len(data))
			}
		}
	}
	return n
}

func isLoose(c *write.CDN, name string) bool { return c.Files[name+".index"] == nil }

// TestCDNFaults lets one of two hosts do each thing that hosts do wrong: all bytes are right. If
// both do, an error says what and where.
func TestCDNFaults(t *testing.T) {
	testneeds.Seconds(t)
	for _, fault := range remotetest.Faults {
		t.Run(fault.String(), func(t *testing.T) {
			switch fault {
			case remotetest.Stall, remotetest.Silence, remotetest.Drip:
				testneeds.Slow(t, "it waits for half a minute or longer")
			}
			t.Parallel()
			l, _, s, o := served(t, 2000, 3, 2)
			s.Objects.SetFault(func(r remotetest.Request) remotetest.Fault {
				if r.Host == 0 {
					return fault
				}
				return remotetest.None
			})
			src := mustOpenOnCDN(t, o)
			for _, at := range []int{0, 700, 1999} {
				if got, err := readOnCDN(t, src, l.Find(at)); err != nil || !bytes.Equal(got, casctest.LargeContent(at)) {
					t.Errorf("%s: %v", l.Find(at), err)
				}
			}
			r := src.Remote()
			if r == nil || r.Requests == 0 || r.Bytes == 0 || len(r.Hosts) != 2 || (r.Failures > 0) != (fault != remotetest.NotFound && fault != remotetest.Whole) {
				t.Errorf("%+v", r)
			}
			closeSource(t, src)
		})
	}
}

// TestCDNDown opens a source while no host has anything that can be used.
func TestCDNDown(t *testing.T) {
	testneeds.Seconds(t)
	for _, fault := range []remotetest.Fault{remotetest.WrongBytes, remotetest.HTML, remotetest.NotFound, remotetest.Unavailable, remotetest.Reset, remotetest.Short} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			_, c, s, o := served(t, 100, 1, 2)
			s.Objects.SetFault(func(remotetest.Request) remotetest.Fault { return fault })
			_, err := openOnCDN(t, o)
			if err == nil {
				t.Fatal("it opens")
			}
			for _, want := range []string{c.Build.String(), s.Hosts()[0], s.Hosts()[1]} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not name %s", err, want)
				}
			}
		})
	}
}

// TestCDNStrangeIndex has an index of a kind that nobody can read: it is what was asked for, so no
// host is asked for it twice, and files of other archives are there.
func TestCDNStrangeIndex(t *testing.T) {
	l, c, err := casctest.NewLargeCDN(200, 2)
	if err != nil {
		t.Fatal(err)
	}
	was := c.Archives[1]
	index := bytes.Clone(c.Files[config.Path("data", was)+".index"])
	foot := index[len(index)-28:]
	foot[14] = 9 // bytes of a key
	sum := md5.Sum(append(bytes.Clone(foot[8:20]), make([]byte, 8)...))
	copy(foot[20:], sum[:8])
	name := write.Key(foot)
	text := bytes.ReplaceAll(c.Files[config.Path("config", c.Config)], []byte(was.String()), []byte(name.String()))
	c.Config = write.Key(text)
	c.Files[config.Path("config", c.Config)] = text
	strange := config.Path("data", name) + ".index"
	c.Files[strange] = index
	s := cdntest.Start(2, c, "1.0.0.1")
	t.Cleanup(s.Close)
	list := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(list, []byte(l.List), 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.Options(t.TempDir())
	o.CASC.ListFiles = []string{list}
	src := mustOpenOnCDN(t, o)
	defer closeSource(t, src)
	if got, err := readOnCDN(t, src, l.Find(0)); err != nil || !bytes.Equal(got, casctest.LargeContent(0)) {
		t.Errorf("%s: %d bytes, %v", l.Find(0), len(got), err)
	}
	asked := 0
	for _, r := range s.Objects.Requests() {
		if strings.HasSuffix(r.Path, strange) {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("it was asked for %d times", asked)
	}
	if _, err := readOnCDN(t, src, l.Find(198)); err == nil || !strings.Contains(err.Error(), "footer") {
		t.Errorf("a file of that archive: %v", err)
	}
}

// TestCDNOffline reads what was fetched before, and says of the rest that it was not.
func TestCDNOffline(t *testing.T) {
	l, _, s, o := served(t, 2000, 3, 1)
	src := mustOpenOnCDN(t, o)
	if _, err := readOnCDN(t, src, l.Find(5)); err != nil {
		t.Fatal(err)
	}
	closeSource(t, src)
	s.Close()
	o.CASC.CDN.Offline = true
	src = mustOpenOnCDN(t, o)
	defer closeSource(t, src)
	if got, err := readOnCDN(t, src, l.Find(5)); err != nil || !bytes.Equal(got, casctest.LargeContent(5)) {
		t.Errorf("%v", err)
	}
	if _, err := readOnCDN(t, src, l.Find(6)); err == nil || !strings.Contains(err.Error(), "offline") {
		t.Errorf("%v", err)
	}
}

// TestCDNEncrypted opens a product whose objects are all encrypted.
func TestCDNEncrypted(t *testing.T) {
	l, c, s, o := served(t, 100, 1, 1)
	key := [16]byte{7, 7, 7}
	encrypted := *c
	encrypted.Files = write.Files{}
	for name, data := range c.Files {
		object, err := keys.Parse(strings.TrimSuffix(path.Base(name), ".index"))
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Clone(data)
		salsa20.XORKeyStream(data, data, &key, (*[8]byte)(object[8:]))
		encrypted.Files[name] = data
	}
	s.Put(&encrypted, "1.0.0.1", `{"all": {"config": {"decryption_key_name": "fenris"}}}`)
	_, err := openOnCDN(t, o)
	if !errors.Is(err, blte.ErrNoKey) || !strings.Contains(fmt.Sprint(err), "fenris") {
		t.Errorf("%v", err)
	}
	o.CASC.CDN.ProductKeys = map[string][16]byte{"fenris": key}
	src := mustOpenOnCDN(t, o)
	defer closeSource(t, src)
	if got, err := readOnCDN(t, src, l.Find(7)); err != nil || !bytes.Equal(got, casctest.LargeContent(7)) {
		t.Errorf("%x, %v", got, err)
	}
}
