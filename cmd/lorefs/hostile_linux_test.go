package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/testneeds"
	"lorefs/protocol/capture"
	"lorefs/protocol/prototest"
)

const (
	// hostileTimeVar sets how long TestHostileInput takes, such as 10m, and hostileSeedVar
	// repeats an earlier run.
	hostileTimeVar = "LOREFS_HOSTILE_TIME"
	hostileSeedVar = "LOREFS_HOSTILE_SEED"

	// These limit what a command may take for a small file. The time is CPU time, since the
	// machine may be busy.
	hostileCPU    = 10 * time.Second
	hostileMemory = 1 << 30
	// hostileWait is the time after which a command counts as hanging.
	hostileWait = 2 * time.Minute
)

// hostileFile is a file to damage, and commands to run on it. In the arguments, outDir
// stands for a folder that does not exist yet.
type hostileFile struct {
	name     string
	path     string
	whole    []byte
	text     bool
	commands [][]string
}

const outDir = "OUT"

// TestHostileInput checks that no command panics, hangs, or takes too much memory, whatever
// is in a file.
func TestHostileInput(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	t.Parallel()
	h := &hostile{t: t, dir: t.TempDir(), exits: make(map[int]int)}
	h.sessions()
	h.definitions()
	h.packetJSON()
	h.worldJSON()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(hostileSeedVar); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s=%d", hostileSeedVar, seed)
	h.r = rand.New(rand.NewPCG(seed, 0))
	for _, f := range h.files {
		for _, c := range f.commands {
			if code := h.run(f, f.whole, c); code > cli.ExitFailure {
				t.Fatalf("%s: lorefs %q exits with %d though nothing is spoilt", f.name, c, code)
			}
		}
	}
	for end := time.Now().Add(h.wanted()); time.Now().Before(end) && !t.Failed(); {
		f := h.files[h.r.IntN(len(h.files))]
		spoilt := h.spoil(f)
		for range 2 {
			h.run(f, spoilt, f.commands[h.r.IntN(len(f.commands))])
		}
		h.restore(f)
	}
	t.Logf("exit codes: %v; at most %d MiB and %v", h.exits, h.memory>>20, h.cpu)
}

// TestHostileMaps checks that maps are read quickly, whatever names and numbers they have,
// for example one name with every number.
func TestHostileMaps(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	t.Parallel()
	h := &hostile{t: t, dir: t.TempDir(), exits: make(map[int]int)}
	dir := t.TempDir()
	path := filepath.Join(dir, "protocol.7.map")
	h.write(filepath.Join(dir, "S_A.1.def"), []byte("int32 id\n"))
	const size = 7 << 20
	for _, names := range [][]string{{"S_A"}, {"S_B", "S_A"}} {
		var lines []byte
		for _, name := range names {
			for n := 0; len(lines) < size/len(names) || name == "S_A" && len(lines) < size; n++ {
				lines = fmt.Appendf(lines, "%s %d\n", name, n)
			}
		}
		h.run(&hostileFile{name: "map", path: path}, lines, []string{"verify", dir})
	}
}

// hostile damages files and runs the program on them.
type hostile struct {
	t     *testing.T
	dir   string
	r     *rand.Rand
	files []*hostileFile

	// exits counts exit codes; memory and cpu are the most that a command took.
	exits  map[int]int
	memory int64
	cpu    time.Duration
}

func (h *hostile) wanted() time.Duration {
	text := os.Getenv(hostileTimeVar)
	if text == "" {
		return time.Duration(testneeds.Cases(1, 5, 5)) * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *hostile) add(path string, text bool, commands ...[]string) {
	h.t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	h.files = append(h.files, &hostileFile{name: filepath.Base(path), path: path, whole: whole, text: text, commands: commands})
}

// sessions adds a recording in each form.
func (h *hostile) sessions() {
	packets, err := prototest.Session(1, 90)
	if err != nil {
		h.t.Fatal(err)
	}
	definitions := writeDefinitions(h.t)
	by := []string{"--kind", kinds.PacketsName, "--definitions", definitions, "--revision", prototest.Revision}
	for _, format := range sessionForms {
		path := writeSession(h.t, capture.Info{Format: format, Revision: prototest.Revision}, packets)
		h.add(path, format == capture.Hex,
			[]string{"info", path},
			slices.Concat([]string{"info", "--json", path}, by),
			slices.Concat([]string{"verify", "--strict", path}, by),
			slices.Concat([]string{"export", path, outDir}, by),
			slices.Concat([]string{"ls", "-l", path, "packets"}, by),
			slices.Concat([]string{"cat", path, "summary.json"}, by))
		h.files[len(h.files)-1].name = format.String()
	}
}

// definitions adds the definitions for the recordings.
func (h *hostile) definitions() {
	dir := writeDefinitions(h.t)
	packets, err := prototest.Session(2, 20)
	if err != nil {
		h.t.Fatal(err)
	}
	path := writeSession(h.t, capture.Info{Format: capture.TeraLog, Revision: prototest.Revision}, packets)
	for _, name := range []string{
		"defs/S_CHAT.3.def", "defs/S_SPAWN_USER.15.def", "defs/S_PARTY_MEMBER_LIST.7.def",
		"map/protocol." + prototest.Revision + ".map",
	} {
		h.add(filepath.Join(dir, filepath.FromSlash(name)), true,
			[]string{"verify", "--strict", "--kind", kinds.PacketsName, dir},
			[]string{"cat", "--definitions", dir, path, "summary.json"},
			[]string{"verify", "--definitions", dir, path})
	}
}

// packetJSON adds packets in the form of decode, with and without definitions.
func (h *hostile) packetJSON() {
	packets, err := prototest.Session(3, 40)
	if err != nil {
		h.t.Fatal(err)
	}
	digits := writeSession(h.t, capture.Info{Format: capture.Hex}, packets)
	by := []string{"--definitions", writeDefinitions(h.t), "--revision", prototest.Revision}
	var out bytes.Buffer
	decode := exec.CommandContext(h.t.Context(), "lorefs", slices.Concat([]string{"decode", digits}, by)...)
	decode.Stdout = &out
	if err := decode.Run(); decode.ProcessState == nil || decode.ProcessState.ExitCode() != cli.ExitFailure {
		h.t.Fatalf("decode: %v, though some packets have no definition", err)
	}
	path := filepath.Join(h.dir, "packets.json")
	h.write(path, out.Bytes())
	h.add(path, true, slices.Concat([]string{"encode", path}, by))
	h.add(digits, true, slices.Concat([]string{"decode", digits}, by), slices.Concat([]string{"decode", "--strict", digits}, by))
}

// worldJSON adds an area and a zone.
func (h *hostile) worldJSON() {
	world := madeSampleFile(h.t, "world")
	for _, name := range []string{"areas/aldermoor.json", "zones/x1000y1000.json"} {
		dir := h.t.TempDir()
		path := filepath.Join(dir, filepath.Base(name))
		h.write(path, []byte(runTool(h.t, "", "lorefs", "cat", world, name)))
		h.add(path, true, []string{"pack", "--kind", kinds.WorldName, "--quality", "1", dir, outDir})
	}
}

func (h *hostile) write(path string, data []byte) {
	h.t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hostile) restore(f *hostileFile) { h.write(f.path, f.whole) }

// run runs a command on a file with data, and returns its exit code.
func (h *hostile) run(f *hostileFile, data []byte, command []string) int {
	h.write(f.path, data)
	out := filepath.Join(h.dir, "out")
	args := slices.Clone(command)
	if i := slices.Index(args, outDir); i >= 0 {
		args[i] = out
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), hostileWait)
	defer cancel()
	c := exec.CommandContext(ctx, "lorefs", args...)
	peak := filepath.Join(h.dir, "peak")
	c.Env = append(os.Environ(), peakFile+"="+peak)
	var stderr tail
	c.Stderr = &stderr
	err := c.Run()
	if c.ProcessState == nil {
		h.t.Fatal(err)
	}
	if err := os.RemoveAll(out); err != nil {
		h.t.Fatal(err)
	}
	code := c.ProcessState.ExitCode()
	h.exits[code]++
	memory := h.peak(peak)
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	h.memory, h.cpu = max(h.memory, memory), max(h.cpu, cpu)
	// cli.ExitUsage is also the exit code of a panic, and the arguments are correct.
	if code < cli.ExitOK || code == cli.ExitUsage || code > cli.ExitUnsaved || memory > hostileMemory || cpu > hostileCPU {
		h.t.Errorf("%s, kept as %s: lorefs %q exits with %d, %d MiB, %v, %v: %s",
			f.name, h.keep(f, data), args, code, memory>>20, cpu, err, stderr)
	}
	return code
}

// peak returns the number in a file, and removes it. A program that panicked left none.
func (h *hostile) peak(path string) (bytes int64) {
	text, err := os.ReadFile(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return 0
	}
	if err == nil {
		_, err = fmt.Sscan(string(text), &bytes)
	}
	if err := errors.Join(err, os.RemoveAll(path)); err != nil {
		h.t.Fatal(err)
	}
	return bytes
}

// keep writes a file that is not removed.
func (h *hostile) keep(f *hostileFile, data []byte) string {
	dir, err := os.MkdirTemp("", "lorefs-hostile-")
	if err != nil {
		h.t.Fatal(err)
	}
	path := filepath.Join(dir, f.name)
	h.write(path, data)
	return path
}

// tail keeps the first bytes that are written to it, which say what went wrong.
type tail []byte

func (b *tail) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), 4096-len(*b))]...)
	return len(p), nil
}

// spoil returns a damaged copy of a file.
func (h *hostile) spoil(f *hostileFile) []byte {
	ways := []func([]byte) []byte{h.flip, h.cut, h.drop, h.insert, h.repeat, h.length}
	if f.text {
		ways = append(ways, h.number, h.nest)
	}
	b := slices.Clone(f.whole)
	for range 1 + h.r.IntN(3) {
		if len(b) > 0 {
			b = ways[h.r.IntN(len(ways))](b)
		}
	}
	return b
}

// at returns a place in b, often near the beginning, where headers are.
func (h *hostile) at(b []byte) int {
	if h.r.IntN(4) == 0 {
		return h.r.IntN(min(len(b), 256))
	}
	return h.r.IntN(len(b))
}

func (h *hostile) flip(b []byte) []byte {
	for range 1 + h.r.IntN(8) {
		b[h.at(b)] ^= 1 << h.r.IntN(8)
	}
	return b
}

func (h *hostile) cut(b []byte) []byte { return b[:h.at(b)] }

// block returns a range of some bytes, or of many.
func (h *hostile) block(b []byte) (from, to int) {
	from = h.at(b)
	return from, from + h.r.IntN(min(len(b)-from, 1<<h.r.IntN(17))+1)
}

func (h *hostile) drop(b []byte) []byte {
	from, to := h.block(b)
	return slices.Delete(b, from, to)
}

func (h *hostile) insert(b []byte) []byte {
	block := make([]byte, 1<<h.r.IntN(14))
	if h.r.IntN(2) == 0 {
		for i := range block {
			block[i] = byte(h.r.Uint32())
		}
	}
	return slices.Insert(b, h.at(b), block...)
}

// repeat inserts a block again somewhere, perhaps many times.
func (h *hostile) repeat(b []byte) []byte {
	from, to := h.block(b)
	times := 1
	if n := to - from; n > 0 && h.r.IntN(3) == 0 {
		times = min(1000, 1<<20/n+1)
	}
	return slices.Insert(b, h.at(b), bytes.Repeat(b[from:to], times)...)
}

// length writes a number that a reader may take for a length or an offset.
func (h *hostile) length(b []byte) []byte {
	n := uint64(len(b))
	numbers := []uint64{0, 1, n, n - 1, n + 1, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1, h.r.Uint64()}
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], numbers[h.r.IntN(len(numbers))])
	copy(b[h.at(b):], number[:1<<h.r.IntN(4)])
	return b
}

// number replaces a number in a text.
func (h *hostile) number(b []byte) []byte {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	from := h.at(b)
	for from < len(b) && !isDigit(b[from]) {
		from++
	}
	to := from
	for to < len(b) && isDigit(b[to]) {
		to++
	}
	numbers := []string{"0", "-1", "65535", "65536", "2147483648", "4294967296", "9223372036854775808", "1e400", "1.5", "", "000", `""`, "null"}
	return slices.Replace(b, from, to, []byte(numbers[h.r.IntN(len(numbers))])...)
}

// nest opens more brackets than it closes.
func (h *hostile) nest(b []byte) []byte {
	open := []string{"[", `{"a":`, "- ", "array<", "<<<<<<< "}
	return slices.Insert(b, h.at(b), bytes.Repeat([]byte(open[h.r.IntN(len(open))]), 1<<h.r.IntN(18))...)
}
