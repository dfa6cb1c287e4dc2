package svg_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"lorefs/nodes/internal/svg"
	"lorefs/nodes/internal/svg/svgtest"
)

// TestTexts writes texts as strangers may have made them.
func TestTexts(t *testing.T) {
	d := svg.New(8<<10, 100, 100, "<script>&")
	for _, text := range []string{"검은 숲", `"><script>alert(1)</script>`, "a\x00b\x1bc\xff", "]]>"} {
		d.Text(1, 2, 3, svg.Middle, "#000", text)
		d.Rect(svg.Rect{}, svg.Style{Title: text})
	}
	file := d.Bytes()
	want := []string{
		"<script>&", "검은 숲", "검은 숲", `"><script>alert(1)</script>`, `"><script>alert(1)</script>`,
		"a\ufffdb\ufffdc\ufffd", "a\ufffdb\ufffdc\ufffd", "]]>", "]]>",
	}
	if got := svgtest.Texts(t, file); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the texts are %q, want %q", got, want)
	}
	if bytes.Contains(file, []byte("<script")) {
		t.Error("a text is an element")
	}
}

// TestSize draws more than there is room for, and nothing.
func TestSize(t *testing.T) {
	for _, size := range []int{svg.MinSize, 2500, 10_000, 100_000} {
		for _, n := range []int{0, 1, 500} {
			d := svg.New(size, 10, 10, strings.Repeat("\x00", 500))
			for range n {
				d.Rect(svg.Rect{X: 1, Y: 2, Width: 3, Height: 4}, svg.Style{Fill: "#123456", Title: "a title"})
			}
			file := d.Bytes()
			if len(file) != size {
				t.Errorf("%d rectangles take %d bytes, want %d", n, len(file), size)
			}
			drawn := bytes.Count(file, []byte("#123456"))
			if drawn+d.LeftOut() != n || n == 1 && drawn == 0 {
				t.Errorf("%d bytes: %d of %d rectangles are drawn, %d are left out", size, drawn, n, d.LeftOut())
			}
			svgtest.Texts(t, file)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"검은 숲", 4, "검은 숲"}, {"검은 숲", 3, "검은…"}, {"a", 0, ""}, {"", 0, ""}} {
		if got := svg.Cut(c.text, c.n); got != c.want {
			t.Errorf("%q cut to %d is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

// TestSquares checks areas, and that nothing lies outside or on another.
func TestSquares(t *testing.T) {
	in := svg.Rect{X: 10, Y: 20, Width: 600, Height: 400}
	for _, weights := range [][]float64{{1}, {6, 6, 4, 3, 2, 2, 1}, {1e15, 1, 1}, {5, 0, 0}, {3, 3, 3, 3}} {
		total := 0.0
		for _, w := range weights {
			total += w
		}
		parts := svg.Squares(in, weights)
		if len(parts) != len(weights) {
			t.Fatalf("%v: %d parts", weights, len(parts))
		}
		for i, p := range parts {
			if got, want := p.Width*p.Height, 240_000*weights[i]/total; math.Abs(got-want) > 1e-3 {
				t.Errorf("%v: part %d has %f, want %f", weights, i, got, want)
			}
			if weights[i] == 0 {
				continue
			}
			if p.X < in.X-1e-6 || p.Y < in.Y-1e-6 || p.X+p.Width > in.X+in.Width+1e-6 || p.Y+p.Height > in.Y+in.Height+1e-6 {
				t.Errorf("%v: part %d lies outside: %+v", weights, i, p)
			}
			for _, q := range parts[:i] {
				if overlap(p, q) > 1e-3 {
					t.Errorf("%v: %+v lies on %+v", weights, p, q)
				}
			}
		}
	}
	// The example of the paper: the first row has the two sixes, one above the other.
	parts := svg.Squares(svg.Rect{Width: 6, Height: 4}, []float64{6, 6, 4, 3, 2, 2, 1})
	if parts[0] != (svg.Rect{Width: 3, Height: 2}) || parts[1] != (svg.Rect{Y: 2, Width: 3, Height: 2}) {
		t.Errorf("the first row has %+v", parts[:2])
	}
	for _, nothing := range [][]float64{nil, {0}, {0, 0}} {
		if parts := svg.Squares(in, nothing); len(parts) != len(nothing) {
			t.Errorf("%v: %d parts", nothing, len(parts))
		}
	}
}

func overlap(a, b svg.Rect) float64 {
	width := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	height := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	return max(width, 0) * max(height, 0)
}
