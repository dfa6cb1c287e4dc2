package dcsave

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/cfb"
	"lorefs/internal/source"
	"lorefs/internal/testneeds"
	"lorefs/nodes/blockcache"
)

// BenchmarkCommit saves edits of a real file or that of LOREFS_BENCH_FILE, and of the same file written
// anew by lorefs, with all checks and syncs: single edits of several kinds at places spread over the
// file, and many values at once. It reports the median, also in terms of what the standard library
// needs to decrypt and inflate the file, and how much memory the process takes meanwhile. Use
// -benchtime 1x.
func BenchmarkCommit(b *testing.B) {
	path := os.Getenv("LOREFS_BENCH_FILE")
	if path == "" {
		path = testneeds.Fixture(b, "datacenter/p100_x64.dat")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("given", func(b *testing.B) { benchCommits(b, data) })
	b.Run("lorefs", func(b *testing.B) { benchCommits(b, writtenAnew(b, data)) })
}

func benchCommits(b *testing.B, data []byte) {
	b.Helper()
	kinds := []benchKind{
		{"private int", func(p *benchPlace) bool { return p.alone && p.int != "" }, (*benchEditing).setInt},
		{"shared int", func(p *benchPlace) bool { return !p.alone && p.int != "" }, (*benchEditing).setInt},
		{"existing string", func(p *benchPlace) bool { return p.string != "" }, (*benchEditing).setString},
		{"new string", func(p *benchPlace) bool { return p.string != "" }, (*benchEditing).setNewString},
		{"new attribute", func(p *benchPlace) bool { return p.int != "" }, (*benchEditing).addAttribute},
		{"new child", func(p *benchPlace) bool { return p.child != "" }, (*benchEditing).addChild},
	}
	f := openInMemory(b, data)
	places := findPlaces(b, f, kinds)
	for k, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			commits := make([][]benchPlace, len(places[k]))
			for i, p := range places[k] {
				commits[i] = []benchPlace{p}
			}
			benchKindOf(b, data, commits, kind.edit)
		})
	}
	draw := newPlaceDrawer(b, f)
	b.Run("1000 values in 50 sheets", func(b *testing.B) { benchKindOf(b, data, draw.commits(draw.inSheets), (*benchEditing).setAny) })
	b.Run("1000 values", func(b *testing.B) { benchKindOf(b, data, draw.commits(draw.anywhere), (*benchEditing).setAny) })
}

// benchKindOf makes commits, one after another, of edits of one kind.
func benchKindOf(b *testing.B, data []byte, commits [][]benchPlace, edits func(e *benchEditing, p *benchPlace, i int) []edit.Edit) {
	b.Helper()
	e := openBench(b, data)
	var took, floors []time.Duration
	var grown []int
	for b.Loop() {
		for i, places := range commits {
			for k := range places {
				if err := e.Draft().Apply(b.Context(), edits(e, &places[k], i*len(places)+k)...); err != nil {
					b.Fatal(err)
				}
			}
			if !e.Pending() {
				continue // the value was there
			}
			if i%5 == 0 || len(commits) < 10 {
				floors = append(floors, floorOf(b, data))
			}
			before := resident(b, true)
			began := time.Now()
			if _, err := e.Save(b.Context(), save.How{}, func(save.Progress) {}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
			grown = append(grown, resident(b, false)-before)
		}
	}
	slices.Sort(took)
	slices.Sort(floors)
	median, floor := took[len(took)/2], floors[len(floors)/2]
	b.ReportMetric(median.Seconds(), "s/commit")
	b.ReportMetric(median.Seconds()/floor.Seconds(), "F/commit")
	b.ReportMetric(float64(slices.Max(grown))/(1<<20), "MiB-grown")
	b.ReportMetric(float64(e.spliced.Load())/float64(len(took)), "spliced")
}

// writtenAnew returns a file as lorefs writes it as a whole.
func writtenAnew(b *testing.B, data []byte) []byte {
	b.Helper()
	d, err := edit.NewDraft(openInMemory(b, data), nil)
	if err != nil {
		b.Fatal(err)
	}
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	if _, err := s.Write(b.Context(), datacenter.WriteOptions{}, &out); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func openInMemory(b *testing.B, data []byte) *datacenter.File {
	b.Helper()
	f, err := datacenter.Open(b.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// benchKind is a kind of edits, and the places for them.
type benchKind struct {
	name string
	pick func(p *benchPlace) bool
	edit func(e *benchEditing, p *benchPlace, i int) []edit.Edit
}

// floorOf returns the time that the standard library needs to decrypt and inflate a file.
func floorOf(b *testing.B, data []byte) time.Duration {
	b.Helper()
	began := time.Now()
	key := datacenter.DefaultKeys()[0]
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		b.Fatal(err)
	}
	const head = 4 // the size
	plain := io.NewSectionReader(cfb.NewReader(bytes.NewReader(data), block, key.IV), head, int64(len(data))-head)
	z, err := zlib.NewReader(plain)
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// resident returns the memory of the process in bytes, if the system tells: what it has now, after
// which the peak is measured anew, or that peak.
func resident(b *testing.B, now bool) int {
	b.Helper()
	what := "VmHWM"
	if now {
		what = "VmRSS"
		debug.FreeOSMemory()
		const resetPeak = "5"
		if os.WriteFile("/proc/self/clear_refs", []byte(resetPeak), 0) != nil {
			return 0
		}
	}
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	kb, err := strconv.Atoi(string(regexp.MustCompile(what + `:\s+(\d+) kB`).FindSubmatch(text)[1]))
	if err != nil {
		b.Fatal(err)
	}
	return kb << 10
}

// benchEditing is a session that a benchmark saves.
type benchEditing struct {
	*Session
	*splicedCounter
	b *testing.B
}

func openBench(b *testing.B, data []byte) *benchEditing {
	b.Helper()
	dir := b.TempDir()
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	path := filepath.Join(dir, "a.dat")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	src, err := source.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	const budget = 64 << 20 // as a mount has it during a save
	dc, err := datacenter.Open(b.Context(), src, src.Size(), datacenter.Options{Blocks: blockcache.New(budget).View()})
	if err != nil {
		b.Fatal(err)
	}
	counter := newSplicedCounter()
	saved := blockcache.New(budget)
	s, err := Open(b.Context(), src, dc, Options{
		Logger: counter.logger(), NoBackup: true,
		Reopen: func() datacenter.Options { return datacenter.Options{Blocks: saved.View()} },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(s.Close(), src.Close()); err != nil {
			b.Error(err)
		}
	})
	return &benchEditing{s, counter, b}
}

func (e *benchEditing) setInt(p *benchPlace, i int) []edit.Edit {
	return []edit.Edit{{Op: edit.SetAttribute, Node: p.number, Name: p.int, Value: datacenter.IntValue(int32(1_000_000 + i))}}
}

func (e *benchEditing) setString(p *benchPlace, _ int) []edit.Edit { return e.set(p, p.other) }

func (e *benchEditing) setNewString(p *benchPlace, i int) []edit.Edit {
	return e.set(p, fmt.Sprintf("a string that the file lacks, %d", i))
}

func (e *benchEditing) set(p *benchPlace, text string) []edit.Edit {
	v, err := datacenter.StringValue(text)
	if err != nil {
		e.b.Fatal(err)
	}
	return []edit.Edit{{Op: edit.SetAttribute, Node: p.number, Name: p.string, Value: v}}
}

// setAny sets an int or else a string.
func (e *benchEditing) setAny(p *benchPlace, i int) []edit.Edit {
	if p.int != "" {
		return e.setInt(p, i)
	}
	return e.setString(p, i)
}

func (e *benchEditing) addAttribute(p *benchPlace, i int) []edit.Edit {
	edits := e.setInt(p, i)
	edits[0].Name = "name"
	return edits
}

func (e *benchEditing) addChild(p *benchPlace, i int) []edit.Edit {
	child := e.Draft().NewNumber()
	edits := []edit.Edit{{Op: edit.AddNode, Node: child, Parent: p.number, Name: p.child, Ordinal: uint32(child)}}
	for _, name := range []string{"id", "name", "x", "y"} {
		edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: child, Name: name, Value: datacenter.IntValue(int32(i))})
	}
	return edits
}

// benchPlace is a node to be edited.
type benchPlace struct {
	number edit.Number
	// alone is set if only one path leads to it, and no other node has its attributes.
	alone bool
	// int and string are attributes of these types, child is the name of a child; each is empty if
	// there is none. other is a string that another attribute has.
	int, string, child, other string
}

// findPlaces returns 20 places for each kind of edits, at equal distances among all.
func findPlaces(b *testing.B, f *datacenter.File, kinds []benchKind) [][]benchPlace {
	b.Helper()
	const count = 20
	root, err := f.Root()
	if err != nil {
		b.Fatal(err)
	}
	p := placeFinder{b: b, kinds: kinds, found: make([][]benchPlace, len(kinds)), attrs: map[datacenter.Run]uint8{}, kids: map[datacenter.Run]uint8{}, rng: rand.New(rand.NewPCG(1, 2))}
	p.count(root)
	clear(p.seen())
	p.visit(root, 0, true)
	for k, found := range p.found {
		if len(found) < count {
			b.Fatalf("only %d places for a %s", len(found), kinds[k].name)
		}
		spread := make([]benchPlace, count)
		for i := range spread {
			spread[i] = found[i*len(found)/count]
		}
		p.found[k] = spread
	}
	return p.found
}

type placeFinder struct {
	b     *testing.B
	kinds []benchKind
	// attrs and kids count the nodes that have a run, up to 2.
	attrs, kids map[datacenter.Run]uint8
	visited     map[datacenter.Run]bool
	rng         *rand.Rand
	other       string
	found       [][]benchPlace
}

func (p *placeFinder) seen() map[datacenter.Run]bool {
	if p.visited == nil {
		p.visited = map[datacenter.Run]bool{}
	}
	return p.visited
}

// count counts who refers to the runs of a node and of what is below it.
func (p *placeFinder) count(n datacenter.Node) {
	p.attrs[n.AttributeRun()] = min(p.attrs[n.AttributeRun()]+1, 2)
	run := n.ChildRun()
	p.kids[run] = min(p.kids[run]+1, 2)
	if n.ChildCount() == 0 || p.seen()[run] {
		return
	}
	p.seen()[run] = true
	for c, err := range n.Children() {
		if err != nil {
			p.b.Fatal(err)
		}
		p.count(c)
	}
}

// visit looks for places in a node. Each run is visited once.
func (p *placeFinder) visit(n datacenter.Node, number edit.Number, alone bool) {
	place := p.place(n, number, alone)
	for k, kind := range p.kinds {
		if number > 0 && number%37 == 0 && kind.pick(&place) { // few are enough
			p.found[k] = append(p.found[k], place)
		}
	}
	run := n.ChildRun()
	if n.ChildCount() == 0 || p.seen()[run] {
		return
	}
	p.seen()[run] = true
	next := number + 1 + edit.Number(n.AttributeCount())
	for c, err := range n.Children() {
		if err != nil {
			p.b.Fatal(err)
		}
		p.visit(c, next, alone && p.kids[run] == 1)
		next += edit.Number(c.Entries())
	}
}

func (p *placeFinder) place(n datacenter.Node, number edit.Number, alone bool) benchPlace {
	place := benchPlace{number: number, alone: alone && p.attrs[n.AttributeRun()] == 1, other: p.other}
	for a, err := range n.Attributes() {
		if err != nil {
			p.b.Fatal(err)
		}
		switch {
		case a.Type() == datacenter.Int:
			place.int = a.Name()
		case a.Type() == datacenter.String && a.Name() != datacenter.ValueName:
			place.string = a.Name()
			if p.rng.IntN(100) == 0 {
				text, err := a.AppendText(nil)
				if err != nil {
					p.b.Fatal(err)
				}
				p.other = string(text)
			}
		}
	}
	for c, err := range n.Children() {
		if err != nil {
			p.b.Fatal(err)
		}
		place.child = c.Name()
		break
	}
	return place
}

// placeDrawer draws nodes by lot.
type placeDrawer struct {
	placeFinder
	root datacenter.Node
}

func newPlaceDrawer(b *testing.B, f *datacenter.File) *placeDrawer {
	b.Helper()
	root, err := f.Root()
	if err != nil {
		b.Fatal(err)
	}
	return &placeDrawer{placeFinder{b: b, rng: rand.New(rand.NewPCG(1, 3))}, root}
}

// commits draws the places for some commits of many values.
func (d *placeDrawer) commits(draw func() []benchPlace) (commits [][]benchPlace) {
	for range 5 {
		commits = append(commits, draw())
	}
	return commits
}

const manyValues = 1000

// anywhere draws nodes, each logical one with the same chance.
func (d *placeDrawer) anywhere() (places []benchPlace) { return d.below(d.root, 0, manyValues) }

// inSheets draws nodes of 50 sheets, which are drawn by their size.
func (d *placeDrawer) inSheets() (places []benchPlace) {
	const sheets = 50
	drawn := map[edit.Number]bool{}
	for len(drawn) < sheets {
		sheet, number := d.child(d.root, 0, 1+d.rng.Uint32N(d.root.Entries()-1))
		if !drawn[number] {
			drawn[number] = true
			places = append(places, d.below(sheet, number, manyValues/sheets)...)
		}
	}
	return places
}

// below draws nodes with values among a node and all below it. first is its number.
func (d *placeDrawer) below(n datacenter.Node, first edit.Number, count int) (places []benchPlace) {
	for tries := 0; len(places) < count && tries < 100*count; tries++ {
		at := d.rng.Uint32N(n.Entries())
		found, number := n, first
		for at > uint32(found.AttributeCount()) {
			was := number
			found, number = d.child(found, number, at)
			at -= uint32(number - was)
		}
		if p := d.place(found, number, false); number > 0 && (p.int != "" || p.string != "") {
			places = append(places, p)
		}
	}
	return places
}

// child returns the child that entry at, counted from a node on, belongs to, and its number.
func (d *placeDrawer) child(n datacenter.Node, number edit.Number, at uint32) (datacenter.Node, edit.Number) {
	next := 1 + uint32(n.AttributeCount())
	for c, err := range n.Children() {
		if err != nil {
			d.b.Fatal(err)
		}
		if at < next+c.Entries() {
			return c, number + edit.Number(next)
		}
		next += c.Entries()
	}
	d.b.Fatalf("node %d has no entry %d", number, at)
	return n, 0
}
