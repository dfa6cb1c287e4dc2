package main

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/aes"
	"fmt"
	"io"
	iofs "io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"lorefs/casc/casctest"
	"lorefs/cmd/internal/cli"
	"lorefs/datacenter"
	"lorefs/internal/cfb"
	"lorefs/internal/testneeds"
)

// wholeRun is one run of something that users do, with its own folders.
type wholeRun struct {
	*testing.B
	program, source, dir string
	// sheets returns a folder of the sheets of the source, which must not be changed.
	sheets func() string
	// cpu is the processor time in seconds, and peak the largest memory in bytes, of the
	// commands that were measured alone.
	cpu  float64
	peak int64
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
// the file in this time, and xF-cpu compares the processor time of all cores. MiB is the
// largest memory. LOREFS_BENCH_SOURCE is the data center. LOREFS_BENCH_BASE is another build of
// lorefs: the two take turns, and x-base is the median of the ratios. Files are written below
// TMPDIR. BenchmarkCommit in cmd/internal/save/dcsave measures single edits.
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
		{"export again", "s", (*wholeRun).exportAgain},
		{"pack", "s", func(r *wholeRun) float64 { return r.alone("pack", r.sheets(), r.file("packed.dat")) }},
		{"validate", "s", func(r *wholeRun) float64 { return r.alone("validate", r.sheets()) }},
		{"schema", "s", func(r *wholeRun) float64 { return r.alone("schema", r.source, r.file("schemas")) }},
		{"repack", "s", func(r *wholeRun) float64 { return r.alone("repack", r.source, r.file("repacked.dat")) }},
		{"verify", "s", func(r *wholeRun) float64 { return r.alone("verify", r.source) }},
		{"diff with an edited folder", "s", func(r *wholeRun) float64 { return r.diffFolder(editSome) }},
		{"diff with a folder laid out otherwise", "s", func(r *wholeRun) float64 { return r.diffFolder(layOutOtherwise) }},
		{"diff with a folder spelled otherwise", "s", func(r *wholeRun) float64 { return r.diffFolder(spellOtherwise) }},
		{"diff of two", "s", (*wholeRun).diffTwo},
	}, func() float64 {
		start := time.Now()
		if err := inflateAll(source, datacenter.DefaultKeys()[0]); err != nil {
			b.Fatal(err)
		}
		return time.Since(start).Seconds()
	})
}

// BenchmarkStorage is BenchmarkProgram for a CASC storage: LOREFS_BENCH_STORAGE, or a
// generated one of 20,000 files and 660 MB. LOREFS_BENCH_FLOOR is a command that reads and hashes
// all files of the storage by other means, such as CascLib with CASC_STRICT_DATA_CHECK; behind its
// words comes the path of a generated storage. xF is how often it could have run in the time.
func BenchmarkStorage(b *testing.B) {
	source, floor := os.Getenv("LOREFS_BENCH_STORAGE"), strings.Fields(os.Getenv("LOREFS_BENCH_FLOOR"))
	if source == "" {
		source = usualStorage(b)
		if len(floor) > 0 {
			floor = append(floor, source)
		}
	}
	benchWhole(b, source, []wholeBenchmark{
		{"first mount", "s", func(r *wholeRun) float64 { return r.untilListed("") }},
		{"second mount", "s", func(r *wholeRun) float64 { r.untilListed(""); return r.untilListed("") }},
		{"one reader", "s", func(r *wholeRun) float64 { return r.readAll(1) }},
		{"two readers", "s", func(r *wholeRun) float64 { return r.readAll(2) }},
		{"export", "s", (*wholeRun).export},
		{"verify", "s", func(r *wholeRun) float64 { return r.alone("verify", r.source) }},
	}, commandFloor(b, floor))
}

// usualStorageDir names the folder of the storage for the process that writes it.
const usualStorageDir = "LOREFS_BENCH_WRITE"

// usualStorage writes a storage, and returns its folder. Another process does it: the system would
// count its memory as that of the commands that are measured.
func usualStorage(b *testing.B) (dir string) {
	b.Helper()
	dir = b.TempDir()
	c := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestWriteStorage$")
	c.Env = append(os.Environ(), usualStorageDir+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %.500s", err, out)
	}
	return dir
}

// TestWriteStorage is the process of usualStorage.
func TestWriteStorage(t *testing.T) {
	dir := os.Getenv(usualStorageDir)
	if dir == "" {
		t.Skip("it is the other process of BenchmarkStorage")
	}
	files, err := casctest.NewUsual(20_000)
	if err == nil {
		err = files.Write(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkWorld measures the first listing, with all sizes, of each folder of world geometry:
// LOREFS_BENCH_WORLD, or the fixtures.
func BenchmarkWorld(b *testing.B) {
	source := os.Getenv("LOREFS_BENCH_WORLD")
	if source == "" {
		source = filepath.Dir(testneeds.Fixture(b, "world/x1002y1006.zgd"))
	}
	var all []wholeBenchmark
	for _, dir := range []string{"zones", "squares", "heightmaps", "areas", "meshes"} {
		all = append(all, wholeBenchmark{dir, "s", func(r *wholeRun) float64 { return r.firstSizes(dir) }})
	}
	benchWhole(b, source, all, nil)
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
	sheets := sync.OnceValue(func() string {
		r := wholeRun{B: b, program: ours, source: source, dir: b.TempDir()}
		r.export()
		return r.exported(1)
	})
	for _, m := range all {
		b.Run(m.name, func(b *testing.B) {
			var values, floors, floorCPU, ratios, cpu, peaks []float64
			once := func(program string) float64 {
				r := &wholeRun{B: b, program: program, source: source, dir: b.TempDir(), sheets: sheets}
				defer os.RemoveAll(r.dir) // there may be many, of a GB
				v := m.once(r)
				if program == ours && r.peak > 0 {
					cpu, peaks = append(cpu, r.cpu), append(peaks, float64(r.peak)/(1<<20))
				}
				return v
			}
			for b.Loop() {
				if floor != nil {
					before := processorTime(b)
					floors = append(floors, floor())
					floorCPU = append(floorCPU, processorTime(b)-before)
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
			if len(peaks) > 0 {
				b.ReportMetric(slices.Max(peaks), "MiB")
			}
			if len(cpu) > 0 && floor != nil {
				b.ReportMetric(median(cpu)/median(floorCPU), "xF-cpu")
			}
			if base != "" {
				b.ReportMetric(median(ratios), "x-base")
			}
		})
	}
}

// inflateAll decrypts and inflates a data center, and discards the result.
func inflateAll(path string, key datacenter.Key) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		return err
	}
	const sizeField = 4 // before the zlib stream
	z, err := zlib.NewReader(io.NewSectionReader(cfb.NewReader(f, block, key.IV), sizeField, math.MaxInt64-sizeField))
	if err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, z); err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	return nil
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

// processorTime returns the processor time of this process and its children, in seconds.
func processorTime(b *testing.B) (seconds float64) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		seconds += time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	return seconds
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

// command returns the program as a command with the folders of the run.
func (r *wholeRun) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(r.Context(), r.program, args...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+r.dir, "XDG_STATE_HOME="+r.dir, "XDG_RUNTIME_DIR="+r.dir)
	return c
}

// alone runs the program and returns how long it takes. Differences that it finds are no error.
func (r *wholeRun) alone(args ...string) float64 {
	r.Helper()
	c := r.command(args...)
	var messages strings.Builder
	c.Stderr = &messages
	seconds := r.seconds(func() {
		if err := c.Run(); err != nil && (args[0] != "diff" || c.ProcessState.ExitCode() != cli.ExitFailure) {
			r.Fatalf("%s: %v: %.500s", strings.Join(args, " "), err, messages.String())
		}
	})
	r.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = usage.Maxrss << 10
	}
	return seconds
}

// file returns the path of a new file of the run.
func (r *wholeRun) file(name string) string { return filepath.Join(r.dir, name) }

// lorefs runs the program with the folders of the run.
func (r *wholeRun) lorefs(args ...string) string {
	r.Helper()
	c := r.command(args...)
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

// untilListed returns how long it takes to mount and list a directory, with ls as users have it.
func (r *wholeRun) untilListed(dir string) float64 {
	mnt := ""
	seconds := r.seconds(func() {
		mnt = r.mount()
		if err := exec.CommandContext(r.Context(), "ls", filepath.Join(mnt, dir)).Run(); err != nil {
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

// firstSizes returns how long it takes to list a directory with all sizes, right after mounting.
func (r *wholeRun) firstSizes(dir string) float64 {
	mnt := r.mount()
	seconds := r.seconds(func() {
		if out, err := exec.CommandContext(r.Context(), "ls", "-lR", filepath.Join(mnt, dir)).CombinedOutput(); err != nil {
			r.Fatalf("ls: %v: %.500s", err, out)
		}
	})
	r.lorefs("unmount", mnt)
	return seconds
}

// export exports the source into a new folder.
func (r *wholeRun) export() float64 {
	n := 1
	for ; ; n++ {
		if _, err := os.Lstat(r.exported(n)); err != nil {
			break
		}
	}
	return r.alone("export", r.source, r.exported(n))
}

// exportAgain is export once the index is there. What the first one wrote is gone by then: the memory of a
// second folder would be new to a virtual machine, and its host slow to find it.
func (r *wholeRun) exportAgain() float64 {
	r.export()
	if err := os.RemoveAll(r.exported(1)); err != nil {
		r.Fatal(err)
	}
	return r.export()
}

// exported returns the folder of the n-th export.
func (r *wholeRun) exported(n int) string { return r.file("sheets" + strconv.Itoa(n)) }

// diffFolder returns how long it takes to compare the source with its sheets after edit.
func (r *wholeRun) diffFolder(edit func(i int, sheet []byte) []byte) float64 {
	dir := r.file("edited")
	err := os.CopyFS(dir, os.DirFS(r.sheets()))
	i := 0
	for _, path := range xmlFiles(r.B, dir) {
		sheet, readErr := os.ReadFile(path)
		err = cmp.Or(err, readErr, os.WriteFile(path, edit(i, sheet), 0o600))
		i++
	}
	if err != nil {
		r.Fatal(err)
	}
	return r.alone("diff", r.source, dir)
}

func xmlFiles(b *testing.B, dir string) []string {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.xml"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no sheets in %s: %v", dir, err)
	}
	return files
}

// editSome changes the last number that is 1 in every 250th sheet: in about 100 of p100.
func editSome(i int, sheet []byte) []byte {
	const one = `="1"`
	if at := bytes.LastIndex(sheet, []byte(one)); i%250 == 0 && at >= 0 {
		sheet[at+len(`="`)] = '2'
	}
	return sheet
}

// layOutOtherwise leaves out the space at the end of tags.
func layOutOtherwise(_ int, sheet []byte) []byte {
	return bytes.ReplaceAll(sheet, []byte(" />"), []byte("/>"))
}

// spellOtherwise writes the first character of each value as a reference.
func spellOtherwise(_ int, sheet []byte) []byte {
	out := make([]byte, 0, 2*len(sheet))
	for {
		begin := []byte(`="`)
		n := bytes.Index(sheet, begin) + len(begin)
		if n < len(begin) || n == len(sheet) {
			return append(out, sheet...)
		}
		out, sheet = append(out, sheet[:n]...), sheet[n:]
		if c := sheet[0]; c < utf8.RuneSelf && c != '"' && c != '&' {
			out, sheet = fmt.Appendf(out, "&#%d;", c), sheet[1:]
		}
	}
}

// diffTwo returns how long it takes to compare the source with what a repack makes of it.
func (r *wholeRun) diffTwo() float64 {
	other := r.file("repacked.dat")
	r.lorefs("repack", r.source, other)
	return r.alone("diff", r.source, other)
}
