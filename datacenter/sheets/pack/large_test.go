package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/testneeds"
)

// readCounter counts what is read of the files of a folder.
type readCounter struct {
	fstest.MapFS
	read int
}

func (c *readCounter) Open(name string) (iofs.File, error) {
	f, err := c.MapFS.Open(name)
	if err != nil || strings.HasSuffix(name, ".") {
		return f, err
	}
	return countedFile{f, c}, nil
}

type countedFile struct {
	iofs.File
	counter *readCounter
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.counter.read += n
	return n, err
}

func littleEndian(s string) string {
	b := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// TestPackOfHugeTexts checks that what a data center can't hold is refused before it is
// read as a whole, and before it is copied.
func TestPackOfHugeTexts(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	const (
		size  = 24 << 20
		limit = 1 << 20 // of a text, in characters
		// most is how much is read to find that a text is too long: the longest spelling of
		// the longest text, and a step.
		most = 9 * limit
	)
	huge := strings.Repeat("x", size)
	for name, tt := range map[string]struct {
		file string
		read int
	}{
		"an attribute":           {`<T a="` + huge + `"/>`, most},
		"one of references":      {`<T a="` + strings.Repeat("&#120;", size/6) + `"/>`, most},
		"one of UTF-16":          {littleEndian(`<T a="` + huge[:size/2] + `"/>`), 2 * most},
		"one with other quotes":  {`<T a="` + strings.Repeat(huge[:1000]+"'", size/1001) + `"/>`, size + most},
		"an element's name":      {"<T><" + huge + "/></T>", most},
		"an attribute's name":    {"<T " + huge + `="1"/>`, most},
		"a name in an end tag":   {"<T><a></" + huge + "></T>", most},
		"a prefix":               {"<" + huge + ":T/>", most},
		"a text":                 {"<T>" + huge + "</T>", most},
		"a text of many lines":   {"<T>" + strings.Repeat("x\r\n", size/3) + "</T>", most},
		"a section":              {"<T><![CDATA[" + huge + "]]></T>", most},
		"many sections":          {"<T>" + strings.Repeat("<![CDATA["+huge[:1000]+"]]>", size/1012) + "</T>", size + most},
		"an instruction":         {"<T><?" + huge + "?></T>", most},
		"a comment":              {"<T><!--" + huge + "--></T>", most},
		"a declaration":          {`<?xml version="` + huge + `"?><T/>`, most},
		"what is no XML at all":  {huge, most},
		"names of a node's keys": {`<T xmlns:dc="urn:lorefs:dc" dc:keys="` + huge + `"/>`, most},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := &readCounter{MapFS: fstest.MapFS{"T/T-0.xml": {Data: []byte(tt.file)}}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := pack.Pack(t.Context(), fsys, io.Discard, pack.Options{})
			runtime.ReadMemStats(&after)
			if _, syntax := errors.AsType[*xmltext.SyntaxError](err); !syntax && !errors.Is(err, datacenter.ErrTooLarge) {
				t.Errorf("%v", err)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if fsys.read > tt.read {
				t.Errorf("%d bytes were read, want at most %d", fsys.read, tt.read)
			}
			// The room for the file, of which only what is read is used.
			if used := after.TotalAlloc - before.TotalAlloc - uint64(len(tt.file)); used > 3*8*limit {
				t.Errorf("%d bytes were allocated", used)
			}
		})
	}
}

// TestPackOfLongestText checks that the longest possible text is accepted in any spelling.
func TestPackOfLongestText(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	const longest = 1<<20 - 1
	for name, text := range map[string]string{
		"plain": strings.Repeat("x", longest), "Korean": strings.Repeat("한", longest),
		"by number": strings.Repeat("&#xD55C;", longest), "beyond the BMP": strings.Repeat("&#x10FFFD;", longest/2),
	} {
		for _, file := range []string{`<T a="` + text + `"/>`, "<T>" + text + "</T>", littleEndian(`<T a="` + text + `"/>`)} {
			fsys := fstest.MapFS{"T-0.xml": {Data: []byte(file)}}
			if r, err := pack.Pack(t.Context(), fsys, io.Discard, pack.Options{}); err != nil || r.Attributes != 1 {
				t.Errorf("%s, %.10s: %+v, %v", name, file, r, err)
			}
		}
	}
}

// TestPackOfManyOrders packs a sheet in which each tag has its attributes in another order, of more tags than
// are remembered. It becomes the same as with one order.
func TestPackOfManyOrders(t *testing.T) {
	testneeds.Seconds(t)
	const tags, attributes = 30_000, 12
	packed := func(shuffled bool) []byte {
		random := rand.New(rand.NewPCG(1, 2))
		var sheet strings.Builder
		sheet.WriteString("<S>")
		for i := range tags {
			sheet.WriteString("<I")
			order := random.Perm(attributes)
			if !shuffled {
				slices.Sort(order)
			}
			for _, a := range order {
				fmt.Fprintf(&sheet, ` a%02d="%d"`, a, (a*7+i)%100)
			}
			sheet.WriteString("/>")
		}
		sheet.WriteString("</S>")
		var out bytes.Buffer
		if _, err := pack.Pack(t.Context(), folder(map[string]string{"S-1.xml": sheet.String()}), &out, pack.Options{}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if !bytes.Equal(packed(true), packed(false)) {
		t.Error("the order of attributes makes a difference")
	}
}
