package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"lorefs/internal/cores"
	"lorefs/internal/testneeds"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// What BenchmarkToolbox reads: a checkout of tera-toolbox, and a recorded session with a folder of
// definitions and maps. Without a session it makes two.
const (
	sessionVar     = "LOREFS_SESSION"
	definitionsVar = "LOREFS_DEFINITIONS"
	toolboxVar     = "LOREFS_TERA_TOOLBOX"
)

// BenchmarkToolbox compares lorefs decode with a program that makes JSON of the same packets by
// tera-toolbox's parser, both as whole processes that write to /dev/null. node gets the packets
// without a log around them, and the table of each. The session is those packets of the
// recording that both can read, in turn, 200,000 in all. "x" is how many times as long node
// takes. "cpu-x" is the same by CPU time, if lorefs shares its own among all cores that there
// are; it does not depend on what else the machine does.
//
//	LOREFS_TERA_TOOLBOX=DIR taskset -c 0,1 go test -run '^$' -bench Toolbox -benchtime 10x ./cmd/lorefs
func BenchmarkToolbox(b *testing.B) {
	r := toolboxRun{toolbox: os.Getenv(toolboxVar), definitions: os.Getenv(definitionsVar)}
	if r.toolbox == "" {
		b.Skipf("set %s", toolboxVar)
	}
	testneeds.Program(b, "node")
	r.program = buildProgram(b)
	if session := os.Getenv(sessionVar); session != "" {
		r.bench(b, session)
		return
	}
	names, packets := r.vectors(b)
	b.Run("each definition", func(b *testing.B) { r.bench(b, r.write(b, packets, len(packets))) })
	b.Run("as played", func(b *testing.B) {
		played := r.played(b, names, packets)
		r.bench(b, r.write(b, played, len(played)))
	})
}

// toolboxRun is what is compared.
type toolboxRun struct {
	program, toolbox, definitions string
	// revision is the client revision of the session.
	revision string
}

// bench compares the two on a session.
func (r *toolboxRun) bench(b *testing.B, session string) {
	b.Helper()
	const packets = 200_000
	other, both := r.node(b, session)
	path := r.write(b, both, packets)
	var wall, cpu []float64
	for b.Loop() {
		our := timed(b, r.program, "decode", "--definitions", r.definitions, path)
		their := timed(b, "node", append(other, strconv.Itoa(packets))...)
		wall = append(wall, their.wall/our.wall)
		cpu = append(cpu, their.cpu/(our.cpu/float64(cores.Count())))
	}
	b.ReportMetric(median(wall), "x")
	b.ReportMetric(median(cpu), "cpu-x")
}

// processTimes are seconds.
type processTimes struct{ wall, cpu float64 }

// timed runs a program that prints packets.
func timed(b *testing.B, program string, args ...string) processTimes {
	b.Helper()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	c := exec.CommandContext(b.Context(), program, args...)
	var wrong bytes.Buffer
	c.Stdout, c.Stderr = out, &wrong
	begin := time.Now()
	if err := c.Run(); err != nil || wrong.Len() > 0 {
		b.Fatalf("%s: %v: %.500s", program, err, wrong.Bytes())
	}
	wall := time.Since(begin)
	return processTimes{wall.Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()}
}

// vectors returns a packet of each definition of the reference, of the highest version of each,
// and its name. It makes a folder with these definitions and a map of the packets' names. The
// packets are those that the reference itself made, with random values. Their codes are changed
// so that no two names have one: they are the places of the names.
func (r *toolboxRun) vectors(b *testing.B) (names []string, packets []capture.Packet) {
	b.Helper()
	r.definitions, r.revision = filepath.Join(b.TempDir(), "definitions"), "1"
	if err := os.CopyFS(r.definitions, os.DirFS(testneeds.Fixture(b, "packets/tera-toolbox"))); err != nil {
		b.Fatal(err)
	}
	vectors, err := os.ReadFile(testneeds.Fixture(b, "packets/vectors/tera-toolbox.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	byName := make(map[string][]byte)
	versions := make(map[string]int)
	for line := range bytes.Lines(vectors) {
		var v struct{ Def, Hex string }
		if err := json.Unmarshal(line, &v); err != nil {
			b.Fatal(err)
		}
		d, _ := protocol.ParseFileName(v.Def)
		if byName[d.Name] != nil && d.Version < versions[d.Name] {
			continue
		}
		if byName[d.Name], err = hex.DecodeString(v.Hex); err != nil {
			b.Fatal(err)
		}
		versions[d.Name] = d.Version
	}
	names = slices.Sorted(maps.Keys(byName))
	var codes bytes.Buffer
	for code, name := range names {
		data := byName[name]
		binary.LittleEndian.PutUint16(data[2:], uint16(code))
		fmt.Fprintln(&codes, name, code)
		packets = append(packets, capture.Packet{Data: data, From: capture.FromServer})
	}
	if err := os.WriteFile(filepath.Join(r.definitions, "protocol."+r.revision+".map"), codes.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return names, packets
}

// playedShares says how many of a thousand packets have a name: a guess at a fight.
var playedShares = map[string]int{
	"S_NPC_LOCATION": 180, "S_USER_LOCATION": 90, "C_PLAYER_LOCATION": 60, "S_CREATURE_ROTATE": 60,
	"S_ACTION_STAGE": 110, "S_ACTION_END": 90, "S_EACH_SKILL_RESULT": 120, "S_CREATURE_CHANGE_HP": 80,
	"S_PLAYER_CHANGE_MP": 40, "S_ABNORMALITY_BEGIN": 30, "S_ABNORMALITY_REFRESH": 20, "S_ABNORMALITY_END": 30,
	"S_START_USER_PROJECTILE": 15, "S_SPAWN_NPC": 20, "S_DESPAWN_NPC": 20, "S_SPAWN_USER": 5, "S_DESPAWN_USER": 5,
	"S_BOSS_GAGE_INFO": 10, "S_PLAYER_STAT_UPDATE": 5, "S_CHAT": 5, "S_SYSTEM_MESSAGE": 5,
}

// played returns packets with those names, each at another place of a map: most places in
// vectors are multiples of an eighth, which are short as text.
func (r *toolboxRun) played(b *testing.B, names []string, packets []capture.Packet) (list []capture.Packet) {
	b.Helper()
	lib := r.library(b)
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, name := range slices.Sorted(maps.Keys(playedShares)) {
		var table *protocol.Table
		i, err := lib.Choose(name, "*", 0)
		if err == nil {
			table, err = lib.Table(i, 0)
		}
		if err != nil {
			b.Fatal(err)
		}
		p := packets[slices.Index(names, name)]
		for range 10 * playedShares[name] {
			list = append(list, capture.Packet{Data: moved(b, rnd, table, p.Data), From: p.From})
		}
	}
	rnd.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// moved returns a packet whose places are others.
func moved(b *testing.B, rnd *rand.Rand, table *protocol.Table, packet []byte) []byte {
	b.Helper()
	m, err := table.Decode(packet)
	if err != nil {
		b.Fatal(err)
	}
	for i, field := range m.Data {
		if field.Value.Kind() == protocol.KindVec3 {
			m.Data[i].Value = protocol.Vec3{rnd.Float32()*2e5 - 1e5, rnd.Float32()*2e5 - 1e5, rnd.Float32() * 5e3}.Value()
		}
	}
	packet, err = table.Encode(m)
	if err != nil {
		b.Fatal(err)
	}
	return packet
}

func (r *toolboxRun) library(b *testing.B) *protocol.Library {
	b.Helper()
	lib, err := protocol.OpenLibrary(os.DirFS(r.definitions), protocol.LibraryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return lib
}

// write writes a recording of n packets: those of a list, in turn.
func (r *toolboxRun) write(b *testing.B, list []capture.Packet, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "session.TeraLog")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	w, err := capture.NewWriter(out, capture.Info{Format: capture.TeraLog, Revision: r.revision})
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

// node returns the arguments of node, but for the number of packets, and the packets of a
// session that both can read: node has only these.
func (r *toolboxRun) node(b *testing.B, session string) (args []string, both []capture.Packet) {
	b.Helper()
	data, err := os.ReadFile(session)
	if err != nil {
		b.Fatal(err)
	}
	log, err := capture.Open(b.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r.revision = log.Info().Revision
	recording, err := dissect.New(log, r.library(b), dissect.Options{})
	if err != nil {
		b.Fatal(err)
	}
	decoded := decodedPackets(b, recording)
	dir := b.TempDir()
	args = []string{filepath.Join("testdata", "toolbox.js"), r.toolbox, filepath.Join(dir, "tables.json"), filepath.Join(dir, "packets")}
	r.writeNode(b, args[2:], recording, decoded)
	out, err := exec.CommandContext(b.Context(), "node", args...).Output()
	if err != nil {
		b.Fatalf("node: %v", err)
	}
	var readable []int
	if err := json.Unmarshal(out, &readable); err != nil || len(readable) == 0 {
		b.Fatalf("tera-toolbox reads no packet: %v", err)
	}
	for _, k := range readable {
		both = append(both, decoded[k])
	}
	b.Logf("%d packets, %d decoded, %d of them by both", log.Len(), len(decoded), len(both))
	r.writeNode(b, args[2:], recording, both)
	return args, both
}

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

// nodeTable is a definition for node.
type nodeTable struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	File    string `json:"file"`
}

// writeNode writes the files of tables and of packets for node.
func (r *toolboxRun) writeNode(b *testing.B, files []string, recording *dissect.Recording, list []capture.Packet) {
	b.Helper()
	definitions := make(map[string]nodeTable)
	for _, d := range r.library(b).Definitions() {
		definitions[d.String()] = nodeTable{d.Name, d.Version, filepath.Join(r.definitions, filepath.FromSlash(d.Path))}
	}
	places := make(map[string]uint32)
	var tables []nodeTable
	var packets []byte
	for i := range list {
		name := recording.Code(list[i].Code()).Table.Name()
		place, known := places[name]
		if !known {
			place = uint32(len(tables))
			places[name] = place
			tables = append(tables, definitions[name])
		}
		packets = binary.LittleEndian.AppendUint32(packets, place)
		packets = binary.LittleEndian.AppendUint32(packets, uint32(len(list[i].Data)))
		packets = append(packets, list[i].Data...)
	}
	text, err := json.Marshal(tables)
	if err != nil {
		b.Fatal(err)
	}
	for i, data := range [][]byte{text, packets} {
		if err := os.WriteFile(files[i], data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}
