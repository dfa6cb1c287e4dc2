package pack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/testneeds"
)

func TestPackErrors(t *testing.T) {
	many := "<S>" + strings.Repeat("<A/>", 1<<16) + "</S>"
	// Too long things are not distinguished, and only for a text it is true that it can't
	// be held.
	const tooLong = "a name or text of more than 8388608 bytes is more than a data center can hold; if this is a comment or white space, shorten it"
	full := "<S>t" + strings.Repeat(" ", 1) + "</S>"
	for name, tt := range map[string]struct {
		files map[string]string
		text  string // how the error begins
		is    error
	}{
		"nothing":           {map[string]string{"a.txt": ""}, "sheets: no file", pack.ErrNoSheets},
		"a broken sheet":    {map[string]string{"a-1.xml": "<S/>", "b-1.xml": "<S>\n</T>", "c-1.xml": "<"}, "sheets: b-1.xml:2:1: ", nil},
		"a broken schema":   {map[string]string{"d/a-1.xml": "<S/>", "d/S.xsd": "<x/>"}, "sheets: d/S.xsd:1:2: ", nil},
		"another's schema":  {map[string]string{"d/a-1.xml": "<T/>", "d/T.xsd": smallSchema}, "sheets: d/T.xsd:1:1: ", nil},
		"a wrong value":     {map[string]string{"d/a-1.xml": "<S>\n<A\ni='1' f='x'/></S>", "d/S.xsd": smallSchema, "e-1.xml": "<S/>"}, "sheets: d/a-1.xml:3:7: A f: ", datacenter.ErrValue},
		"floats of Go":      {map[string]string{"a-1.xml": "<S><A f='1_0'/></S>", "S.xsd": smallSchema}, "sheets: a-1.xml:1:7: A f: ", datacenter.ErrValue},
		"hex floats":        {map[string]string{"a-1.xml": "<S><A f='0x1p4'/></S>", "S.xsd": smallSchema}, "sheets: a-1.xml:1:7: A f: ", datacenter.ErrValue},
		"a wrong int":       {map[string]string{"a-1.xml": "<S id='2147483648'/>", "S.xsd": smallSchema}, "sheets: a-1.xml:1:4: S id: ", datacenter.ErrValue},
		"65,536 children":   {map[string]string{"a-1.xml": many}, fmt.Sprintf("sheets: a-1.xml:1:%d: S: ", 3+4*65535+2), datacenter.ErrTooLarge},
		"65,536 attributes": {map[string]string{"a-1.xml": "<S" + manyAttributes(1<<16) + ">" + full[3:]}, "sheets: a-1.xml:1:", datacenter.ErrTooLarge},
		"a long comment":    {map[string]string{"a-1.xml": "<S><!--" + strings.Repeat("c", 9<<20) + "--></S>"}, "sheets: a-1.xml:1:5: " + tooLong, datacenter.ErrTooLarge},
		"much white space":  {map[string]string{"a-1.xml": "<S/>\n" + strings.Repeat(" ", 9<<20)}, "sheets: a-1.xml:1:5: " + tooLong, datacenter.ErrTooLarge},
		"a NUL":             {map[string]string{"a-1.xml": "<S " + dc + ` a="\u0000" dc:escaped="a"/>`}, "sheets: a-1.xml:1:29: a: ", datacenter.ErrValue},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			_, err := pack.Pack(t.Context(), folder(tt.files), &out, pack.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v: want %s…, %v", err, tt.text, tt.is)
			}
			if out.Len() > 0 {
				t.Errorf("%d bytes were written nevertheless", out.Len())
			}
		})
	}
}

func TestPackTooMany(t *testing.T) {
	testneeds.Seconds(t)
	definitions := "<S " + dc + ">"
	for i := range 1 << 12 {
		definitions += fmt.Sprintf(`<A dc:keys="k%d k%d"/>`, i/64, 64+i%64)
	}
	_, err := pack.Pack(t.Context(), folder(map[string]string{"d/a-1.xml": definitions + "</S>"}), io.Discard, pack.Options{})
	if !errors.Is(err, datacenter.ErrTooLarge) || !strings.Contains(err.Error(), "d/a-1.xml") {
		t.Errorf("4,096 key definitions: %v", err)
	}
	files := map[string]string{}
	for i := range 1 << 16 {
		files[fmt.Sprintf("S-%05d.xml", i)] = "<S/>"
	}
	_, err = pack.Pack(t.Context(), folder(files), io.Discard, pack.Options{})
	if !errors.Is(err, datacenter.ErrTooLarge) || !strings.Contains(err.Error(), "S-65535.xml") {
		t.Errorf("65,536 sheets: %v", err)
	}
}

func TestPackStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pack.Pack(ctx, folder(small()), io.Discard, pack.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want %v", err, context.Canceled)
	}
	broken := errors.New("broken")
	if _, err := pack.Pack(t.Context(), folder(small()), failingWriter{broken}, pack.Options{}); !errors.Is(err, broken) {
		t.Errorf("%v: want %v", err, broken)
	}
	_, err := pack.Pack(t.Context(), folder(small()), io.Discard, pack.Options{
		Template: func(string) (*xsd.Schema, error) { return nil, broken },
	})
	if !errors.Is(err, broken) {
		t.Errorf("a template that fails: %v", err)
	}
	var seen []int64
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, err = pack.Pack(ctx, folder(small()), io.Discard, pack.Options{Progress: func(done, total int64) {
		if seen = append(seen, done, total); done == total/2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(seen) != 4 || seen[2] != seen[3]/2 {
		t.Errorf("%v, progress %v: want it to end halfway", err, seen)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestPackOfFileThatChanges checks that a sheet is read once, and that looking for the place
// of a wrong value in it notices that it has changed since.
func TestPackOfFileThatChanges(t *testing.T) {
	for _, tt := range []struct {
		what, first, second string
		want                error
	}{
		{"nothing is wrong", `<S id="1"/>`, `<T/>`, nil},
		{"no value", `<S ` + dc + ` id="x" dc:types="id:int"/>`, `<S/>`, datacenter.ErrChanged},
		{"the sheet", `<S ` + dc + ` id="x" dc:types="id:int"/>`, `<T><A/></T>`, datacenter.ErrChanged},
		{"the same value", `<S ` + dc + ` id="x" dc:types="id:int"/>`, `<S ` + dc + ` id="x" dc:types="id:int"/>`, datacenter.ErrValue},
	} {
		fsys := &changing{MapFS: folder(map[string]string{"S-0.xml": tt.first}), second: tt.second}
		_, err := pack.Pack(t.Context(), fsys, io.Discard, pack.Options{})
		if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), "S-0.xml") {
			t.Errorf("%s: %v, want %v", tt.what, err, tt.want)
		}
	}
}

// changing is a folder with a sheet that is another when it is opened again.
type changing struct {
	fstest.MapFS
	second string
	opened bool
}

func (c *changing) Open(name string) (iofs.File, error) {
	if name == "S-0.xml" {
		if c.opened {
			return folder(map[string]string{name: c.second}).Open(name)
		}
		c.opened = true
	}
	return c.MapFS.Open(name)
}

func (c *changing) Stat(name string) (iofs.FileInfo, error) { return c.MapFS.Stat(name) }
