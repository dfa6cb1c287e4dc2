package main

import (
	"cmp"
	"fmt"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lorefs/casc/casctest"
	"lorefs/datacenter"
	"lorefs/internal/testneeds"
)

// wholeRun is one run of something that users do, with its own folders.
type wholeRun struct {
	*testing.B
	program, source, dir string
}

// wholeBenchmark is something that users wait for. once returns its time in seconds, or its
// memory in MiB.
type wholeBenchmark struct {
	name, unit string
	once       func(r *wholeRun) float64
}

// BenchmarkProgram measures the whole program on a data center:
//
//	go test -run '^$' -bench Program/first -benchtime 10x ./cmd/lorefs
//
// Beside each median time, xF says how often Go's standard library could decrypt and inflate
// the file in this time. LOREFS_BENCH_SOURCE is the data center. LOREFS_BENCH_BASE is
// another build of lorefs: the two take turns, and x-base is the median of the ratios.
func BenchmarkProgram(b *testing.B) {
	source := os.Getenv("LOREFS_BENCH_SOURCE")
	if source == "" {
		source = testneeds.Fixture(b, "datacenter/p100_x64.dat")
	}
	benchWhole(b, source, []wholeBenchmark{
		{"first mount", "s", func(r *wholeRun) float64 { return r.untilListed("tree") }},
		{"second mount", "s", func(r *wholeRun) float64 { r.untilListed("tree"); return r.untilListed("tree") }},
		{"walk", "s", (*wholeRun).walk},
		{"families by key", "s", func(r *wholeRun) float64 { return r.listed("by-key") }},
		{"items by key", "s", func(r *wholeRun) float64 { return r.listed("by-key/ItemData/Item") }},
		{"memory of a walk", "MiB", (*wholeRun).walkMemory},
		{"unmount after an edit", "s", (*wholeRun).unmountEdited},
		{"export", "s", (*wholeRun).export},
		{"pack", "s", (*wholeRun).pack},
		{"verify", "s", func(r *wholeRun) float64 { return r.seconds(func() { r.lorefs("verify", r.source) }) }},
	}, func() float64 {
		start := time.Now()
		if err := inflateAll(source, datacenter.DefaultKeys()[0]); err != nil {
			b.Fatal(err)
		}
		return time.Since(start).Seconds()
	})
}

// BenchmarkStorage is BenchmarkProgram for a CASC storage: LOREFS_BENCH_STORAGE, or a
// generated one. LOREFS_BENCH_FLOOR is a command that reads and hashes all files of the
// storage by other means: xF is how often it could have run in the time.
func BenchmarkStorage(b *testing.B) {
	source := os.Getenv("LOREFS_BENCH_STORAGE")
	if source == "" {
		source = b.TempDir()
		l, err := casctest.NewLarge(20_000)
		if err == nil {
			err = l.Files.Write(source)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	benchWhole(b, source, []wholeBenchmark{
		{"first mount", "s", func(r *wholeRun) float64 { return r.untilListed("") }},
		{"second mount", "s", func(r *wholeRun) float64 { r.untilListed(""); return r.untilListed("") }},
		{"one reader", "s", func(r *wholeRun) float64 { return r.readAll(1) }},
		{"two readers", "s", func(r *wholeRun) float64 { return r.readAll(2) }},
		{"export", "s", (*wholeRun).export},
		{"verify", "s", func(r *wholeRun) float64 { return r.seconds(func() { r.lorefs("verify", r.source) }) }},
	}, commandFloor(b, strings.Fields(os.Getenv("LOREFS_BENCH_FLOOR"))))
}

// commandFloor returns a floor for benchWhole: how long a command takes. It is nil if there is
// no command.
func commandFloor(b *testing.B, command []string) func() float64 {
	if len(command) == 0 {
		return nil
	}
	return func() float64 {
		start := time.Now()
		if out, err := exec.CommandContext(b.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%s: %v: %.500s", command, err, out)
		}
		return time.Since(start).Seconds()
	}
}

// benchWhole measures what users wait for. floor returns the least time that reading the
// source can take, in seconds; it may be nil.
func benchWhole(b *testing.B, source string, all []wholeBenchmark, floor func() float64) {
	b.Helper()
	testneeds.FUSE(b)
	ours, base := buildProgram(b), os.Getenv("LOREFS_BENCH_BASE")
	for _, m := range all {
		b.Run(m.name, func(b *testing.B) {
			var values, floors, ratios []float64
			once := func(program string) float64 {
				return m.once(&wholeRun{b, program, source, b.TempDir()})
			}
			for b.Loop() {
				if floor != nil {
					floors = append(floors, floor())
				}
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
			b.ReportMetric(0, "ns/op") // it would include the floor and all preparations
			b.ReportMetric(median(values), m.unit)
			if m.unit == "s" && floor != nil {
				b.ReportMetric(median(values)/median(floors), "xF")
			}
			if base != "" {
				b.ReportMetric(median(ratios), "x-base")
			}
		})
	}
}

// buildProgram builds the program: the test binary has more in it.
func buildProgram(b *testing.B) (path string) {
	b.Helper()
	testneeds.Program(b, "go")
	path = filepath.Join(b.TempDir(), "lorefs")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-buildvcs=false", "-o", path, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// seconds returns how long do takes.
func (r *wholeRun) seconds(do func()) float64 {
	start := time.Now()
	do()
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

// mount mounts the source, and returns the path of the mount.
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

// untilListed returns how long it takes to mount and list a directory.
func (r *wholeRun) untilListed(dir string) float64 {
	mnt := ""
	seconds := r.seconds(func() {
		mnt = r.mount()
		if _, err := os.ReadDir(filepath.Join(mnt, dir)); err != nil {
			r.Fatal(err)
		}
	})
	r.lorefs("unmount", mnt)
	return seconds
}

// listed returns how long it takes to list a directory right after mounting.
func (r *wholeRun) listed(dir string) float64 {
	mnt := r.mount()
	seconds := r.seconds(func() {
		if _, err := os.ReadDir(filepath.Join(mnt, dir)); err != nil {
			r.Fatal(err)
		}
	})
	r.lorefs("unmount", mnt)
	return seconds
}

// readAll returns how long processes take to read and hash all files of a storage.
func (r *wholeRun) readAll(readers int) float64 {
	mnt := r.mount()
	script := fmt.Sprintf("find files unnamed -type f -print0 | xargs -0 -n 100 -P %d md5sum | wc -l", readers)
	c := exec.CommandContext(r.Context(), "sh", "-c", script)
	c.Dir = mnt
	seconds := r.seconds(func() {
		if out, err := c.Output(); err != nil || string(out) == "0\n" {
			r.Fatalf("nothing was read: %s, %v", out, err)
		}
	})
	r.lorefs("unmount", mnt)
	return seconds
}

// benchedSheet is the sheet to walk, if the source has it. It has 230,000 entries in p100.
const benchedSheet = "tree/SkillData"

// walk returns how long a walk of a sheet takes right after mounting.
func (r *wholeRun) walk() float64 {
	mnt := r.mount()
	dir := filepath.Join(mnt, benchedSheet)
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(mnt, "tree")
	}
	seconds := r.seconds(func() {
		if err := exec.CommandContext(r.Context(), "find", dir).Run(); err != nil {
			r.Fatalf("find: %v", err)
		}
	})
	r.lorefs("unmount", mnt)
	return seconds
}

// walkMemory returns the peak memory of the process behind a mount during a walk of -entries
// entries.
func (r *wholeRun) walkMemory() float64 {
	mnt := r.mount()
	findSome(r.B, filepath.Join(mnt, "tree"), *largeWalk)
	peak := peakOf(r.B, r.lorefs("status", "--json", mnt))
	r.lorefs("unmount", mnt)
	return float64(peak) / (1 << 20)
}

// unmountEdited returns how long it takes to unmount with one edit.
func (r *wholeRun) unmountEdited() float64 {
	copied := filepath.Join(r.dir, filepath.Base(r.source))
	copyTo(r.B, copied, r.source)
	r.source = copied
	mnt := r.mount("--rw", "--no-backup")
	changeOne(r.B, filepath.Join(mnt, "tree"))
	return r.seconds(func() { r.lorefs("unmount", mnt) })
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
			return nil //nolint:nilerr // try the next file
		}
		changed = true
		return cmp.Or(os.WriteFile(path, strconv.AppendInt(nil, int64(n+1), 10), 0o600), iofs.SkipAll)
	})
	if err != nil || !changed {
		b.Fatalf("nothing could be edited: %v", err)
	}
}

func (r *wholeRun) export() float64 {
	return r.seconds(func() { r.lorefs("export", r.source, filepath.Join(r.dir, "sheets")) })
}

func (r *wholeRun) pack() float64 {
	r.export()
	return r.seconds(func() { r.lorefs("pack", filepath.Join(r.dir, "sheets"), filepath.Join(r.dir, "packed.dat")) })
}
