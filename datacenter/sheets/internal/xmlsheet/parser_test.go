package xmlsheet_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
)

// parse returns the events of a sheet as text: each node in brackets, its text behind a
// bar.
func parse(data string) (string, error) {
	p, err := xmlsheet.New("S-0.xml", []byte(data))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		event, err := p.Next()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		if event == xmlsheet.End {
			if text, ok := p.Text(); ok {
				fmt.Fprintf(&b, "|%q", text)
			}
			b.WriteString("]")
			continue
		}
		n := p.Node()
		fmt.Fprintf(&b, "[%s", n.Name)
		for _, a := range n.Attributes {
			fmt.Fprintf(&b, " %s=%q", a.Name, a.Value)
			if a.Type != 0 {
				fmt.Fprintf(&b, ":%v", a.Type)
			}
		}
		if n.Flags != 0 {
			fmt.Fprintf(&b, " flags=%d", n.Flags)
		}
		if n.HasKeys {
			fmt.Fprintf(&b, " keys=%q", []string(n.Keys))
		}
	}
}

const dc = `xmlns:dc="urn:lorefs:dc"`

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"alone", `<S/>`, `[S]`},
		{
			"as novadrop writes it",
			`<S xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://vezel.dev/novadrop/dc/S S.xsd" id="1" xmlns="https://vezel.dev/novadrop/dc/S">` +
				"\n    <A b=\"x\" />\n    <T>text</T>\n</S>\n",
			`[S id="1"[A b="x"][T|"text"]]`,
		},
		{
			"as tera-arise writes it",
			"\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<S\r\n    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\r\n" +
				"    xsi:schemaLocation=\"https://tera-arise.io/dc/S S.xsd\"\r\n    xmlns=\"https://tera-arise.io/dc/S\">\r\n" +
				"    <A\r\n        id=\"1\"\r\n        name='a \"b\"'/>\r\n</S>\r\n",
			`[S[A id="1" name="a \"b\""]]`,
		},
		{"tera-rs", "<?xml version='1.0' encoding='UTF-8' standalone=\"yes\" ?>\n<S>\n  <A>t<B/></A>\n</S>", `[S[A[B]|"t"]]`},
		{"references in a value", `<S a="&lt;&gt;&amp;&quot;&apos;&#xA;&#x9;&#xD;&#32;&#xD55C;&#x1F409;"/>`, `[S a="<>&\"'\n\t\r 한🐉"]`},
		{"white space in a value", "<S a=\"x\r\ny\rz\n\tw\"/>", `[S a="x y z  w"]`},
		{"references in text", "<S>&lt;b&gt;&#xD;\r\n\r&#65;]]&gt;</S>", `[S|"<b>\r\n\nA]]>"]`},
		{"brackets in text", "<S>a]b]]c</S>", `[S|"a]b]]c"]`},
		{"sections", "<S>a<![CDATA[<&]]]]><![CDATA[>\r\n]]></S>", `[S|"a<&]]>\n"]`},
		{"a blank section", "<S><A><![CDATA[ ]]></A></S>", `[S[A|" "]]`},
		{"comments", "<!-- a -->\n<?target data?><S><!-- <A/> --><A/>x<!-- y -->z</S><!-- end -->", `[S[A]|"xz"]`},
		{"comment in white space around text", "<S>a <!----> <?p?> b</S>", `[S|"a   b"]`},
		{"blank text", "<S>\n    <A> \t\r\n</A>\n    <B><!-- c --></B>\n</S>", `[S[A][B]]`},
		{"blank text that is referred to", "<S><A>&#x20;</A></S>", `[S[A]]`},
		{"space that is to be preserved", `<S><A xml:space="preserve"> </A><A> </A></S>`, `[S[A|" "][A]]`},
		{"text around children", "<S>\n  a\n  <A/>\n  <B/>b\n  <C/>\n</S>", `[S[A][B][C]|"\n  a\n  b\n  "]`},
		{"text after a child with text", "<S><A>x</A>y</S>", `[S[A|"x"]|"y"]`},
		{"spaces in tags", "<S  a = \"1\"\n b='2' ><A ></A ></S\n>", `[S a="1" b="2"[A]]`},
		{"other namespaces", `<S xmlns:o="urn:o" o:a="1" a="2" xml:lang="ko"><o:A o:x="1"><B xmlns:p="urn:p" p:c="3"/></o:A></S>`, `[S a="2"[A[B]]]`},
		{"a prefix that is bound again", `<S xmlns:o="urn:o" o:flags="1"><A xmlns:o="urn:lorefs:dc" o:flags="1"/><A o:flags="x"/></S>`, `[S[A flags=1][A]]`},
		{"Korean", `<몬스터지정 전달수량="한">글</몬스터지정>`, `[몬스터지정 전달수량="한"|"글"]`},
		{"many attributes", "<S" + manyAttributes(40) + "/>", "[S" + manyAttributes(40) + "]"},

		{"dc:value", `<S ` + dc + `><A dc:value=" "/><B dc:value="x">  <C/></B><D dc:value=""></D></S>`, `[S[A|" "][B[C]|"x"][D|""]]`},
		{"dc:flags", `<S ` + dc + ` dc:flags="15"/>`, `[S flags=15]`},
		{"dc:keys", `<S ` + dc + `><A dc:keys="a b"/><A dc:keys=""/></S>`, `[S[A keys=["a" "b"]][A keys=[]]]`},
		{"dc:types", `<S ` + dc + ` a="1" b="x" c="" dc:types="a:float  b:string __value__:string"/>`, `[S a="1":float b="x":string c=""]`},
		{
			"dc:names", `<_x0031_st ` + dc + ` dc:names="escaped" a_x0020_b="1" _x_="2" _x005F_x_="3" _x0078_mlns="4" dc:keys="_x_ a_x0020_b" dc:types="_x_:int"><_xD83D__xDE00_/><_x00/></_x0031_st>`,
			`[1st a b="1" ="2":int _x_="3" xmlns="4" keys=["" "a b"][😀][_x00]]`,
		},
		{"names that look escaped", `<_x0031_st a_x0020_b="1"/>`, `[_x0031_st a_x0020_b="1"]`},
		{"dc:escaped", `<S ` + dc + ` a="\u0001\\\uFFFE" b="\u0001" dc:escaped="a __value__">\uD800&lt;</S>`, "[S a=\"\\x01\\\\\\ufffe\" b=\"\\\\u0001\"|\"\\xed\\xa0\\x80<\"]"},
		{"dc:escaped of dc:value", `<S ` + dc + ` dc:value="\u001b" dc:escaped="__value__"/>`, `[S|"\x1b"]`},
		{"halves that meet", `<S ` + dc + ` a="\uD83D\uDE00" dc:escaped="a"/>`, `[S a="😀"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.data)
			if err != nil || got != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=\"%d\"", i, i)
	}
	return b.String()
}

func TestParseUTF16(t *testing.T) {
	const data = `<?xml version="1.0" encoding="utf-16"?><S a="한 🐉">글</S>`
	for name, order := range map[string][2]int{"little": {0, 8}, "big": {8, 0}} {
		var b []byte
		for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(data))...) {
			b = append(b, byte(u>>order[0]), byte(u>>order[1]))
		}
		got, err := parse(string(b))
		if want := `[S a="한 🐉"|"글"]`; err != nil || got != want {
			t.Errorf("%s: got %s, %v: want %s", name, got, err, want)
		}
		if _, err := parse(string(b) + "\n"); err == nil {
			t.Errorf("%s: half a character at the end is read", name)
		}
	}
}

// TestParseErrors checks that text that is not well-formed, or no sheet, is reported with
// its place.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ name, data, at, what string }{
		{"nothing", "", "1:1", "no element"},
		{"only a comment", "<!-- x -->\n", "2:1", "no element"},
		{"text before", "x<S/>", "1:1", "text outside"},
		{"text behind", "<S/>\n x", "2:2", "text outside"},
		{"a section behind", "<S/><![CDATA[x]]>", "1:5", "text outside"},
		{"two elements", "<S/>\n<T/>", "2:1", "behind the document's"},
		{"an end too many", "<S></S></S>", "1:8", "no element is open"},
		{"a wrong end", "<S>\n  <A>\n  </B>\n</S>", "3:3", "want </A>, for the element of line 2"},
		{"a longer end", "<A></AB>", "1:4", "want </A>"},
		{"no end", "<S>\n<A>", "2:4", `ends in the element "A" of line 2`},
		{"half an end", "<S></S", "1:7", "want >"},
		{"half a tag", "<S a=\"1\"", "1:9", "ends in the start tag"},
		{"half a name", "<", "1:2", "ends in a tag"},
		{"half a value", "<S a=\"1", "1:6", "has no end"},
		{"CRLF and CR count once", "<S>\r\n\r\n\r<A b=1/></S>", "4:6", "in quotes"},
		{"columns are characters", "<S 한글=\"🐉\" b/>", "1:12", "want ="},
		{"no space", `<S a="1"b="2"/>`, "1:9", "want white space"},
		{"twice", "<S a=\"1\"\n  a=\"2\"/>", "2:3", `"a" comes twice`},
		{"twice among many", "<S" + manyAttributes(40) + "\n a7=\"x\"/>", "2:2", `"a7" comes twice`},
		{"twice in two spellings", `<S ` + dc + ` dc:names="escaped" a="1" _x0061_="2"/>`, "1:54", `"a" comes twice`},
		{"less in a value", `<S a="<"/>`, "1:7", "&lt;"},
		{"an ampersand", `<S a="a & b"/>`, "1:9", "want &amp;"},
		{"an entity", "<S>\n&nbsp;</S>", "2:1", "&nbsp; stands for no character"},
		{"a control character by number", "<S>&#1;</S>", "1:4", "&#1; stands for no character"},
		{"a surrogate by number", "<S>&#xD800;</S>", "1:4", "&#xD800; stands for no character"},
		{"a number too large", "<S>&#x110000;</S>", "1:4", "stands for no character"},
		{"a control character", "<S a=\"x\x01\"/>", "1:8", "U+0001"},
		{"a control character in text", "<S>\x02</S>", "1:4", "U+0002"},
		{"a control character in a comment", "<S><!--\x03--></S>", "1:8", "U+0003"},
		{"a noncharacter", "<S>\uffff</S>", "1:4", "U+FFFF"},
		{"not UTF-8", "<S>\n a\xffb</S>", "2:3", "0xff is not UTF-8"},
		{"the end of a section", "<S>]]></S>", "1:4", "want ]]&gt;"},
		{"an open section", "<S><![CDATA[</S>", "1:4", "has no end"},
		{"an open comment", "<S><!-- </S>", "1:4", "has no end"},
		{"dashes in a comment", "<S><!-- -- --></S>", "1:9", "-- in a comment"},
		{"an open instruction", "<S><?x </S>", "1:4", "has no end"},
		{"a late declaration", "<S/>\n<?xml version=\"1.0\"?>", "2:1", "not at the start"},
		{"another version", "<?xml version=\"1.1\"?><S/>", "1:16", "want 1.0"},
		{"another encoding", "<?xml version=\"1.0\" encoding=\"euc-kr\"?><S/>", "1:31", "but the file is read as utf-8"},
		{"a byte of another encoding", "<?xml version=\"1.0\" encoding=\"windows-1252\"?><S a=\"\xfc\"/>", "1:31", `encoding "windows-1252"`},
		{"a wrong byte", "<?xml version=\"1.0\" encoding=\"utf-8\"?><S a=\"\xfc\"/>", "1:45", "0xfc is not UTF-8"},
		{"a document type", "<!DOCTYPE S [<!ENTITY a \"b\">]>\n<S/>", "1:1", "document type"},
		{"other markup", "<S><!ELEMENT a></S>", "1:4", "<!"},
		{"a name that begins with a digit", "<S><1/></S>", "1:5", "want the name of an element"},
		{"a name with an odd character", "<S><a×b/></S>", "1:6", "may not be in a name"},
		{"two colons", "<a:b:c/>", "1:5", "colon"},
		{"a colon at the end", "<a: b=\"1\"/>", "1:3", "colon"},
		{"an unknown prefix", "<S>\n<p:A/></S>", "2:2", `"p" is not declared`},
		{"an unknown prefix of an attribute", `<S p:a="1"/>`, "1:4", `"p" is not declared`},
		{"a prefix out of its element", `<S><A xmlns:p="urn:p"/><B p:a="1"/></S>`, "1:27", `"p" is not declared`},
		{"text as an attribute", `<S __value__="x"/>`, "1:4", "dc:value"},
		{"text beside dc:value", `<S ` + dc + ` dc:value="x">y</S>`, "1:42", "beside the dc:value"},
		{"dc:names further down", `<S ` + dc + `><A dc:names="escaped"/></S>`, "1:32", "first element only"},
		{"an unknown dc:", `<S ` + dc + ` dc:type="a:int"/>`, "1:29", "dc:type"},
		{"types of nothing", `<S ` + dc + ` dc:types="a:int"/>`, "1:29", "does not have"},
		{"types without a colon", `<S ` + dc + ` a="1" dc:types="a"/>`, "1:35", "want name:type"},
		{"escaped text that is not there", `<S ` + dc + ` dc:escaped="__value__"/>`, "1:2", "has no text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.data)
			e, ok := errors.AsType[*xmltext.SyntaxError](err)
			if !ok {
				t.Fatalf("%s, %v: want a SyntaxError", got, err)
			}
			if at := fmt.Sprintf("%d:%d", e.Line, e.Column); at != tt.at || !strings.Contains(e.What, tt.what) {
				t.Errorf("%v: want %s at %s", err, tt.what, tt.at)
			}
			if !strings.HasPrefix(err.Error(), "sheets: S-0.xml:"+tt.at+": ") {
				t.Errorf("%q does not begin with the place", err)
			}
		})
	}
}

// TestParseWrongValues checks the same for what no data center can hold.
func TestParseWrongValues(t *testing.T) {
	deep := strings.Repeat("<A>", datacenter.MaxDepth+1)
	for _, tt := range []struct {
		name, data, at string
		want           error
	}{
		{"flags", `<S ` + dc + ` dc:flags="16"/>`, "1:29", datacenter.ErrValue},
		{"a type", `<S ` + dc + ` a="1" dc:types="a:long"/>`, "1:35", datacenter.ErrValue},
		{"the type of a text", `<S ` + dc + ` dc:types="__value__:int">1</S>`, "1:29", datacenter.ErrValue},
		{"keys", `<S ` + dc + ` dc:keys="a b c d e"/>`, "1:38", datacenter.ErrTooLarge},
		{"an escape", `<S ` + dc + ` a="\n" dc:escaped="a"/>`, "1:29", datacenter.ErrValue},
		{"half an escape", `<S ` + dc + ` a="\u12" dc:escaped="a"/>`, "1:29", datacenter.ErrValue},
		{"a NUL", `<S ` + dc + ` dc:escaped="__value__">` + "\n" + `\u0000</S>`, "2:1", datacenter.ErrValue},
		{"a NUL in a name", `<S ` + dc + ` dc:names="escaped"><a_x0000_/></S>`, "1:49", datacenter.ErrValue},
		{"the root's name", "<S><__root__/></S>", "1:5", datacenter.ErrValue},
		{"a name too long", "<S><" + strings.Repeat("n", 1<<16) + "/></S>", "1:5", datacenter.ErrTooLarge},
		{"a value too long", `<S a="` + strings.Repeat("v", 1<<20) + `"/>`, "1:4", datacenter.ErrTooLarge},
		{"a text too long", "<S>" + strings.Repeat("v", 1<<20) + "</S>", "1:4", datacenter.ErrTooLarge},
		{"depth", deep, fmt.Sprintf("1:%d", 3*datacenter.MaxDepth+1), datacenter.ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(tt.data)
			e, ok := errors.AsType[*xmltext.ValueError](err)
			if !ok || !errors.Is(err, tt.want) {
				t.Fatalf("%v: want a ValueError of %v", err, tt.want)
			}
			if at := fmt.Sprintf("%d:%d", e.Line, e.Column); at != tt.at {
				t.Errorf("%v: want it at %s", err, tt.at)
			}
		})
	}
}
