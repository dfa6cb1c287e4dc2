package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/cmd/internal/cli"
	"lorefs/internal/testneeds"
)

// gatewayVar is the variable with the path of an object store to test with, versitygw, which
// .ci/run builds.
const gatewayVar = "LOREFS_VERSITYGW"

const (
	gatewayKey    = "lorefs-test-key"
	gatewaySecret = "lorefs-test-secret"
)

// gateway is an object store that can be killed and started again.
type gateway struct {
	t       *testing.T
	program string
	// dir has a folder for each bucket.
	dir, address string
	running      *exec.Cmd
}

// startGateway starts an object store, and sets the variables by which it is found.
func startGateway(t *testing.T) *gateway {
	t.Helper()
	program := os.Getenv(gatewayVar)
	if program == "" {
		t.Skipf("%s does not name an object store", gatewayVar)
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{t: t, program: program, dir: t.TempDir(), address: port.Addr().String()}
	port.Close()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": gatewayKey, "AWS_SECRET_ACCESS_KEY": gatewaySecret, "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": "http://" + g.address,
	} {
		t.Setenv(name, value)
	}
	g.start()
	t.Cleanup(g.kill)
	return g
}

// start starts the store, and waits until it answers.
func (g *gateway) start() {
	g.t.Helper()
	g.running = exec.Command(g.program, "--port", g.address, "posix", g.dir)
	g.running.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+gatewayKey, "ROOT_SECRET_KEY="+gatewaySecret)
	if err := g.running.Start(); err != nil {
		g.t.Fatal(err)
	}
	for range 500 {
		conn, err := net.Dial("tcp", g.address)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	g.t.Fatal("the object store does not start")
}

func (g *gateway) kill() {
	if g.running == nil {
		return
	}
	_ = g.running.Process.Kill()
	_ = g.running.Wait() // it was killed
	g.running = nil
}

// upload puts objects into a new bucket.
func (g *gateway) upload(bucket string, objects map[string][]byte) {
	g.t.Helper()
	g.put(bucket, nil)
	for name, data := range objects {
		g.put(bucket+"/"+name, data)
	}
}

// put makes a bucket, or an object.
func (g *gateway) put(name string, data []byte) {
	g.t.Helper()
	u := url.URL{Scheme: "http", Host: g.address, Path: "/" + name}
	u.RawPath = s3utils.EncodePath(u.Path)
	req, err := http.NewRequestWithContext(context.WithoutCancel(g.t.Context()), http.MethodPut, u.String(), bytes.NewReader(data))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("X-Amz-Content-Sha256", fmt.Sprintf("%x", sha256.Sum256(data)))
	resp, err := http.DefaultClient.Do(signer.SignV4(*req, gatewayKey, gatewaySecret, "", "us-east-1"))
	if err != nil {
		g.t.Fatalf("%s: %v", name, err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		g.t.Fatalf("%s: %s", name, resp.Status)
	}
}

// storedFiles are the files of a mirror: many small ones, and a large one.
func storedFiles() map[string][]byte {
	files := map[string][]byte{}
	for i := range 100 {
		files[fmt.Sprintf("lore/book %d/page %d.txt", i%7, i)] = fmt.Appendf(nil, "Page %d of the lore, number <%d>.\n%s", i, i, strings.Repeat("so it is told. ", i*40))
	}
	files["large.bin"] = make([]byte, 9<<20)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(files["large.bin"])
	return files
}

// makeMirror returns the objects of a mirror of files.
func makeMirror(t *testing.T, files map[string][]byte) write.Files {
	t.Helper()
	g := casctest.New()
	var all []root.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, root.File{Name: name, CKey: g.Add(files[name]).CKey})
	}
	g.Root(g.Add(write.TextRoot(all)))
	cdn, err := g.CDN(3)
	if err != nil {
		t.Fatal(err)
	}
	return cdn.Files
}

// TestMirrorInObjectStore uploads a mirror, and reads it while the store comes and goes.
func TestMirrorInObjectStore(t *testing.T) {
	testneeds.FUSE(t)
	g := startGateway(t)
	ownFolders(t)
	files := storedFiles()
	objects := map[string][]byte{}
	for name, data := range makeMirror(t, files) {
		objects["tpr/sample/"+name] = data
	}
	g.upload("mirror", objects)
	const source, first, other = "s3://mirror/tpr/sample", "lore/book 0/page 0.txt", "lore/book 6/page 13.txt"
	mnt := mountCASC(t, source)
	read := func(name string) error {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(mnt, "files", name))
		if err == nil && !bytes.Equal(got, files[name]) {
			t.Errorf("%s has %d wrong bytes", name, len(got))
		}
		return err
	}
	if err := read(first); err != nil {
		t.Fatal(err)
	}
	g.kill()
	if err := read(other); !errors.Is(err, syscall.EIO) {
		t.Errorf("a read while the store is away: %v", err)
	}
	if err := read(first); err != nil {
		t.Errorf("a read of what was read before: %v", err)
	}
	g.start()
	// For a second, a mount takes what failed for what would fail again.
	for end := time.Now().Add(time.Minute); read(other) != nil && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	for name := range files {
		if err := read(name); err != nil {
			t.Error(err)
		}
	}
	if found := runTool(t, mnt, "grep", "-rlF", "number <42>", "files"); found != "files/lore/book 0/page 42.txt\n" {
		t.Errorf("grep found %q", found)
	}
	status := runTool(t, "", "lorefs", "status", "--json", mnt)
	if strings.Contains(status, gatewaySecret) || strings.Contains(status, gatewayKey) || !strings.Contains(status, `"requests":`) {
		t.Errorf("the status is %s", status)
	}
	out := filepath.Join(t.TempDir(), "out")
	export(t, source, out)
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(out, "files", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("exported %s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestLaidFiles lays files into the folder of a bucket, so that they have no ETag.
func TestLaidFiles(t *testing.T) {
	testneeds.FUSE(t)
	g := startGateway(t)
	ownFolders(t)
	dir := filepath.Join(g.dir, "laid")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	runTool(t, dir, "lorefs", "sample", "s")
	for _, name := range []string{"DataCenter_Final_Sample.dat", "world", "session.TeraLog", "definitions"} {
		local, remote := filepath.Join(dir, "s", name), "s3://laid/s/"+name
		if a, b := runTool(t, "", "lorefs", "info", "--json", local), runTool(t, "", "lorefs", "info", "--json", remote); withoutTimes(a) != withoutTimes(b) {
			t.Errorf("info of %s:\n%s\nand of the file:\n%s", remote, b, a)
		}
		if out, err := exec.CommandContext(t.Context(), "lorefs", "verify", remote).CombinedOutput(); err != nil || !strings.Contains(string(out), "nothing is wrong") {
			t.Errorf("verify of %s: %v, %s", remote, err, out)
		}
	}
	want, got := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	export(t, filepath.Join(dir, "s", "DataCenter_Final_Sample.dat"), want)
	mnt := mountCASC(t, "s3://laid/s/DataCenter_Final_Sample.dat")
	runTool(t, "", "cp", "-r", filepath.Join(mnt, "sheets"), got)
	runTool(t, "", "diff", "-r", "-x", ".lorefs.json", want, got) // only an export says what it is
	if out, err := exec.CommandContext(t.Context(), "lorefs", "mount", "--rw", "s3://laid/s/world", t.TempDir()).CombinedOutput(); exitCodeOf(err) != cli.ExitUsage ||
		!strings.Contains(string(out), "s3://laid/s/world: it is on a server, and only local sources can be edited") {
		t.Errorf("mount --rw: %v, %s", err, out)
	}
	world := mountCASC(t, "s3://laid/s/world")
	zones := filepath.Join(world, "zones")
	// Before the first read, since that also begins to read the next zones.
	later := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "s", "world", "x1001y1000.zgd"), later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(zones, "x1000y1000.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(filepath.Join(zones, "x1001y1000.json")); !errors.Is(err, syscall.EIO) {
		t.Errorf("a file that was written to: %v", err)
	}
}

// export exports a source, which tells on stderr how far it is.
func export(t *testing.T, source, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "lorefs", "export", source, to).CombinedOutput(); err != nil {
		t.Fatalf("export of %s: %v, %s", source, err, out)
	}
}

func exitCodeOf(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}

// withoutTimes removes the times from a description, which a server has in whole seconds.
func withoutTimes(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "mtime") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
