package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lorefs/blte/bltetest"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/cmd/internal/kinds/cdntest"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

// webServer serves a folder, counts, and can be told to fail.
type webServer struct {
	*httptest.Server
	requests, sent atomic.Int64
	away           atomic.Bool
}

func serveFolder(t *testing.T, dir string) *webServer {
	t.Helper()
	s := &webServer{}
	files := http.FileServer(http.Dir(dir))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if s.away.Load() {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		files.ServeHTTP(&sending{w, &s.sent}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// sending counts the bytes of bodies.
type sending struct {
	http.ResponseWriter
	sent *atomic.Int64
}

// Write counts first: who has read all may ask for the count before Write returns.
func (s *sending) Write(p []byte) (int, error) {
	s.sent.Add(int64(len(p)))
	return s.ResponseWriter.Write(p)
}

// took returns how many requests and bytes there were since it was called last.
func (s *webServer) took() string {
	return fmt.Sprintf("%d requests, %d bytes", s.requests.Swap(0), s.sent.Swap(0))
}

// setOld gives all files of a folder a time that is long past, so that the cache may keep them.
func setOld(t *testing.T, dir string) {
	t.Helper()
	old := time.Unix(1_500_000_000, 0)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writeIndex writes the list of files that a web server's folder needs.
func writeIndex(t *testing.T, dir string) {
	t.Helper()
	list := runTool(t, dir, "find", ".", "-type", "f")
	if err := os.WriteFile(filepath.Join(dir, "index.txt"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWebSources compares what commands say of sources on a web server and on this machine.
func TestWebSources(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	dir := t.TempDir()
	runTool(t, dir, "lorefs", "sample", "s")
	dir = filepath.Join(dir, "s")
	put(t, filepath.Join(dir, "pictures", "one.png"), bltetest.Noise(3<<20, 1))
	put(t, filepath.Join(dir, "pictures", "two.png"), bltetest.Noise(100, 2))
	runTool(t, dir, "lorefs", "pack", "--kind", "resources", "pictures", "resources.dat")
	for _, name := range []string{"world", "definitions"} {
		writeIndex(t, filepath.Join(dir, name))
	}
	setOld(t, dir)
	s := serveFolder(t, dir)
	for _, args := range [][]string{
		{"info", "DataCenter_Final_Sample.dat"},
		{"ls", "-l", "DataCenter_Final_Sample.dat", "sheets"},
		{"cat", "DataCenter_Final_Sample.dat", "datacenter.json"},
		{"query", "DataCenter_Final_Sample.dat", "//@id"},
		{"find", "DataCenter_Final_Sample.dat", "--name", "*.xml"},
		{"info", "session.TeraLog"},
		{"cat", "session.TeraLog", "session.json"},
		{"decode", "session.TeraLog", "--definitions=" + filepath.Join(dir, "definitions")},
		{"info", "definitions"},
		{"info", "resources.dat"},
		{"info", "--kind=resources", "resources.dat"},
		{"ls", "-l", "resources.dat"},
		{"cat", "resources.dat", "one.png"},
		{"find", "resources.dat"},
		{"verify", "resources.dat"},
		{"ls", "world", "zones"},
		{"cat", "world", "statistics/x1000y1000.json"},
	} {
		local, remote := slices.Clone(args), slices.Clone(args)
		at := slices.IndexFunc(args, func(arg string) bool { _, err := os.Stat(filepath.Join(dir, arg)); return err == nil })
		local[at], remote[at] = filepath.Join(dir, args[at]), s.URL+"/"+args[at]
		want, got := outputOf(local), outputOf(remote)
		if strings.ReplaceAll(want, dir, s.URL) != got || want == "" {
			t.Errorf("%q says\n%.400s\nand of the web server\n%.400s", args, want, got)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "lorefs", "diff", s.URL+"/DataCenter_Final_Sample.dat", filepath.Join(dir, "DataCenter_Final_Sample.dat")).CombinedOutput(); err != nil {
		t.Errorf("diff: %v, %s", err, out)
	}
	for args, want := range map[string]string{
		"info " + s.URL + "/none":                               "neither index.txt",
		"info " + s.URL + "/none.dat":                           "/none.dat: there is no such file on the server\n",
		"info http:/none":                                       "want http://HOST/PATH",
		"info s3:none":                                          "want s3://BUCKET/PREFIX",
		"info http://user:hidden@127.0.0.1:1/a?key=hidden":      "http://127.0.0.1:1/a?…",
		"mount --rw " + s.URL + "/world " + t.TempDir():         "only local sources can be edited",
		"mount --rw " + s.URL + "/resources.dat " + t.TempDir(): "only local sources can be edited",
	} {
		out, err := exec.CommandContext(t.Context(), "lorefs", strings.Fields(args)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "hidden") {
			t.Errorf("%s: %v, %s", args, err, out)
		}
	}
}

// outputOf returns what a command says.
func outputOf(args []string) string {
	out, _ := exec.Command("lorefs", args...).CombinedOutput() // how it ends is seen in what it says
	return string(out)
}

// TestUnaskedAnswer reads from a server that goes on sending after its answer: that is in the log, as
// all that only helps to find mistakes, and nowhere else.
func TestUnaskedAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runTool(t, dir, "lorefs", "sample", "s")
	setOld(t, dir)
	files := http.FileServer(http.Dir(filepath.Join(dir, "s")))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		files.ServeHTTP(answer, r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		result := answer.Result()
		result.ContentLength = int64(answer.Body.Len())
		var out bytes.Buffer
		_ = result.Write(&out) // into memory
		out.WriteString("\x1b[31mGARBAGE")
		_, _ = conn.Write(out.Bytes()) // a client that leaves is no fault of the server
	}))
	t.Cleanup(s.Close)
	name := s.URL + "/DataCenter_Final_Sample.dat"
	for _, level := range []string{"error", "warn", "info", "debug"} {
		var out bytes.Buffer
		c := exec.CommandContext(t.Context(), "lorefs", "cat", "--log-level", level, "--cache-dir", t.TempDir(), name, "datacenter.json")
		c.Stderr = &out
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
		logged := strings.Contains(out.String(), `level=DEBUG msg="Unsolicited response`)
		if logged != (level == "debug") || strings.Count(out.String(), "Unsolicited") != strings.Count(out.String(), "level=DEBUG msg=\"Unsolicited") {
			t.Errorf("--log-level %s: %s", level, &out)
		}
	}
}

// TestLocalNames opens files that are called as sources elsewhere are.
func TestLocalNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runTool(t, dir, "lorefs", "sample", "s")
	if err := os.Rename(filepath.Join(dir, "s", "DataCenter_Final_Sample.dat"), filepath.Join(dir, "s3:a")); err != nil {
		t.Fatal(err)
	}
	runTool(t, dir, "lorefs", "info", "./s3:a")
	c := exec.CommandContext(t.Context(), "lorefs", "info", "s3:a")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "want s3://BUCKET/PREFIX") {
		t.Errorf("%v, %s", err, out)
	}
}

// TestMirrorOnWeb mounts a mirror of a web server, which goes away for a time.
func TestMirrorOnWeb(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	testneeds.FUSE(t)
	files := storedFiles()
	mirror := makeMirror(t, files)
	dir := t.TempDir()
	for name, data := range mirror {
		put(t, filepath.Join(dir, "tpr", "sample", filepath.FromSlash(name)), data)
	}
	s := serveFolder(t, dir)
	source := s.URL + "/tpr/sample"
	if out := outputOf([]string{"info", source}); !strings.Contains(out, "--build and --cdn have to say") {
		t.Errorf("info: %s", out)
	}
	build, cdn := configKeys(t, mirror)
	flags := []string{"--build=" + build, "--cdn=" + cdn}
	s.took()
	mnt := mountCASC(t, source, flags...)
	names := slices.Sorted(maps.Keys(files))
	runTool(t, mnt, "find", "files", "-size", "+1")
	t.Logf("a first listing with sizes: %s", s.took())
	check := func(name string) error {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(mnt, "files", name))
		if err == nil && !bytes.Equal(got, files[name]) {
			t.Errorf("%s has %d wrong bytes", name, len(got))
		}
		return err
	}
	if err := check(names[1]); err != nil {
		t.Error(err)
	}
	t.Logf("a file: %s", s.took())
	s.away.Store(true)
	if err := check(names[2]); !errors.Is(err, syscall.EIO) {
		t.Errorf("a read while the server is away: %v", err)
	}
	s.away.Store(false)
	time.Sleep(time.Second) // until then it isn't asked again
	for _, name := range names {
		if err := check(name); err != nil {
			t.Error(err)
		}
	}
	s.took()
	again := mountCASC(t, source, flags...)
	runTool(t, again, "find", "files", "-size", "+1")
	runTool(t, "", "diff", "-r", mnt+"/files", again+"/files")
	if took := s.took(); took != "1 requests, 1 bytes" { // for the time of the build
		t.Errorf("a second mount, and all files: %s", took)
	}
	s.away.Store(true)
	offline := mountCASC(t, source, append(flags, "--offline")...)
	s.took()
	runTool(t, "", "diff", "-r", mnt+"/files", offline+"/files")
	if took := s.took(); took != "0 requests, 0 bytes" {
		t.Errorf("offline: %s", took)
	}
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// configKeys returns the keys of the configurations of a mirror with one build.
func configKeys(t *testing.T, mirror write.Files) (build, cdn string) {
	t.Helper()
	for name, data := range mirror {
		switch {
		case !strings.HasPrefix(name, "config/"):
		case bytes.Contains(data, []byte("encoding = ")):
			build = filepath.Base(name)
		case bytes.Contains(data, []byte("archives = ")):
			cdn = filepath.Base(name)
		}
	}
	if build == "" || cdn == "" {
		t.Fatal("no configurations")
	}
	return build, cdn
}

// TestMountedURL reads a mount of a web server long after it was opened, and looks for the
// password where others can see it: in the arguments and the environment of the process that
// serves the mount, and in the table of mounts.
func TestMountedURL(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	testneeds.FUSE(t)
	dir := t.TempDir()
	runTool(t, dir, "lorefs", "sample", "s")
	dir = filepath.Join(dir, "s")
	sheet, _, _ := strings.Cut(runTool(t, dir, "lorefs", "find", "DataCenter_Final_Sample.dat", "--name", "*.xml"), "\n")
	s := serveFolder(t, dir)
	at := strings.Replace(s.URL, "http://", "http://me:hidden@", 1)
	for name, file := range map[string]string{
		"DataCenter_Final_Sample.dat": sheet,
		"session.TeraLog":             "packets.jsonl",
	} {
		mnt := t.TempDir()
		out := runTool(t, dir, "lorefs", "mount", "--no-cache", "--json", at+"/"+name+"?key=hidden", mnt)
		var status struct {
			PID int `json:"pid"`
		}
		if err := json.Unmarshal([]byte(out), &status); err != nil {
			t.Fatal(err)
		}
		var seen []byte
		of := fmt.Sprintf("/proc/%d/", status.PID)
		for _, path := range []string{of + "cmdline", of + "environ", "/proc/mounts"} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, text...)
		}
		if bytes.Contains(seen, []byte("hidden")) || !bytes.Contains(seen, []byte(name)) {
			t.Errorf("a password can be seen: %q", seen)
		}
		got, err := os.ReadFile(filepath.Join(mnt, file))
		runTool(t, dir, "lorefs", "unmount", mnt)
		if want := outputOf([]string{"cat", filepath.Join(dir, name), file}); err != nil || string(got) != want {
			t.Errorf("%s of %s: %d bytes, %v", file, name, len(got), err)
		}
	}
}

// TestServedInstall checks that an installed game on a server is called what it is.
func TestServedInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runTool(t, dir, "lorefs", "sample", "s")
	s := serveFolder(t, filepath.Join(dir, "s", "game"))
	out, err := exec.CommandContext(t.Context(), "lorefs", "ls", "--no-cache", s.URL).CombinedOutput()
	if err == nil || !strings.Contains(string(out), ": an installed game: only mirrors are read from a server") {
		t.Errorf("lorefs says %q, %v", out, err)
	}
}

// stallingServer serves a folder until it is to be silent: then it takes requests, and says when
// one has come and when its client has left.
type stallingServer struct {
	*httptest.Server
	silent     atomic.Bool
	came, left chan struct{}
}

func serveStalling(t *testing.T, dir string) *stallingServer {
	t.Helper()
	const many = 100
	s := &stallingServer{came: make(chan struct{}, many), left: make(chan struct{}, many)}
	files := http.FileServer(http.Dir(dir))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.silent.Load() && r.Header.Get("Range") != "" {
			s.came <- struct{}{}
			<-r.Context().Done()
			s.left <- struct{}{}
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s
}

// TestInterruptedRead interrupts a program that reads a mounted data center from a server that
// sends nothing: it ends, its request does, and what is read later is right.
func TestInterruptedRead(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	testneeds.FUSE(t)
	dir := t.TempDir()
	var sheets []*dctest.Node
	for i := range 8 {
		noise := base64.StdEncoding.EncodeToString(bltetest.Noise(30_000, uint64(i)))
		sheet := &dctest.Node{Name: fmt.Sprintf("Sheet%d", i)}
		for j := range 40 {
			sheet.Children = append(sheet.Children, &dctest.Node{Name: "Row", Attrs: []dctest.Attr{{Name: "text", Value: fmt.Sprint(j) + noise[j*900:]}}})
		}
		sheets = append(sheets, sheet)
	}
	put(t, filepath.Join(dir, "large.dat"), dctest.Build(dctest.Doc{Root: dctest.Root(sheets...)}, dctest.Options{}))
	setOld(t, dir)
	s := serveStalling(t, dir)
	name := "large.dat"
	local := filepath.Join(dir, name)
	runTool(t, "", "lorefs", "info", s.URL+"/"+name) // keeps the index
	fetched := filepath.Join(t.TempDir(), "fetched")
	mnt := t.TempDir()
	runTool(t, "", "lorefs", "mount", "--cache-dir", fetched, s.URL+"/"+name, mnt)
	t.Cleanup(func() {
		if out, err := exec.Command("lorefs", "unmount", mnt).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v: %s", err, out)
			detachBelow(filepath.Dir(mnt))
		}
	})
	s.silent.Store(true)
	file := "tree/Sheet4/Row.7/text"
	cat := exec.CommandContext(t.Context(), "cat", filepath.Join(mnt, file))
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	<-s.came
	if err := cat.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cat.Wait(); err == nil {
		t.Error("cat has read what was not sent")
	}
	<-s.left
	s.silent.Store(false)
	got, err := os.ReadFile(filepath.Join(mnt, file))
	if want := outputOf([]string{"cat", local, file}); err != nil || string(got) != want {
		t.Errorf("after it: %d bytes, want %d, %v", len(got), len(want), err)
	}
}

// TestLedInside has a server of the public network lead to this machine and to addresses of the
// user's own network, for each kind of source on a server: nothing is asked there. A server that the
// user has named by such an address may lead there.
func TestLedInside(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	var led atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		led.Add(1)
		_, _ = w.Write([]byte("secret")) // a client that leaves is no fault of the server
	}))
	defer inside.Close()
	var target atomic.Value
	// It answers as a proxy, too, and so for all names of the public network.
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target.Load().(string)+r.URL.Path, http.StatusFound)
	}))
	defer first.Close()
	_, c, err := casctest.NewLargeCDN(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	cdn := cdntest.Start(1, c, "1.0.0.1")
	defer cdn.Close()
	const public = "http://public.example.com"
	sources := map[string]func(server string) []string{
		"file":   func(server string) []string { return []string{server + "/a.dat"} },
		"folder": func(server string) []string { return []string{server + "/mirror/"} },
		"store":  func(server string) []string { return []string{"--endpoint", server, "s3://bucket/a.dat"} },
		"objects of a CDN": func(server string) []string {
			return []string{"--host", server, "--version-host", cdn.VersionHost(), "cdn:" + cdntest.Product}
		},
		"tables of a CDN": func(server string) []string {
			return []string{"--host", cdn.Hosts()[0], "--version-host", server, "cdn:" + cdntest.Product}
		},
	}
	info := func(args []string) (string, int64) {
		led.Store(0)
		c := exec.CommandContext(t.Context(), "lorefs", append([]string{"info"}, args...)...)
		c.Env = append(os.Environ(), "HTTP_PROXY="+first.URL, "XDG_CACHE_HOME="+t.TempDir(),
			"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true")
		out, err := c.CombinedOutput()
		if err == nil {
			t.Errorf("%v: %s", args, out) // neither the page nor "secret" is a source
		}
		return string(out), led.Load()
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(inside.URL, "http://"), ":")
	targets := []string{inside.URL, "http://169.254.169.254", "http://localhost:" + port, "http://10.0.0.1:" + port, "http://[fe80::1]"}
	for name, args := range sources {
		for _, to := range targets[:testneeds.Cases(2, len(targets), len(targets))] {
			target.Store(to)
			if out, led := info(args(public)); led > 0 || !strings.Contains(out, "leads to") {
				t.Errorf("%s: led to %s %d times: %s", name, to, led, out)
			}
		}
		target.Store(inside.URL)
		if out, led := info(args(first.URL)); led == 0 {
			t.Errorf("%s: the user's own server did not lead there: %s", name, out)
		}
	}
}
