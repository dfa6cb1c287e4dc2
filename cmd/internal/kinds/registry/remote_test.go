package registry_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/internal/remote/objects"
	"lorefs/nodes"
	"lorefs/protocol/prototest"
)

// stalling serves a folder. While it is silent it sends nothing of definitions, and says for which
// somebody waits, and who has left.
type stalling struct {
	files      http.Handler
	silent     atomic.Bool
	again      chan struct{} // closed when it is not silent any more
	came, left chan string
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.silent.Load() && path.Ext(r.URL.Path) == ".def" {
		s.came <- path.Base(r.URL.Path)
		select {
		case <-r.Context().Done():
			s.left <- path.Base(r.URL.Path)
			return
		case <-s.again:
		}
	}
	s.files.ServeHTTP(w, r)
}

// TestGrowsWithDistantDefinitions opens a session that is being recorded here, with definitions
// that lie on a server. It grows, although the server is silent for a while and somebody else who
// waits for it leaves.
func TestGrowsWithDistantDefinitions(t *testing.T) {
	const other = "S_OTHER.1.def"
	definitions := prototest.Files()
	definitions["defs/"+other] = &fstest.MapFile{Data: []byte("int32 x\n")}
	names := slices.Sorted(maps.Keys(definitions))
	definitions[objects.IndexName] = &fstest.MapFile{Data: []byte(strings.Join(names, "\n") + "\n")}
	for _, f := range definitions {
		f.ModTime = time.Unix(1, 0) // without a time nothing is read in parts
	}
	const many = 100
	server := &stalling{files: http.FileServerFS(definitions), came: make(chan string, many), left: make(chan string, many), again: make(chan struct{})}
	web := httptest.NewServer(server)
	defer web.Close()
	defer web.CloseClientConnections()

	data, err := prototest.Log(1, 60)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "session.TeraLog")
	if err := os.WriteFile(file, data[:len(data)/9], 0o600); err != nil {
		t.Fatal(err)
	}
	o := &kinds.Options{NoIndex: true}
	o.Packets.Definitions, o.Packets.Follow = web.URL, true
	o.Packets.Inline = true // which needs no look at all definitions
	o.CASC.CDN.CacheDir = t.TempDir()
	k, err := registry.Find(t.Context(), file, "", o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Open(t.Context(), file, o)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(t, s)
	tree, ok := nodes.Changes(s.Tree)
	if !ok {
		t.Fatal("the tree never changes")
	}
	told := make(chan nodes.Change, many)
	tree.Watch(func(c nodes.Change) { told <- c })

	server.silent.Store(true)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data[len(data)/9:]); err != nil {
		t.Fatal(err)
	}
	<-server.came // the growth waits
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	reads := make(chan error)
	go func() {
		found, err := s.Find(ctx, "definitions/"+strings.TrimSuffix(other, ".def")+".json")
		if err == nil {
			_, err = s.Tree.Attr(ctx, found.ID)
		}
		reads <- err
	}()
	for waitsFor := ""; waitsFor != other; {
		waitsFor = <-server.came
	}
	leave()
	if err := <-reads; !errors.Is(err, context.Canceled) {
		t.Errorf("who has left got %v", err)
	}
	for lefts := map[string]bool{}; len(lefts) < 2 || !lefts[other]; { // the growth has to wait no more, either
		lefts[<-server.left] = true
	}
	server.silent.Store(false)
	close(server.again)
	for len(told) == 0 && s.Check() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
