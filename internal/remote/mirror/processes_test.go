package mirror_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lorefs/internal/disk"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/testneeds"
)

const (
	// childVar is the cache that a child process uses.
	childVar = "LOREFS_MIRROR_CHILD"
	// workVar is what it does: "forever", or so many rounds.
	workVar = "LOREFS_MIRROR_WORK"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		if err := work(dir, os.Getenv(workVar)); err != nil {
			panic(err)
		}
		return
	}
	m.Run()
}

const (
	objectSize = 100_000
	pieceSize  = 20_000
	objects    = 40
	// childLimit makes children trim the cache all the time.
	childLimit = 2_000_000
)

// work puts objects and pieces into a cache and reads them, as all children do at the same
// time.
func work(dir, rounds string) error {
	c, err := mirror.Open(dir, mirror.Options{Limit: childLimit, Disk: slow{}})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(rounds)
	if err != nil {
		n = math.MaxInt // until it is killed
	}
	fmt.Println("working")
	for range n {
		seed := rand.Uint64N(objects)
		o := file(byte(seed))
		data := content(seed, objectSize)
		if rand.IntN(2) == 0 {
			c.PutWhole(o, data)
		}
		off := rand.Int64N(objectSize/pieceSize) * pieceSize
		if _, ok := c.Range(o, off, pieceSize, equals(data[off:off+pieceSize])); !ok {
			c.PutPiece(o, objectSize, off, data[off:off+pieceSize])
		}
		if err := c.Trouble(); err != nil {
			return err
		}
	}
	return c.Close()
}

// slow writes a file in many parts, so that a kill hits it in the middle.
type slow struct{ disk.OS }

func (s slow) Open(path string, flag int) (disk.File, error) {
	f, err := s.OS.Open(path, flag)
	if err != nil {
		return nil, err
	}
	return slowFile{f}, nil
}

type slowFile struct{ disk.File }

func (f slowFile) WriteAt(p []byte, off int64) (int, error) {
	const part = 1000
	for i := 0; i < len(p); i += part {
		if n, err := f.File.WriteAt(p[i:min(i+part, len(p))], off+int64(i)); err != nil {
			return i + n, err
		}
	}
	return len(p), nil
}

// start starts a child, and returns when it has opened the cache.
func start(t *testing.T, dir, rounds string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), exe)
	child.Env = append(os.Environ(), childVar+"="+dir, workVar+"="+rounds)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("working\n"))
	if _, err := out.Read(said); err != nil || string(said) != "working\n" {
		t.Fatalf("the child says %q, %v", said, err)
	}
	return child
}

// checkAll checks that every file which has its name has all of its bytes, and returns how
// many there are. Nothing needs a second look to be right: this reads the files as another
// program does.
func checkAll(t *testing.T, dir string) int {
	t.Helper()
	names, _ := files(t, dir)
	checked := 0
	for _, name := range names {
		top, rest, _ := strings.Cut(name, "/")
		if top != "mirror" && top != "pieces" {
			continue
		}
		checked++
		want := content(0, 0)
		for i := range uint64(objects) {
			of := file(byte(i)).String()
			switch piece, ok := strings.CutPrefix(rest, of+"/"); {
			case ok:
				var off, size int
				if _, err := fmt.Sscanf(piece, "%x-%x", &off, &size); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				want = content(i, objectSize)[off : off+size]
			case rest == of:
				want = content(i, objectSize)
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || equals(want)(data) != nil {
			t.Errorf("%s is wrong: %d bytes, %v", name, len(data), err)
		}
	}
	return checked
}

// TestKill checks that a process that is killed while it writes leaves nothing wrong.
func TestKill(t *testing.T) {
	kills := 20
	if testneeds.Quick() {
		kills = 5
	}
	dir := t.TempDir()
	checked := 0
	for range kills {
		child := start(t, dir, "forever")
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = child.Wait() // it was killed, as it will say
		checked += checkAll(t, dir)
	}
	t.Logf("%d files were compared", checked)
}

// TestProcesses checks that eight processes can use a cache at the same time, while one of
// them is killed.
func TestProcesses(t *testing.T) {
	rounds := "60"
	if testneeds.Quick() {
		rounds = "15"
	}
	dir := t.TempDir()
	var children []*exec.Cmd
	for range 8 {
		children = append(children, start(t, dir, rounds))
	}
	killed := start(t, dir, "forever")
	if err := killed.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = killed.Wait() // it was killed, as it will say
	for _, child := range children {
		if err := child.Wait(); err != nil {
			t.Errorf("a child failed: %v", err)
		}
	}
	if n := checkAll(t, dir); n == 0 {
		t.Error("nothing was kept")
	}
	c := open(t, dir, mirror.Options{Limit: childLimit})
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	if _, size := files(t, filepath.Join(dir, "mirror")); size > childLimit {
		t.Errorf("it has %d bytes", size)
	}
}
