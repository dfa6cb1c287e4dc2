package repeat_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"lorefs/datacenter/sheets/internal/repeat"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/internal/testneeds"
)

// reader reads sheets with a memory. What it knows of an element is how many elements are in it.
type reader struct {
	*testing.T
	memory repeat.Memory[int]
	// names are the groups: the numbers of the names of parents.
	names map[string]uint32
	open  []openElement
	// spoilt is the name of elements that are spoilt.
	spoilt string
	events strings.Builder
}

type openElement struct {
	group uint32
	count int
	name  string
}

// read reads a sheet, and returns how many elements it has, and what happened: the name of each start tag
// that was read, ~ for one that was recalled, and = for a whole element.
func (r *reader) read(sheet string) (count int, events string) {
	r.Helper()
	p, err := xmlsheet.New("sheet", append(r.memory.Room(len(sheet)), sheet...))
	if err != nil {
		r.Fatal(err)
	}
	r.memory.Sheet(p.Data())
	p.Recall(func(at int) (int, bool) { return r.memory.Find(at, r.open[len(r.open)-1].group) })
	r.open = []openElement{{}}
	r.events.Reset()
	for len(r.open) > 0 {
		event, err := p.Next()
		if err != nil {
			break
		}
		top := &r.open[len(r.open)-1]
		switch event {
		case xmlsheet.Begin:
			r.begin(p, top.group)
		case xmlsheet.Whole:
			r.events.WriteByte('=')
			top.count += *r.memory.Known()
			r.memory.Pass()
		case xmlsheet.End:
			if top.name == r.spoilt {
				r.memory.Spoil()
			}
			r.memory.End(p.Behind(), top.count)
			r.open[len(r.open)-2].count += top.count
			r.open = r.open[:len(r.open)-1]
		}
	}
	return r.open[0].count, r.events.String()
}

func (r *reader) begin(p *xmlsheet.Parser, group uint32) {
	name := "~"
	if !p.Recalled() {
		name = string(p.Node().Name)
	}
	r.events.WriteString(name)
	tag := string(p.Data()[p.Offset():p.Behind()])
	if r.names == nil {
		r.names = map[string]uint32{}
	}
	full := strings.FieldsFunc(tag, func(c rune) bool { return strings.ContainsRune("< />", c) })[0]
	if r.names[full] == 0 {
		r.names[full] = uint32(len(r.names) + 1)
	}
	r.memory.Begin(p.Offset(), len(tag), group, p.Recalled(), p.Recalled() || len(r.open) > 1 && p.Plain() != nil, 1)
	r.open = append(r.open, openElement{r.names[full], 1, full})
}

func TestRepeats(t *testing.T) {
	const items = `<I id="1"><E n="a"/><E n="b"/></I><I id="2"><E n="a"/><E n="b"/></I>`
	for _, tt := range []struct {
		what   string
		sheets []string
		spoilt string
		want   string // what happens in the last sheet
		count  int
	}{
		{"the same sheet", []string{`<S>` + items + `</S>`, `<S>` + items + `</S>`}, "", "S==", 7},
		{"within a sheet", []string{`<S>` + items + items + `</S>`}, "", "SIEEI====", 13},
		{"another child", []string{`<S>` + items + `</S>`, `<S><I id="1"><E n="a"/><E n="c"/></I></S>`}, "", "S~=E", 4},
		{"one child less", []string{`<S>` + items + `</S>`, `<S><I id="1"><E n="b"/></I><I id="2"></I></S>`}, "", "S~=~", 4},
		{"another start tag", []string{`<S>` + items + `</S>`, `<S><I id="3"><E n="a"/><E n="b"/></I><I id="2"><E n="a"/><E n="b"/></I></S>`}, "", "SI===", 7},
		{"another parent", []string{`<S><A><I id="1"/></A></S>`, `<S><B><I id="1"/></B></S>`}, "", "SBI", 3},
		{"another depth", []string{`<S><A><A><I/></A></A></S>`, `<S><A><A><A><I/></A></A></A></S>`}, "", "S~~~~", 5},
		{"of what was passed over", []string{`<S>` + items + `</S>`, `<S>` + items + `</S>`, `<S><I id="1"><E n="a"/><E n="c"/></I><I id="2"><E n="a"/><E n="b"/></I></S>`}, "", "S~=E=", 7},
		{"spoilt elements", []string{`<S>` + items + `</S>`, `<S>` + items + `</S>`}, "E", "S~~~~~~", 7},
		{"a prefix", []string{`<S xmlns:o="urn:o"><I o:id="1"/><I/></S>`, `<S xmlns:o="urn:o"><I o:id="1"/><I/></S>`}, "", "SI=", 3},
		{"space that counts", []string{`<S><I><E/> </I></S>`, `<S xml:space="preserve"><I><E/> </I></S>`}, "", "SIE", 3},
		{"space that counted", []string{`<S xml:space="preserve"><I><E/> </I></S>`, `<S><I><E/> </I></S>`}, "", "SIE", 3},
		{"a > in a value", []string{`<S><I a=">"/></S>`, `<S><I a=">"/></S>`}, "", "SI", 2},
		{"a tag that goes on", []string{`<S><I a="b"></I></S>`, `<S><I a="b"x="y"></I></S>`}, "", "S", 0},
		{"half an element", []string{`<S>` + items + `</S>`, `<S><I id="1"><E n="a"/>`}, "", "S~=", 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			r := &reader{T: t, spoilt: tt.spoilt}
			count, got := 0, ""
			for _, sheet := range tt.sheets {
				count, got = r.read(sheet)
			}
			if got != tt.want || tt.count > 0 && count != tt.count {
				t.Errorf("%s with %d elements, want %s with %d", got, count, tt.want, tt.count)
			}
		})
	}
}

// TestForgets reads more than is remembered, some of it in one sheet, and checks that no text is taken for
// another.
func TestForgets(t *testing.T) {
	testneeds.Seconds(t)
	r := &reader{T: t}
	sheet := func(size, seed int) (string, int) {
		var b bytes.Buffer
		b.WriteString("<S>")
		n := 1
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, `<G><I id="%d"><E n="%d"/></I><E n="%s"/></G>`, i*seed, seed, long(1+i*seed%3000))
			n += 4
		}
		b.WriteString("</S>")
		return b.String(), n
	}
	for round := range 3 {
		for _, size := range []int{1000, 3 << 20, 100, 5 << 20, 2 << 20, 20 << 20, 1000, 4 << 20} {
			text, want := sheet(size, 1+size%7+round/2)
			for range 2 {
				if got, _ := r.read(text); got != want {
					t.Fatalf("a sheet of %d bytes: %d elements, want %d", len(text), got, want)
				}
			}
		}
	}
}

// TestComparesInProportion reads a sheet in which each element is like many others but for its end, at each
// level of nesting. If all of this were compared, it would not end.
func TestComparesInProportion(t *testing.T) {
	r := &reader{T: t}
	const depth, times = 500, 40
	var b strings.Builder
	b.WriteString("<S>")
	for i := range times {
		b.WriteString(strings.Repeat("<A>", depth) + strings.Repeat("<B/>", 100_000/times) + fmt.Sprintf(`<B n="%d"/>`, i) + strings.Repeat("</A>", depth))
	}
	b.WriteString("</S>")
	want := 1 + times*(depth+100_000/times+1)
	for range 2 {
		if got, _ := r.read(b.String()); got != want {
			t.Fatalf("%d elements, want %d", got, want)
		}
	}
}

func TestShapes(t *testing.T) {
	var shapes repeat.Shapes[string]
	add := func(tag string) {
		t.Helper()
		p, err := xmlsheet.New("sheet", []byte(tag+"</S>"))
		if err == nil {
			_, err = p.Next()
		}
		if err != nil || p.Plain() == nil {
			t.Fatalf("%s: %v", tag, err)
		}
		shapes.Add(p.Shape(), tag)
	}
	tags := []string{`<S>`, `<S a="1">`, `<S  a='1' b = "">`, `<SS/>`, `<S a="1&lt;2" c="3">`, `<한 글="x">`}
	for range 2 {
		for _, tag := range tags {
			add(tag)
		}
	}
	var values xmltext.Values
	for tag, want := range map[string]string{
		`<S>`:                   `<S>:`,
		`<S/>`:                  "",
		`<S a="">`:              `<S a="1">:`,
		`<S a="2" />`:           "",
		`<S a="a b한">`:          `<S a="1">:a b한`,
		`<S  a='/=[]' b = "x">`: `<S  a='1' b = "">:/=[]|x`,
		`<S a="5" c="3">`:       `<S a="1&lt;2" c="3">:5|3`,
		`<S a="&#65;" c="3">`:   `<S a="1&lt;2" c="3">:A|3`,
		`<S a="&#xd55c;x&gt;">`: `<S a="1">:한x>`,
		`<S a="5&amp;&quot;6">`: `<S a="1">:5&"6`,
		`<S a="&lt;" c="&gt;">`: `<S a="1&lt;2" c="3">:<|>`,
		`<S a="&#0;">`:          "",
		`<S a="&#xd800;">`:      "",
		`<S a="&what;">`:        "",
		`<S a="&">`:             "",
		`<S a="5&lt">`:          "",
		`<S a="5&lt;`:           "",
		`<S a="5'6">`:           "",
		`<S a="5>6">`:           "",
		`<S a="<">`:             "",
		"<S a=\"\t\">":          "",
		"<S a=\"\x01\">":        "",
		`<S a="5"`:              "",
		`<S a="5`:               "",
		`<S a=`:                 "",
		`<SS/>`:                 `<SS/>:`,
		`<SSS/>`:                "",
		`<한 글="y">`:             `<한 글="x">:y`,
		`<S a="1" a="2">`:       "",

		`<S a="&lt;` + long(1<<20-4) + `">`: "",
		`<S a="` + long(1<<20) + `">`:       "",
		`<S a="` + long(1<<20-1) + `">`:     `<S a="1">:` + long(1<<20-1),
	} {
		what, length := shapes.Match([]byte(tag), &values)
		got := ""
		if length > 0 {
			got = *what + ":" + string(bytes.Join(values.List, []byte("|")))
		}
		if got != want || length > 0 && length != len(tag) {
			t.Errorf("%.100s: %.100s, %d bytes, want %.100s", tag, got, length, want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }
