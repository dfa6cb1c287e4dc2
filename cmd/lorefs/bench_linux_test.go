package main

import (
	"cmp"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/testneeds"
)

// wholeRun is one run of something that users do, in folders of its own.
type wholeRun struct {
	*testing.B
	program, source, dir string
}

// wholeBenchmarks are what users wait for. Each gives how long it took, in seconds, or how
// much memory, in MiB.
var wholeBenchmarks = []struct {
	name, unit string
	once       func(r *wholeRun) float64
}{
	{"first mount", "s", (*wholeRun).firstMount},
	{"second mount", "s", (*wholeRun).secondMount},
	{"walk", "s", (*wholeRun).walk},
	{"memory of a walk", "MiB", (*wholeRun).walkMemory},
	{"unmount after an edit", "s", (*wholeRun).unmountEdited},
	{"export", "s", (*wholeRun).export},
	{"pack", "s", (*wholeRun).pack},
}

// BenchmarkProgram measures the whole program on a data center:
//
//	go test -run '^$' -bench Program/first -benchtime 10x ./cmd/lorefs
//
// Beside each median time stands how often Go's standard library could decrypt and inflate
// the file meanwhile, as xF. LOREFS_BENCH_SOURCE is the data center. LOREFS_BENCH_BASE is
// another build of lorefs: it takes turns with this one, and the median of the ratios is
// reported as x-base.
func BenchmarkProgram(b *testing.B) {
	testneeds.FUSE(b)
	source := os.Getenv("LOREFS_BENCH_SOURCE")
	if source == "" {
		source = testneeds.Fixture(b, "datacenter/p100_x64.dat")
	}
	ours, base := filepath.Join(b.TempDir(), "lorefs"), os.Getenv("LOREFS_BENCH_BASE")
	testneeds.Program(b, "go") // the test is a program with more in it
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-buildvcs=false", "-o", ours, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, m := range wholeBenchmarks {
		b.Run(m.name, func(b *testing.B) {
			var values, floors, ratios []float64
			once := func(program string) float64 {
				return m.once(&wholeRun{b, program, source, b.TempDir()})
			}
			for b.Loop() {
				floors = append(floors, floorSeconds(b, source))
				before := 0.0
				if base != "" && len(values)%2 == 0 {
					before = once(base)
				}
				v := once(ours)
				if base != "" && len(values)%2 == 1 {
					before = once(base)
				}
				values, ratios = append(values, v), append(ratios, v/before)
			}
			b.ReportMetric(0, "ns/op") // of the runs, the floor and all preparations together
			b.ReportMetric(median(values), m.unit)
			if m.unit == "s" {
				b.ReportMetric(median(values)/median(floors), "xF")
			}
			if base != "" {
				b.ReportMetric(median(ratios), "x-base")
			}
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// floorSeconds is what decrypting and inflating take alone.
func floorSeconds(b *testing.B, source string) float64 {
	b.Helper()
	start := time.Now()
	if err := inflateAll(source, datacenter.DefaultKeys()[0]); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

// lorefs runs the program with the folders of the run.
func (r *wholeRun) lorefs(args ...string) string {
	r.Helper()
	c := exec.CommandContext(r.Context(), r.program, args...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+r.dir, "XDG_STATE_HOME="+r.dir, "XDG_RUNTIME_DIR="+r.dir)
	out, err := c.CombinedOutput()
	if err != nil {
		r.Fatalf("%s: %v: %.500s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// mount mounts the source, and gives where tree/ is.
func (r *wholeRun) mount(args ...string) (mnt string) {
	r.Helper()
	mnt, err := os.MkdirTemp(r.dir, "mnt")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { detachBelow(r.dir) })
	r.lorefs(append(append([]string{"mount"}, args...), r.source, mnt)...)
	return mnt
}

// firstMount is until tree/ is listed.
func (r *wholeRun) firstMount() float64 {
	start := time.Now()
	mnt := r.mount()
	if _, err := os.ReadDir(filepath.Join(mnt, "tree")); err != nil {
		r.Fatal(err)
	}
	seconds := time.Since(start).Seconds()
	r.lorefs("unmount", mnt)
	return seconds
}

func (r *wholeRun) secondMount() float64 {
	r.firstMount()
	return r.firstMount()
}

// benchedSheet is walked, if the source has it: it has 230,000 entries in p100.
const benchedSheet = "tree/SkillData"

// walk is that of a sheet, just mounted.
func (r *wholeRun) walk() float64 {
	mnt := r.mount()
	dir := filepath.Join(mnt, benchedSheet)
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(mnt, "tree")
	}
	start := time.Now()
	n, err := exec.Command("find", dir).Output()
	seconds := time.Since(start).Seconds()
	if err != nil || len(n) == 0 {
		r.Fatalf("find: %v", err)
	}
	r.lorefs("unmount", mnt)
	return seconds
}

// walkMemory is the peak of what serves a walk of as much as -entries says.
func (r *wholeRun) walkMemory() float64 {
	mnt := r.mount()
	findSome(r.B, filepath.Join(mnt, "tree"), *largeWalk)
	peak := peakOf(r.B, r.lorefs("status", "--json", mnt))
	r.lorefs("unmount", mnt)
	return float64(peak) / (1 << 20)
}

// unmountEdited is an unmount that saves one edit.
func (r *wholeRun) unmountEdited() float64 {
	copied := filepath.Join(r.dir, filepath.Base(r.source))
	copyTo(r.B, copied, r.source)
	r.source = copied
	mnt := r.mount("--rw", "--no-backup")
	changeOne(r.B, filepath.Join(mnt, "tree"))
	start := time.Now()
	r.lorefs("unmount", mnt)
	return time.Since(start).Seconds()
}

func copyTo(b *testing.B, to, from string) {
	b.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// changeOne adds one to the first number below a directory.
func changeOne(b *testing.B, dir string) {
	b.Helper()
	changed := false
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return nil //nolint:nilerr // the next one is a number
		}
		changed = true
		return cmp.Or(os.WriteFile(path, strconv.AppendInt(nil, int64(n+1), 10), 0o600), iofs.SkipAll)
	})
	if err != nil || !changed {
		b.Fatalf("nothing could be edited: %v", err)
	}
}

func (r *wholeRun) export() float64 {
	start := time.Now()
	r.lorefs("export", r.source, filepath.Join(r.dir, "sheets"))
	return time.Since(start).Seconds()
}

func (r *wholeRun) pack() float64 {
	r.export()
	start := time.Now()
	r.lorefs("pack", filepath.Join(r.dir, "sheets"), filepath.Join(r.dir, "packed.dat"))
	return time.Since(start).Seconds()
}
