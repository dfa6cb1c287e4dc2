package sheets_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/internal/xmltext"
)

func TestElement(t *testing.T) {
	for _, text := range []string{
		"<A />\n",
		"<A x=\"1\" y=\"01\" z=\"0.5\" dc:flags=\"1\" dc:keys=\"x y\" dc:types=\"x:string\" />\n",
		"<A>\n    <B>two&#xA;lines</B>\n    <B dc:value=\" \" />\n</A>\n",
		"<A dc:value=\"text\">\n    <B />\n</A>\n",
		"<A x=\"\\u0001\\\\\" dc:escaped=\"x\" />\n",
		"<a_x0020_b _x0078_mlns=\"1\" dc:names=\"escaped\" dc:keys=\"c_x0020_d\">\n    <_x_ />\n</a_x0020_b>\n",
	} {
		e, err := sheets.ParseElement("f", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(sheets.AppendElement(nil, e)); got != text {
			t.Errorf("%s, want %s", got, text)
		}
		again, err := sheets.ParseElement("f", []byte(strings.ReplaceAll(text, "\n", "\r\n")), nil)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("with CR LF: %+v, %v", again, err)
		}
	}
	e, err := sheets.ParseElement("f", []byte(`<A x="1" dc:types="x:float"><B y="2"/></A>`), nil)
	if err != nil || e.Value("x") != datacenter.FloatValue(1) || e.Entries() != 4 {
		t.Errorf("%+v, %v", e, err)
	}
	for _, text := range []string{"", "A", "<", "<A", "<A>", "<A/><B/>", "<A><B></A>"} {
		var syntax *xmltext.SyntaxError
		if _, err := sheets.ParseElement("f", []byte(text), nil); !errors.As(err, &syntax) {
			t.Errorf("%q: %v", text, err)
		}
	}
	var value *xmltext.ValueError
	if _, err := sheets.ParseElement("f", []byte(`<A x="y" dc:types="x:int"/>`), nil); !errors.As(err, &value) {
		t.Error(err)
	}
}
