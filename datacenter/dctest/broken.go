package dctest

import (
	"fmt"
	"math"

	"lorefs/datacenter"
)

// Stage is when a mistake must be found at the latest.
type Stage uint8

const (
	// AtOpen means that the file can't be opened.
	AtOpen Stage = iota + 1
	// AtRead means that the file opens, but reading the bad part fails. Everything else can
	// be read.
	AtRead
	// AtVerify means that only Verify must find it.
	AtVerify
	// Never means that no rule is broken, but a careless reader runs out of memory, stack
	// or time. The file may be refused.
	Never
)

func (s Stage) String() string {
	names := [...]string{AtOpen: "open", AtRead: "read", AtVerify: "verify", Never: "never"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}

// BrokenFile is a file with one thing wrong.
type BrokenFile struct {
	Name string
	// Want describes the mistake.
	Want string
	// Found is when it must be found at the latest.
	Found Stage
	// Layout is the layout of the file, as far as it has one.
	Layout datacenter.Layout
	Data   []byte
}

// Strict reports whether only Verify must find the mistake.
func (b BrokenFile) Strict() bool { return b.Found == AtVerify }

// Broken returns files of a layout, each with one thing wrong.
func Broken(layout datacenter.Layout) []BrokenFile {
	layout = Doc{Layout: layout}.layout()
	var all []BrokenFile
	for _, edits := range [][]edit{
		headerEdits(), countEdits(layout), segmentEdits(), nodeEdits(), attributeEdits(), keyEdits(),
		tableEdits("names", namesOf), tableEdits("values", valuesOf),
	} {
		for _, e := range edits {
			all = append(all, e.file(layout))
		}
	}
	all = append(all, brokenDocs(layout)...)
	all = append(all, brokenFiles(layout)...)
	return append(all, Hostile(layout)...)
}

// edit is one mistake in an image of subject.
type edit struct {
	name, want string
	found      Stage
	apply      func(*Image)
}

func (e edit) file(layout datacenter.Layout) BrokenFile {
	m := NewImage(subject(layout), Options{FullCount: subjectFull})
	e.apply(m)
	return BrokenFile{Name: e.name, Want: e.want, Found: e.found, Layout: layout, Data: m.Seal(SealOptions{})}
}

// subject returns the document that edits break: plain, with strings that share a bucket.
func subject(layout datacenter.Layout) Doc {
	d := inLayout(plain(), layout)
	sheet := &Node{Name: "Zone"}
	d.Names = neighbours(2, NameBuckets)
	for i, value := range neighbours(2, ValueBuckets) {
		sheet.Attrs = append(sheet.Attrs, Attr{d.Names[i], value})
	}
	d.Root.Children = append(d.Root.Children, sheet)
	return d
}

// subjectFull gives the segments of subject slack.
const subjectFull = 160

// Where the nodes of subject are, from the root.
var (
	items = []int{0}
	coat  = []int{0, 0}
	sword = []int{0, 1}
	quest = []int{1}
	task  = []int{1, 0}
	end   = []int{1, 0, 0}
)

// Attributes of the sword and of the coat, and of the task.
const (
	itemID = iota
	itemBound
	itemName
	itemWeight

	taskID   = 0
	taskText = 1
)

func (m *Image) nodeAt(path []int) int64 { return m.NodeOffset(m.Child(path...)) }

func (m *Image) attributeAt(path []int, i int) int64 {
	return m.AttributeOffset(m.Attribute(m.Child(path...), i))
}

// swap exchanges n bytes at two places.
func (m *Image) swap(a, b, n int64) {
	for i := range n {
		m.Data[a+i], m.Data[b+i] = m.Data[b+i], m.Data[a+i]
	}
}

func headerEdits() []edit {
	version := func(v uint32) func(*Image) { return func(m *Image) { m.Put32(0, v) } }
	edits := []edit{
		{"version 0", "version is neither 3 nor 6", AtOpen, version(0)},
		{"version 4", "version is neither 3 nor 6", AtOpen, version(4)},
		{"version huge", "version is neither 3 nor 6", AtOpen, version(math.MaxUint32)},
		{"timestamp", "the timestamp is -2, no time and not the -1 of none", AtVerify, func(m *Image) { m.Put32(8, 0xc0000000) }},
		{"footer", "the footer's marker is not 0", AtVerify, func(m *Image) { m.Put32(m.Footer, 1) }},
		{"no footer", "the footer is missing", AtVerify, func(m *Image) { m.Data = m.Data[:m.Footer] }},
		{"behind the footer", "4 bytes follow the footer", AtVerify, func(m *Image) { m.Data = append(m.Data, 1, 2, 3, 4) }},
	}
	for i, back := range []int64{16, 14, 12, 8, 4} {
		edits = append(edits, edit{
			fmt.Sprintf("unknown_%d", i+1), "a header field that is always 0 is not", AtVerify,
			func(m *Image) { m.Put16(m.Keys-back, 1) },
		})
	}
	return edits
}
