package xmlsheet_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
)

func isParseError(err error) bool {
	if e, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		return e.Line > 0 && e.Column > 0
	}
	e, ok := errors.AsType[*xmltext.ValueError](err)
	return ok && e.Line > 0 && e.Column > 0
}

// FuzzParse parses anything: it must fail with a place, or return a sheet in which the
// standard library, which is less strict, finds as many elements.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`<S xmlns:xsi="urn:x" xsi:a="1" id="1" xmlns="urn:s"><A b="&lt;&#xA;"/>t<![CDATA[x]]><!-- c --></S>`,
		`<?xml version="1.0" encoding="utf-8"?><S ` + dc + ` dc:value="x" dc:flags="1" dc:keys="a" dc:types="a:int" a="1" dc:escaped="a"/>`,
		`<_x0031_ ` + dc + ` dc:names="escaped" _x_="1"/>`, "\xff\xfe<\x00S\x00/\x00>\x00", "<!DOCTYPE S>", "<S a='\r\n'>\r</S>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := xmlsheet.New("S-0.xml", data)
		begun, ended := 0, 0
		for err == nil {
			var event xmlsheet.Event
			switch event, err = p.Next(); {
			case err != nil:
			case event == xmlsheet.Begin:
				begun++
			default:
				ended++
			}
		}
		if !errors.Is(err, io.EOF) {
			if !isParseError(err) {
				t.Fatalf("%v: want an error with a place", err)
			}
			return
		}
		if begun != ended || begun == 0 {
			t.Fatalf("%d nodes began, %d ended", begun, ended)
		}
		if data[0] == 0xfe || data[0] == 0xff {
			return // encoding/xml knows UTF-8 only
		}
		if n, err := standardElements(data); err == nil && n != begun {
			t.Fatalf("%d nodes, but encoding/xml has %d elements", begun, n)
		}
	})
}

// standardElements counts elements with the standard library.
func standardElements(data []byte) (n int, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		if _, ok := token.(xml.StartElement); ok {
			n++
		}
	}
}
