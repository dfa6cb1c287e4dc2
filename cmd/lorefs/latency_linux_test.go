package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lorefs/cmd/internal/mounted"
	"lorefs/internal/testneeds"
)

const (
	// latencyEdits are pending when the commit begins, and latencyWrites are made meanwhile.
	latencyEdits  = 100_000
	latencyWrites = 1000
)

// BenchmarkWriteDuringCommit measures how long a program waits that writes a file of a mount
// while a commit runs:
//
//	go test -run '^$' -bench WriteDuringCommit -benchtime 1x ./cmd/lorefs
//
// In ms at the 95th percentile: close is a close(2), and floor is what that is compared with,
// write and fsync of 4 KiB in the same folder, in turn with it; for sheets and squares, floor is
// the same close(2) without a commit. LOREFS_BENCH_SOURCE is the data center.
func BenchmarkWriteDuringCommit(b *testing.B) {
	testneeds.FUSE(b)
	testneeds.Program(b, "go") // the test binary has more in it than the program
	program := filepath.Join(b.TempDir(), "lorefs")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-buildvcs=false", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	source := os.Getenv("LOREFS_BENCH_SOURCE")
	if source == "" {
		source = testneeds.Fixture(b, "datacenter/p100_x64.dat")
	}
	run := func(name string, measure func(l *latency)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				l := &latency{wholeRun: &wholeRun{B: b, program: program, dir: b.TempDir()}}
				measure(l)
				b.ReportMetric(percentile(l.closes), "close-p95-ms")
				b.ReportMetric(percentile(l.floor), "floor-p95-ms")
				b.ReportMetric(percentile(l.closes)-percentile(l.floor), "more-ms")
				b.ReportMetric(float64(l.commits), "commits")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	run("attribute", func(l *latency) {
		mnt := l.edited(source)
		files := l.glob(filepath.Join(mnt, "tree", "ItemData", "Item*", "level"))
		l.during(mnt, func(i int) {
			l.write(&l.closes, files[i%len(files)], []byte(strconv.Itoa(i+2)))
			l.synced(filepath.Join(l.dir, "floor"))
		})
		l.lorefs("unmount", mnt)
		for i := latencyWrites - 10; i < latencyWrites; i++ {
			l.holds("tree/"+strings.SplitN(files[i%len(files)], "/tree/", 2)[1], strconv.Itoa(i+2))
		}
	})
	run("sheet", func(l *latency) {
		mnt := l.edited(source)
		text, number := l.sheet(mnt)
		write := func(to *[]float64, i int) {
			l.write(to, filepath.Join(mnt, latencySheet), slices.Replace(slices.Clone(text), number[0], number[1], []byte(strconv.Itoa(i+2))...))
		}
		for i := range latencyWrites {
			write(&l.floor, i)
		}
		l.during(mnt, func(i int) { write(&l.closes, i) })
		now := l.read(filepath.Join(mnt, latencySheet))
		l.lorefs("unmount", mnt)
		l.holds(latencySheet, now)
	})
	run("square", func(l *latency) {
		l.source = filepath.Join(l.dir, "world")
		l.lorefs("sample", filepath.Join(l.dir, "sample"))
		if err := os.Rename(filepath.Join(l.dir, "sample", "world"), l.source); err != nil {
			b.Fatal(err)
		}
		mnt := l.mount("--rw", "--no-backup")
		name := squareName("x1000y1000", 0)
		text := l.read(filepath.Join(mnt, name))
		before, behind, _ := strings.Cut(text, firstVolume)
		_, behind, _ = strings.Cut(behind, ",")
		square := func(i int) []byte { return []byte(before + firstVolume + strconv.Itoa(-1000-i) + "," + behind) }
		for i := range latencyWrites {
			l.write(&l.floor, filepath.Join(mnt, name), square(i))
		}
		l.during(mnt, func(i int) { l.write(&l.closes, filepath.Join(mnt, name), square(latencyWrites+i)) })
		now := l.read(filepath.Join(mnt, name))
		l.lorefs("unmount", mnt)
		l.holds(name, now)
	})
}

// latencySheet is the sheet that is written. It has 70 KiB in p100.
const latencySheet = "sheets/ItemData/ItemData-00000.xml"

// latency measures one kind of write, in ms.
type latency struct {
	*wholeRun
	closes, floor []float64
	// commits counts the commits that ran meanwhile.
	commits int
}

func percentile(values []float64) float64 {
	const most = 95
	slices.Sort(values)
	return values[len(values)*most/100]
}

// number is an attribute of a sheet that has a number.
var number = regexp.MustCompile(` (?:level|rank|buyPrice|sellPrice|price|value|maxHp|atk|def|str)="([1-9][0-9]{0,5})"`)

// edited mounts a copy of a data center and makes edits of its sheets.
func (l *latency) edited(source string) (mnt string) {
	l.Helper()
	l.source = filepath.Join(l.dir, "a.dat")
	copyTo(l.B, l.source, source)
	mnt = l.mount("--rw", "--no-backup")
	edits := 0
	for _, sheet := range l.glob(filepath.Join(mnt, "sheets", "*", "*.xml")) {
		if edits >= latencyEdits {
			break
		}
		text := []byte(l.read(sheet))
		whole := number.ReplaceAllFunc(text, func(attribute []byte) []byte {
			edits++
			name, _, _ := bytes.Cut(attribute, []byte(`"`))
			return fmt.Appendf(nil, `%s"%d"`, name, edits%1_000_000+2)
		})
		if !bytes.Equal(text, whole) {
			if err := os.WriteFile(sheet, whole, 0o600); err != nil {
				edits -= len(number.FindAll(text, -1)) // a value may be of a type that has no such number
			}
		}
	}
	var s mounted.Status
	if err := json.Unmarshal([]byte(l.lorefs("status", "--json", mnt)), &s); err != nil {
		l.Fatal(err)
	}
	l.Logf("%d edits are pending", s.Editing.Pending)
	return mnt
}

// sheet returns the text of latencySheet, and where a number is in it.
func (l *latency) sheet(mnt string) (text []byte, at []int) {
	l.Helper()
	text = []byte(l.read(filepath.Join(mnt, latencySheet)))
	m := number.FindSubmatchIndex(text)
	if m == nil {
		l.Fatalf("%s has no number", latencySheet)
	}
	return text, m[2:4]
}

// during calls write while commits run, latencyWrites times in all.
func (l *latency) during(mnt string, write func(i int)) {
	l.Helper()
	var ended chan error
	for i := range latencyWrites {
		select {
		case err := <-ended:
			if err != nil {
				l.Fatal(err)
			}
			ended = nil
		default:
		}
		if ended == nil {
			ended = make(chan error, 1)
			commit := exec.CommandContext(l.Context(), l.program, "commit", mnt)
			commit.Env = append(os.Environ(), "XDG_STATE_HOME="+l.dir)
			go func() { ended <- commit.Run() }()
			l.commits++
		}
		write(i)
	}
	if err := <-ended; err != nil {
		l.Fatal(err)
	}
}

// write writes a file, and adds how long its close took.
func (l *latency) write(to *[]float64, file string, text []byte) {
	l.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = f.Write(text)
	}
	if err != nil {
		l.Fatal(err)
	}
	began := time.Now()
	if err := f.Close(); err != nil {
		l.Fatal(err)
	}
	*to = append(*to, time.Since(began).Seconds()*1e3)
}

// synced adds how long 4 KiB take to be written and synced.
func (l *latency) synced(file string) {
	l.Helper()
	f, err := os.Create(file)
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	began := time.Now()
	const page = 4 << 10
	if _, err = f.Write(make([]byte, page)); err == nil {
		err = f.Sync()
	}
	if err != nil {
		l.Fatal(err)
	}
	l.floor = append(l.floor, time.Since(began).Seconds()*1e3)
}

func (l *latency) glob(pattern string) []string {
	l.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		l.Fatalf("%s: %v", pattern, err)
	}
	return paths
}

func (l *latency) read(path string) string {
	l.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

// holds checks that the source has what was written.
func (l *latency) holds(name, want string) {
	l.Helper()
	if got := l.lorefs("cat", l.source, name); strings.TrimSpace(got) != strings.TrimSpace(want) {
		l.Errorf("the source has another %s: %.100q, want %.100q", name, got, want)
	}
}
