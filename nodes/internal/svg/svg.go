// Package svg writes drawings in SVG, as files whose sizes are known before they are drawn: they
// are filled up with spaces. So nobody has to draw a picture to list the directory it is in.
//
// Texts may come from anywhere. They are escaped, and what XML can't hold is replaced. They are
// texts in the file as well, in a font of the viewer's, which has the letters of all languages.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"unicode/utf8"
)

// Rect is a rectangle of a drawing.
type Rect struct{ X, Y, Width, Height float64 }

// Style is how something is drawn. Its strings are written as they are.
type Style struct {
	// Fill and Stroke are colours. Without Fill nothing is filled, without Stroke nothing is
	// outlined.
	Fill, Stroke string
	// Width of the outline.
	Width float64
	// Title is shown by viewers that point at the shape.
	Title string
}

// Drawing is a drawing of at most so many bytes. What does not fit is left out.
type Drawing struct {
	buf  bytes.Buffer
	size int
	left int
}

// tail ends a drawing.
const tail = "</svg>\n"

// MinSize is the smallest size of a drawing: it has room for the beginning, whose title has at
// most maxTitle characters.
const (
	MinSize  = 2048
	maxTitle = 200
)

// New begins a drawing of width×height units in a file of size bytes, at least [MinSize].
func New(size int, width, height float64, title string) *Drawing {
	d := &Drawing{size: size}
	d.buf.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ` + number(width) + " " + number(height) + `" font-family="sans-serif">` +
		"\n<title>" + escape(Cut(title, maxTitle)) + "</title>\n")
	d.Rect(Rect{0, 0, width, height}, Style{Fill: "#fff"})
	return d
}

// number spells a coordinate. A tenth of a unit is less than can be seen.
func number(v float64) string {
	s := fmt.Sprintf("%.1f", v)
	return string(bytes.TrimSuffix([]byte(s), []byte(".0")))
}

// escape makes a text part of XML.
func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a Buffer has no errors
	return b.String()
}

// Cut returns the beginning of a text of at most n characters. It ends with … if something is cut
// off.
func Cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	if n < 1 {
		return ""
	}
	runes := []rune(text)
	return string(runes[:n-1]) + "…"
}

// add adds an element if there is room for it.
func (d *Drawing) add(element string) {
	if d.buf.Len()+len(element)+len(tail) > d.size {
		d.left++
		return
	}
	d.buf.WriteString(element)
}

// LeftOut returns how many elements there was no room for.
func (d *Drawing) LeftOut() int { return d.left }

// paint spells a style, and the end of the element called name.
func (s Style) paint(name string) string {
	fill := s.Fill
	if fill == "" {
		fill = "none"
	}
	out := ` fill="` + fill + `"`
	if s.Stroke != "" {
		out += ` stroke="` + s.Stroke + `" stroke-width="` + number(s.Width) + `"`
	}
	if s.Title == "" {
		return out + "/>\n"
	}
	return out + "><title>" + escape(s.Title) + "</title></" + name + ">\n"
}

// Rect draws a rectangle.
func (d *Drawing) Rect(r Rect, s Style) {
	d.add(fmt.Sprintf(`<rect x="%s" y="%s" width="%s" height="%s"`, number(r.X), number(r.Y), number(r.Width), number(r.Height)) + s.paint("rect"))
}

// Path draws lines. data is the value of the attribute d.
func (d *Drawing) Path(data string, s Style) { d.add(`<path d="` + data + `"` + s.paint("path")) }

// Anchor says which part of a text its place is.
type Anchor string

// The anchors.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

// Text writes a text of one line, whose base line begins, or ends, at a place.
func (d *Drawing) Text(x, y, size float64, at Anchor, fill, text string) {
	d.add(fmt.Sprintf(`<text x="%s" y="%s" font-size="%s" text-anchor="%s" fill="%s">`, number(x), number(y), number(size), at, fill) +
		escape(text) + "</text>\n")
}

// TextIn draws a text that begins at the left of a rectangle, and nothing of it outside.
func (d *Drawing) TextIn(r Rect, size float64, fill, text string) {
	d.add(inside(r) + fmt.Sprintf(`><text y="%s" font-size="%s" fill="%s">`, number(r.Height*0.75), number(size), fill) + escape(text) + "</text></svg>\n")
}

// Label is Text with an edge of another colour, which can be read on any ground.
func (d *Drawing) Label(x, y, size float64, at Anchor, fill, edge, text string) {
	d.add(fmt.Sprintf(`<text x="%s" y="%s" font-size="%s" text-anchor="%s" fill="%s" stroke="%s" stroke-width="%s" paint-order="stroke">`,
		number(x), number(y), number(size), at, fill, edge, number(size/5)) + escape(text) + "</text>\n")
}

// Image draws a part of a picture, which is a file of width×height pixels beside the drawing.
func (d *Drawing) Image(r Rect, file string, width, height int, part Rect) {
	d.add(inside(r) + fmt.Sprintf(` viewBox="%s %s %s %s" preserveAspectRatio="none"><image width="%d" height="%d" href="%s"/></svg>`+"\n",
		number(part.X), number(part.Y), number(part.Width), number(part.Height), width, height, escape(file)))
}

// inside begins an element that shows nothing outside of a rectangle.
func inside(r Rect) string {
	return fmt.Sprintf(`<svg x="%s" y="%s" width="%s" height="%s"`, number(r.X), number(r.Y), number(r.Width), number(r.Height))
}

// Bytes ends the drawing and returns its file.
func (d *Drawing) Bytes() []byte {
	d.buf.Write(bytes.Repeat([]byte{' '}, max(d.size-len(tail)-d.buf.Len(), 0)))
	d.buf.WriteString(tail)
	return d.buf.Bytes()
}
