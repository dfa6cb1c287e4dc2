package casctree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lorefs/internal/shown"
	"lorefs/nodes/internal/svg"
)

// pictureName is the name of the drawing of the storage.
const pictureName = "storage.svg"

// pictureSize is the size of its file. It is enough for all boxes, with files of each state in all of
// them, if their names have no letters that take more room than others.
const pictureSize = 512 << 10

// How the drawing is laid out, in its units.
const (
	pictureWidth, pictureHeight = 1200, 800
	pictureHead                 = 60
	// boxHead is the height of the name of a folder that is divided, and boxMargin is around
	// what is in it.
	boxHead, boxMargin = 15, 2
	// minBox is the smallest area of a box that is divided.
	minBox = 4000
	// maxIn is how many boxes are in another, but for one for all others. maxBoxes is how many
	// there are.
	maxIn, maxBoxes = 40, 500
)

// state says whether the data of a file can be had, as far as that is known without reading it.
type state uint8

const (
	stateLocal state = iota
	stateMissing
	stateNoKey
	stateCount
)

var states = [stateCount]struct{ name, colour string }{
	stateLocal:   {"local", "#7fb069"},
	stateMissing: {"missing", "#c4c8ce"},
	stateNoKey:   {"no key", "#e07a3f"},
}

// share is the size of files, in bytes, by their state.
type share [stateCount]int64

func (s *share) add(other *share) {
	for i, n := range other {
		s[i] += n
	}
}

func (s *share) total() (n int64) {
	for _, part := range s {
		n += part
	}
	return n
}

// box is a part of the drawing: a folder, files of a folder, or the rest of one.
type box struct {
	name, path string
	// dir is the number of a folder, else -1.
	dir int
	share
}

// drawing draws the folders of a table.
type drawing struct {
	*svg.Drawing
	table *table
	// own and all are the shares of folders, without and with what is in folders below.
	own, all []share
}

// draw makes storage.svg of the shares of the files that are in each folder.
func (t *Tree) draw(own []share) []byte {
	d := &drawing{svg.New(pictureSize, pictureWidth, pictureHeight, "Files of a storage by folder"), t.table, own, slices.Clone(own)}
	for i := len(own) - 1; i > 0; i-- { // folders stand before those in them
		d.all[t.table.parent(i)].add(&d.all[i])
	}
	title := strings.TrimSpace(t.st.Build.Product + " " + t.st.Build.Version)
	d.Text(10, 24, 18, svg.Start, "#222", svg.Cut(title, 60))
	x := 10.0
	for i, s := range states {
		d.Rect(svg.Rect{X: x, Y: 36, Width: 12, Height: 12}, svg.Style{Fill: s.colour})
		d.Text(x+17, 47, 13, svg.Start, "#222", s.name+": "+bytesOf(d.all[0][i]))
		x += 220
	}
	d.boxes(svg.Rect{X: 10, Y: pictureHead, Width: pictureWidth - 20, Height: pictureHeight - pictureHead - 10})
	return d.Bytes()
}

// bytesOf spells a size.
func bytesOf(n int64) string {
	units := [...]string{"kB", "MB", "GB", "TB"}
	if n < 1000 {
		return shown.Plural(n, "byte")
	}
	size, unit := float64(n)/1000, 0
	for ; size >= 999.95 && unit < len(units)-1; unit++ {
		size /= 1000
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}

// placed is a box in its place.
type placed struct {
	box
	in svg.Rect
}

// boxes draws all boxes: those that are in no other, then those in them, and so on. When there are
// maxBoxes none is divided any more.
func (d *drawing) boxes(in svg.Rect) {
	queue := place(d.boxesIn(0, ""), in)
	for drawn := len(queue); len(queue) > 0; queue = queue[1:] {
		b := &queue[0]
		parts := d.partsOf(b)
		if drawn += len(parts); len(parts) == 0 || drawn > maxBoxes {
			drawn -= len(parts)
			d.fill(b)
			continue
		}
		d.Rect(b.in, svg.Style{Fill: "#f4f5f6", Stroke: "#556", Width: 0.6, Title: titleOf(&b.box)})
		d.label(b)
		queue = append(queue, parts...)
	}
}

// place gives boxes their places in a rectangle.
func place(boxes []box, in svg.Rect) []placed {
	weights := make([]float64, len(boxes))
	for i := range boxes {
		weights[i] = float64(boxes[i].total())
	}
	all := make([]placed, len(boxes))
	for i, r := range svg.Squares(in, weights) {
		all[i] = placed{boxes[i], r}
	}
	return all
}

// partsOf returns what is in a box, or nothing if that can't be seen.
func (d *drawing) partsOf(b *placed) []placed {
	inner := svg.Rect{X: b.in.X + boxMargin, Y: b.in.Y + boxHead, Width: b.in.Width - 2*boxMargin, Height: b.in.Height - boxHead - boxMargin}
	if b.dir < 0 || d.table.dirsIn(b.dir).len() == 0 || b.in.Width*b.in.Height < minBox || min(inner.Width, inner.Height) < boxHead {
		return nil
	}
	return place(d.boxesIn(b.dir, b.path+"/"), inner)
}

// boxesIn returns the parts of a folder, the largest first.
func (d *drawing) boxesIn(dir int, path string) (boxes []box) {
	for in := d.table.dirsIn(dir); in.from < in.to; in.from++ {
		if name := string(d.table.dirName(in.from)); d.all[in.from].total() > 0 {
			boxes = append(boxes, box{name, path + name, in.from, d.all[in.from]})
		}
	}
	if d.own[dir].total() > 0 {
		boxes = append(boxes, box{"loose files", path + "*", -1, d.own[dir]})
	}
	slices.SortStableFunc(boxes, func(a, b box) int { return cmp.Compare(b.total(), a.total()) })
	if len(boxes) <= maxIn {
		return boxes
	}
	rest := box{name: shown.Plural(len(boxes)-maxIn, "more folder"), path: path + "…", dir: -1}
	for i := range boxes[maxIn:] {
		rest.add(&boxes[maxIn+i].share)
	}
	boxes = append(boxes[:maxIn], rest)
	slices.SortStableFunc(boxes, func(a, b box) int { return cmp.Compare(b.total(), a.total()) })
	return boxes
}

// fill draws a box that is not divided, in the colours of what is in it.
func (d *drawing) fill(b *placed) {
	x, total := b.in.X, float64(b.total())
	for i, n := range b.share {
		if n == 0 {
			continue
		}
		part := svg.Rect{X: x, Y: b.in.Y, Width: b.in.Width * float64(n) / total, Height: b.in.Height}
		d.Rect(part, svg.Style{Fill: states[i].colour, Stroke: "#fff", Width: 0.5, Title: titleOf(&b.box)})
		x += part.Width
	}
	d.label(b)
}

// titleOf tells what is in a box.
func titleOf(b *box) string {
	const longestPath = 80
	parts := []string{svg.Cut(b.path, longestPath)}
	for i, n := range b.share {
		if n > 0 {
			parts = append(parts, states[i].name+" "+bytesOf(n))
		}
	}
	return strings.Join(parts, ", ")
}

// label writes the name of a box and its size, or as much of both as there is room for.
func (d *drawing) label(b *placed) {
	const size, letter = 11, 7 // which is about how wide letters are; wider ones are cut off at the edge
	place := svg.Rect{X: b.in.X + boxMargin + 1, Y: b.in.Y, Width: b.in.Width - 2*boxMargin - 1, Height: boxHead}
	room := int(place.Width / letter)
	if b.in.Height < boxHead || room < 3 {
		return
	}
	text := b.name
	if withSize := b.name + " · " + bytesOf(b.total()); utf8.RuneCountInString(withSize) <= room {
		text = withSize
	}
	d.TextIn(place, size, "#222", svg.Cut(text, room))
}
