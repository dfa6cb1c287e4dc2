//go:build unix

package dissect_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/internal/cores"
	"lorefs/internal/testneeds"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// What BenchmarkToolbox reads: a checkout of tera-toolbox, and a recorded session with a folder of
// definitions and maps. Without a session it makes that of vectorSession.
const (
	sessionVar     = "LOREFS_SESSION"
	definitionsVar = "LOREFS_DEFINITIONS"
	toolboxVar     = "LOREFS_TERA_TOOLBOX"
)

// BenchmarkToolbox compares Lines, from opening the file on, with tera-toolbox's parser, which
// makes JSON of the same packets in memory. The session is those packets of the recording that
// both can read, in turn, up to 200,000. "x" is how many times as long tera-toolbox takes, and
// "cpu-x" what that would be on as many idle cores as there are.
func BenchmarkToolbox(b *testing.B) {
	session, definitions, toolbox := os.Getenv(sessionVar), os.Getenv(definitionsVar), os.Getenv(toolboxVar)
	if toolbox == "" {
		b.Skipf("set %s", toolboxVar)
	}
	if session == "" {
		session, definitions = vectorSession(b)
	}
	const packets = 200_000
	lib, err := protocol.OpenLibrary(os.DirFS(definitions), protocol.LibraryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(session)
	if err != nil {
		b.Fatal(err)
	}
	r := newRecording(b, openLog(b, data), lib, dissect.Options{})
	decoded := decodedPackets(b, r)
	other := startToolbox(b, toolbox, definitions, lib, r, decoded)
	both := make([]capture.Packet, len(other.readable))
	for i, k := range other.readable {
		both[i] = decoded[k]
	}
	b.Logf("%d packets, %d decoded, %d of them by both", r.Log().Len(), len(decoded), len(both))
	path := writeSession(b, r.Log().Info(), both, packets)

	var wall, cpu []float64
	for b.Loop() {
		ourWall, ourCPU := decodeFile(b, path, lib)
		their := other.parse(b, packets)
		wall = append(wall, their.Wall/ourWall)
		cpu = append(cpu, their.CPU/(ourCPU/float64(cores.Count())))
	}
	b.ReportMetric(median(wall), "x")
	b.ReportMetric(median(cpu), "cpu-x")
}

// vectorSession writes a session with one packet of each definition of the reference, of the
// highest version of each, and a folder with these definitions and the map of the session. Its
// packets are those that the reference itself made, with random values. Their codes are changed
// so that no two names have one.
func vectorSession(b *testing.B) (session, definitions string) {
	b.Helper()
	definitions = filepath.Join(b.TempDir(), "definitions")
	if err := os.CopyFS(definitions, os.DirFS(testneeds.Fixture(b, "packets/tera-toolbox"))); err != nil {
		b.Fatal(err)
	}
	vectors, err := os.ReadFile(testneeds.Fixture(b, "packets/vectors/tera-toolbox.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	packets := make(map[string][]byte) // by name
	versions := make(map[string]int)
	for line := range bytes.Lines(vectors) {
		var v struct{ Def, Hex string }
		if err := json.Unmarshal(line, &v); err != nil {
			b.Fatal(err)
		}
		d, _ := protocol.ParseFileName(v.Def)
		if packets[d.Name] != nil && d.Version < versions[d.Name] {
			continue
		}
		if packets[d.Name], err = hex.DecodeString(v.Hex); err != nil {
			b.Fatal(err)
		}
		versions[d.Name] = d.Version
	}
	var list []capture.Packet
	var names bytes.Buffer
	for code, name := range slices.Sorted(maps.Keys(packets)) {
		data := packets[name]
		binary.LittleEndian.PutUint16(data[2:], uint16(code))
		fmt.Fprintln(&names, name, code)
		list = append(list, capture.Packet{Data: data, From: capture.FromServer})
	}
	const revision = "1"
	if err := os.WriteFile(filepath.Join(definitions, "protocol."+revision+".map"), names.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return writeSession(b, capture.Info{Revision: revision}, list, len(list)), definitions
}

func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// decodedPackets returns the packets that fit their definitions.
func decodedPackets(b *testing.B, r *dissect.Recording) []capture.Packet {
	b.Helper()
	var list []capture.Packet
	for i := range r.Log().Len() {
		p, err := r.Log().Packet(i, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, is := r.AppendJSON(nil, i, &p, nil); is == dissect.Decoded {
			list = append(list, p)
		}
	}
	return list
}

// writeSession writes a recording of n packets: those of a list, in turn.
func writeSession(b *testing.B, info capture.Info, list []capture.Packet, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "session.TeraLog")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	w, err := capture.NewWriter(out, capture.Info{Format: capture.TeraLog, Revision: info.Revision}, 0)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Date(2020, 9, 1, 12, 0, 0, 0, time.UTC)
	for i := range n {
		p := list[i%len(list)]
		p.Time = begin.Add(time.Duration(i) * time.Millisecond)
		if err := w.Write(p); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	return path
}

// decodeFile prints a session as lorefs decode does, and returns the milliseconds that passed,
// and those of CPU time.
func decodeFile(b *testing.B, path string, lib *protocol.Library) (wall, cpu float64) {
	b.Helper()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	begin, before := time.Now(), cpuTime(b)
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	log, err := capture.Open(b.Context(), f, info.Size(), capture.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := newRecording(b, log, lib, dissect.Options{})
	for block, err := range r.Lines(b.Context(), r.All()) {
		if err != nil {
			b.Fatal(err)
		}
		if _, err := out.Write(block.Text); err != nil {
			b.Fatal(err)
		}
	}
	return milliseconds(time.Since(begin)), milliseconds(cpuTime(b) - before)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// cpuTime is the CPU time that this process has taken.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// toolboxProcess is node, with tera-toolbox's parser and the packets in its memory.
type toolboxProcess struct {
	readable []int // the packets that it can read
	in       io.Writer
	out      *json.Decoder
}

// toolboxTable is a definition for the process.
type toolboxTable struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	File    string `json:"file"`
}

func startToolbox(b *testing.B, toolbox, definitions string, lib *protocol.Library, r *dissect.Recording, list []capture.Packet) *toolboxProcess {
	b.Helper()
	places := make(map[string]uint32) // by the names of tables
	var tables []toolboxTable
	var packets []byte
	for i := range list {
		name := r.Code(list[i].Code()).Table.Name()
		place, known := places[name]
		if !known {
			place = uint32(len(tables))
			places[name] = place
			tables = append(tables, tableFile(b, definitions, lib, name))
		}
		packets = binary.LittleEndian.AppendUint32(packets, place)
		packets = binary.LittleEndian.AppendUint32(packets, uint32(len(list[i].Data)))
		packets = append(packets, list[i].Data...)
	}
	text, err := json.Marshal(tables)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	args := []string{filepath.Join("testdata", "toolbox.js"), toolbox, filepath.Join(dir, "tables.json"), filepath.Join(dir, "packets")}
	for i, data := range [][]byte{text, packets} {
		if err := os.WriteFile(args[2+i], data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	node := exec.Command("node", args...) // ends with its input
	var wrong bytes.Buffer
	node.Stderr = &wrong
	in, err := node.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := node.Start(); err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := node.Wait(); err != nil {
			b.Errorf("node: %v: %s", err, wrong.Bytes())
		}
	})
	p := &toolboxProcess{in: in, out: json.NewDecoder(out)}
	if err := p.out.Decode(&p.readable); err != nil || len(p.readable) == 0 {
		b.Fatalf("tera-toolbox reads no packet: %v", err)
	}
	p.parse(b, len(p.readable)) // so that node has compiled what is timed
	return p
}

// tableFile finds the file of a table.
func tableFile(b *testing.B, definitions string, lib *protocol.Library, name string) toolboxTable {
	b.Helper()
	for _, d := range lib.Definitions() {
		if d.String() == name {
			base, version, _ := strings.Cut(name, ".")
			version, _, _ = strings.Cut(version, ".")
			n, err := strconv.Atoi(version)
			if err != nil {
				b.Fatal(err)
			}
			return toolboxTable{base, n, filepath.Join(definitions, filepath.FromSlash(d.Path))}
		}
	}
	b.Fatalf("no file of %s", name)
	return toolboxTable{}
}

// toolboxTimes are milliseconds.
type toolboxTimes struct{ Wall, CPU float64 }

// parse makes JSON of n packets.
func (p *toolboxProcess) parse(b *testing.B, n int) toolboxTimes {
	b.Helper()
	if _, err := fmt.Fprintln(p.in, n); err != nil {
		b.Fatal(err)
	}
	var t toolboxTimes
	if err := p.out.Decode(&t); err != nil {
		b.Fatal(err)
	}
	return t
}
