package packettree_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	iofs "io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/packettree"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
	"lorefs/protocol/prototest"
)

var mounted = time.Unix(1_700_000_000, 0)

func library(t testing.TB) *protocol.Library {
	t.Helper()
	lib, err := protocol.OpenLibrary(prototest.Files(), protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func openLog(t testing.TB, data []byte) *capture.Log {
	t.Helper()
	log, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func session(t testing.TB, n int) *capture.Log {
	t.Helper()
	data, err := prototest.Log(1, n)
	if err != nil {
		t.Fatal(err)
	}
	return openLog(t, data)
}

func newTree(t testing.TB, log *capture.Log, lib *protocol.Library) *packettree.Tree {
	t.Helper()
	var s *dissect.Recording
	if log != nil {
		var err error
		if s, err = dissect.New(log, lib, dissect.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return packettree.New(s, lib, packettree.Options{ModTime: mounted})
}

func TestConformance(t *testing.T) {
	t.Run("both", func(t *testing.T) { nodetest.Run(t, newTree(t, session(t, 400), library(t))) })
	t.Run("no definitions", func(t *testing.T) { nodetest.Run(t, newTree(t, session(t, 40), nil)) })
	t.Run("no session", func(t *testing.T) { nodetest.Run(t, newTree(t, nil, library(t))) })
	t.Run("hex lines", func(t *testing.T) {
		nodetest.Run(t, newTree(t, openLog(t, []byte("0400e803\nS_CHAT 0400e903\n")), library(t)))
	})
	t.Run("empty", func(t *testing.T) { nodetest.Run(t, newTree(t, openLog(t, []byte("# nothing\n")), nil)) })
}

func find(t testing.TB, tree nodes.Tree, path string) nodes.Entry {
	t.Helper()
	e := nodes.Entry{ID: nodes.Root}
	for name := range strings.SplitSeq(path, "/") {
		var err error
		if e, err = tree.Lookup(t.Context(), e.ID, name); err != nil {
			t.Fatalf("%s at %q: %v", path, name, err)
		}
	}
	e, err := nodes.WithSize(t.Context(), tree, e)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return e
}

func read(t testing.TB, tree nodes.Tree, path string) string {
	t.Helper()
	e := find(t, tree, path)
	b := make([]byte, e.Size+10)
	n, err := tree.ReadAt(t.Context(), e.ID, b, 0)
	if !errors.Is(err, io.EOF) || int64(n) != e.Size {
		t.Fatalf("%s: read %d bytes of %d: %v", path, n, e.Size, err)
	}
	return string(b[:n])
}

func list(t testing.TB, tree nodes.Tree, dir string) []string {
	t.Helper()
	var names []string
	for e, err := range tree.ReadDir(t.Context(), find(t, tree, dir).ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}

func TestFiles(t *testing.T) {
	tree := newTree(t, session(t, 20), library(t))
	for dir, want := range map[string]string{
		"definitions": "C_PLAYER_LOCATION.5.json S_CHAT.2.json S_CHAT.3.json S_PARTY_MEMBER_LIST.7.json S_SPAWN_USER.15.json S_UNUSED.1.json S_WRONG.1.json",
		"maps":        "protocol.1.json protocol.373824.json sysmsg.98.json sysmsg.99.json old_map_sysmsg.98.map.json",
	} {
		if got := strings.Join(list(t, tree, dir), " "); got != want {
			t.Errorf("%s has %s\nwant %s", dir, got, want)
		}
	}
	names := list(t, tree, "packets")
	if len(names) != 40 || names[0] != "000000-C_CHECK_VERSION.json" || names[1] != "000000-C_CHECK_VERSION.bin" || names[12] != "000006-5007.json" {
		t.Errorf("packets has %q", names)
	}
	for path, want := range map[string]string{
		"packets/000000-C_CHECK_VERSION.json": `{"number":0,"time":"2020-09-01T12:00:00Z","from":"client","name":"C_CHECK_VERSION","hex":"0d00bc4d616e797468696e673f"}` + "\n",
		"packets/000000-C_CHECK_VERSION.bin":  "\x0d\x00\xbc\x4danything?",
		"maps/sysmsg.98.json":                 "{\n \"SMT_UNDEFINED\": 0\n}\n",
		"maps/sysmsg.99.json":                 `{"file":"map/sysmsg.99.map","error":"protocol: sysmsg.99.map:1: want NAME NUMBER or NAME = NUMBER, got \"SMT_UNDEFINED\""}` + "\n",
	} {
		if got := read(t, tree, path); got != want {
			t.Errorf("%s is %q\nwant %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"packets/000001-S_CHAT.json":              `"definition":"S_CHAT.3","error":"protocol: offset 0 of the packet: fields`,
		"packets/000002-S_SPAWN_USER.json":        `"definition":"S_SPAWN_USER.15","packet":{"code":5003,"data":{"items":[`,
		"packets/000004-S_PARTY_MEMBER_LIST.json": `"raid":`,
		"packets/000008-S_WRONG.json":             `"error":"protocol: S_WRONG.1.def:1: no such type`,
		"definitions/S_WRONG.1.json":              `"error":"protocol: S_WRONG.1.def:1: no such type`,
		"definitions/S_CHAT.3.json":               `"min": "90"`,
	} {
		if got := read(t, tree, path); !strings.Contains(got, want) {
			t.Errorf("%s is %s\nwant it to have %s", path, got, want)
		}
	}
	for _, path := range []string{"0-C_CHECK_VERSION.json", "000000-C_CHECK_VERSION", "000000-S_CHAT.json", "000020-S_CHAT.json", "+00001-S_CHAT.json", "000001"} {
		if e, err := tree.Lookup(t.Context(), find(t, tree, "packets").ID, path); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s is %+v, %v", path, e, err)
		}
	}
}

func TestSummary(t *testing.T) {
	tree := newTree(t, session(t, 900), library(t))
	type sums struct {
		Name, Definition                         string
		Packets, Bytes, Decoded, Failed, Unknown int
	}
	var got struct {
		sums
		Format, Revision, Patch, Map string
		Names                        []sums
	}
	if err := json.Unmarshal([]byte(read(t, tree, "summary.json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "TeraConnectionLog" || got.Revision != "373824" || got.Patch != "98.02" || got.Map != "protocol.373824.map" {
		t.Errorf("got %+v", got)
	}
	if got.Packets != 900 || got.Decoded+got.Failed+got.Unknown != 900 || got.Failed == 0 || len(got.Names) != 8 {
		t.Errorf("got %+v", got)
	}
	bytes := 0
	for _, n := range got.Names {
		bytes += n.Bytes
		switch n.Name {
		case "S_WRONG":
			if n.Failed != 100 {
				t.Errorf("got %+v", n)
			}
		case "C_PLAYER_LOCATION":
			if n.Packets != 200 || n.Decoded != 200 || n.Bytes != 200*40 || n.Definition != "C_PLAYER_LOCATION.5" {
				t.Errorf("got %+v", n)
			}
		case "5007":
			if n.Unknown != 100 {
				t.Errorf("got %+v", n)
			}
		}
	}
	if bytes != got.Bytes {
		t.Errorf("%d bytes by name, %d in all", bytes, got.Bytes)
	}
}

// TestLoggedNames has a session that names its packets, which needs no map.
func TestLoggedNames(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"defs/S_CHAT.2.def", "defs/S_CHAT.3.def"} {
		files[name] = prototest.Files()[name]
	}
	lib, err := protocol.OpenLibrary(files, protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tree := newTree(t, openLog(t, []byte("S_CHAT.2 0c00e8030a00030000000000\nS_/../X 0400e903\n")), lib)
	if got, want := strings.Join(list(t, tree, "packets"), " "), "000000-S_CHAT.json 000000-S_CHAT.bin 000001-1001.json 000001-1001.bin"; got != want {
		t.Errorf("packets has %s, want %s", got, want)
	}
	if got := read(t, tree, "packets/000000-S_CHAT.json"); !strings.Contains(got, `"definition":"S_CHAT.2","packet":{"code":1000,"data":{"channel":3,"message":""}}`) {
		t.Errorf("got %s", got)
	}
}

// TestDamagedPacket checks that a damaged packet does not hide the others.
func TestDamagedPacket(t *testing.T) {
	lines := []byte(strings.Repeat("S_CHAT 04000100\n", 3))
	log := openLog(t, lines)
	lines[len(lines)-2] = '?' // a digit of the last packet
	tree := newTree(t, log, nil)
	if got := strings.Join(list(t, tree, "packets"), " "); got != "000000-S_CHAT.json 000000-S_CHAT.bin 000001-S_CHAT.json 000001-S_CHAT.bin 000002-S_CHAT.json" {
		t.Errorf("packets has %s", got)
	}
	if got := read(t, tree, "packets/000002-S_CHAT.json"); !strings.Contains(got, "the line changed since the log was opened") {
		t.Errorf("got %s", got)
	}
	nodetest.Run(t, tree)
}

func TestChanged(t *testing.T) {
	tree := packettree.New(nil, library(t), packettree.Options{ModTime: mounted, Check: func() error { return nodes.ErrChanged }})
	if _, err := tree.Attr(t.Context(), nodes.Root); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}

// denied is a folder with a file that may not be read.
type denied struct {
	iofs.FS
	name string
}

func (d denied) Open(name string) (iofs.File, error) {
	if name == d.name {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	return d.FS.Open(name)
}

// TestDeniedDefinition checks that a definition that may not be read does not hide the
// others.
func TestDeniedDefinition(t *testing.T) {
	lib, err := protocol.OpenLibrary(denied{prototest.Files(), "defs/S_CHAT.3.def"}, protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tree := newTree(t, nil, lib)
	if got := list(t, tree, "definitions"); len(got) != 7 {
		t.Errorf("definitions has %q", got)
	}
	if got, want := read(t, tree, "definitions/S_CHAT.3.json"), `{"file":"defs/S_CHAT.3.def","error":"protocol: defs/S_CHAT.3.def:1: permission denied"}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// hooked calls hook before each read once it is set.
type hooked struct {
	io.ReaderAt
	hook func()
}

func (h *hooked) ReadAt(p []byte, off int64) (int, error) {
	if h.hook != nil {
		h.hook()
	}
	return h.ReaderAt.ReadAt(p, off)
}

// TestSummaryCancelled checks that a caller who gives up does not fail others who wait for
// the same summary.
func TestSummaryCancelled(t *testing.T) {
	data, err := prototest.Log(1, 3000)
	if err != nil {
		t.Fatal(err)
	}
	src := &hooked{ReaderAt: bytes.NewReader(data)}
	log, err := capture.Open(t.Context(), src, int64(len(data)), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree := newTree(t, log, library(t))
	e, err := tree.Lookup(t.Context(), nodes.Root, "summary.json")
	if err != nil || e.Size != nodes.UnknownSize {
		t.Fatalf("%+v, %v: it is computed before somebody asks", e, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	other := make(chan error, 1)
	src.hook = func() {
		once.Do(func() {
			go func() {
				_, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 10), 0)
				other <- err
			}()
			cancel()
		})
	}
	if _, err := tree.ReadAt(ctx, e.ID, make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up: %v", err)
	}
	if err := <-other; err != nil {
		t.Errorf("who waited: %v", err)
	}
}

// TestLines checks that the files of lines hold what the files of packets hold, from wherever
// they are read, and streamed.
func TestLines(t *testing.T) {
	tree := newTree(t, session(t, 700), library(t))
	want := map[string]*strings.Builder{"packets.jsonl": {}}
	for _, name := range list(t, tree, "packets") {
		number, label, _ := strings.Cut(name, "-")
		label, isJSON := strings.CutSuffix(label, ".json")
		if !isJSON {
			continue
		}
		text := read(t, tree, "packets/"+number+"-"+label+".json")
		file := "by-name/" + label + ".jsonl"
		if want[file] == nil {
			want[file] = &strings.Builder{}
		}
		want[file].WriteString(text)
		want["packets.jsonl"].WriteString(text)
	}
	if names := list(t, tree, "by-name"); len(names) != len(want)-1 || names[0] != "C_CHECK_VERSION.jsonl" {
		t.Errorf("by-name has %q", names)
	}
	for path, text := range want {
		text := text.String()
		if got := read(t, tree, path); got != text {
			t.Errorf("%s has %d bytes, want %d", path, len(got), len(text))
		}
		e := find(t, tree, path)
		var b bytes.Buffer
		if n, ok, err := tree.Stream(t.Context(), e.ID, &b); !ok || err != nil || n != e.Size || b.String() != text {
			t.Errorf("%s: %d bytes are streamed, %v", path, n, err)
		}
		for _, size := range []int{1, 100, 1000, 64 << 10} {
			for off := int64(0); off < e.Size; off += max(e.Size/50, 1) {
				p := make([]byte, size)
				n, err := tree.ReadAt(t.Context(), e.ID, p, off)
				if end := min(int(off)+size, len(text)); string(p[:n]) != text[off:end] || (err != nil) != (int(off)+size > len(text)) {
					t.Fatalf("%s: %d bytes at %d: %q, %v", path, size, off, p[:n], err)
				}
			}
		}
	}
}

// TestGrowing has a log grow under a tree: nothing that was shown becomes anything else.
func TestGrowing(t *testing.T) {
	data, err := prototest.Log(1, 60)
	if err != nil {
		t.Fatal(err)
	}
	whole := newTree(t, openLog(t, data), library(t))
	log, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)/9), capture.Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	recording, err := dissect.New(log, library(t), dissect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	size, looked := make(chan int), 0
	told := make(chan nodes.Change, 100)
	grown := func(ctx context.Context) (*dissect.Recording, time.Time, error) {
		if looked++; looked == 1 {
			return nil, time.Time{}, nil
		}
		log, err := recording.Log().Grown(ctx, int64(<-size))
		if err == nil {
			recording, err = recording.Grown(log)
		}
		if err != nil {
			close(told) // the tree looks no more
		}
		return recording, mounted.Add(time.Hour), err
	}
	first := recording.Log().Len()
	tree := packettree.New(recording, library(t), packettree.Options{ModTime: mounted, Grown: grown})
	read(t, tree, "session.svg")
	before := read(t, tree, "packets.jsonl")
	if n := strings.Count(before, "\n"); n != first || n == 0 || n > 20 {
		t.Fatalf("%d packets at first", n)
	}
	ids := map[string]nodes.ID{}
	for _, dir := range []string{"packets", "by-name"} {
		for _, name := range list(t, tree, dir) {
			ids[dir+"/"+name] = find(t, tree, dir+"/"+name).ID
		}
	}
	tree.Watch(func(c nodes.Change) { told <- c })
	lines := find(t, tree, "packets.jsonl").ID
	// grownFrom waits until the tree tells that packets.jsonl has grown. Close ends a look that is
	// under way, so that the tree would not have what it has not told.
	grownFrom := func() int64 {
		for c := range told {
			if c.ID == lines {
				return c.From
			}
		}
		return -1
	}
	size <- len(data) - 3
	if from := grownFrom(); from != int64(len(before)) {
		t.Errorf("it tells that packets.jsonl has grown from %d, want %d", from, len(before))
	}
	size <- len(data)
	grownFrom()
	close(size)
	tree.Close()
	for _, path := range []string{"packets.jsonl", "summary.json", "session.svg", "by-name/C_PLAYER_LOCATION.jsonl"} {
		if got, want := read(t, tree, path), read(t, whole, path); got != want {
			t.Errorf("%s is %s\nwant %s", path, got, want)
		}
	}
	for path, id := range ids {
		if now := find(t, tree, path).ID; now != id {
			t.Errorf("%s was number %d and is %d", path, id, now)
		}
	}
	if attr, err := tree.Attr(t.Context(), lines); err != nil || !attr.ModTime.Equal(mounted.Add(time.Hour)) {
		t.Errorf("it is from %v, %v", attr.ModTime, err)
	}
	nodetest.Run(t, tree)
}
