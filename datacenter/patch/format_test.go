package patch_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lorefs/datacenter/patch"
)

// example is what the documentation of the format says, and all else that it allows.
const example = "testdata/example.lorepatch"

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestExample(t *testing.T) {
	text := string(readFile(t, example))
	p, err := patch.Parse("mod", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if b := p.Blocks[5]; b.Beside.Text != "{a before b}[@x=' after '][2]" || !b.Beside.Before || b.Path.Text != "/" {
		t.Errorf("%+v", b)
	}
	if l := p.Blocks[2].Lines; len(l) != 6 || l[5].Old.Attribute.Type() != 0 || l[4].Old.Attribute.Text() != "\xed\xa0\x80" {
		t.Errorf("%+v", l)
	}
	written := p.Append(nil)
	if string(written) != text {
		t.Errorf("written as\n%s", written)
	}
	q, err := patch.Parse("mod", written)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, q) {
		t.Errorf("read again:\n%+v\nwant\n%+v", q, p)
	}
	dos, err := patch.Parse("mod", []byte("\ufeff"+strings.ReplaceAll(text, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(dos, p) {
		t.Errorf("with CR LF:\n%s", dos.Append(nil))
	}
}

func TestSyntaxErrors(t *testing.T) {
	head := "lorefs-patch 1\nbase: x\nfuture: whatever\n\n"
	whole := "lorefs-patch 1\nend: # end\n\n"
	for text, want := range map[string]string{
		"":                                                                "mod:1: this is no patch",
		"diff --git":                                                      "mod:1: this is no patch",
		"lorefs-patch 2\n":                                                `mod:1: version "2" of patches is unknown`,
		"lorefs-patch 1\nwhat is this\n":                                  `mod:2: "what is this": want NAME: text`,
		head + "@* /A\n":                                                  `mod:5: a block of the kind "@*" is unknown`,
		head + "hello\n":                                                  "mod:5: \"hello\": want @",
		head + "-a int 1\n":                                               "mod:5: \"-a int 1\": want a block before it",
		head + "@ /A\n":                                                   "mod:5: a block that changes nothing",
		head + "@ /A[\n+a int 1\n":                                        "mod:5: query: ",
		head + "@ //A\n+a int 1\n":                                        "mod:5: the path \"//A\" asks for more",
		head + "@ (/A[1])[1]\n+a int 1\n":                                 "two places in one step",
		head + "@ /A\n+a int x\n":                                         `"x" is not an int`,
		head + "@ /A\n+a string x\n":                                      `mod:6: "x": want a JSON string`,
		head + "@ /A\n+a string \"\\q\"\n":                                `want a JSON string`,
		head + "@ /A\n+a text x\n":                                        `"text" is no type`,
		head + "@ /A\n+a\n":                                               "want the name of an attribute",
		head + "@ /A\n+a b int 1\n":                                       `"b" is no type`,
		head + "@ /A\n+{a int 1\n":                                        "want the name of an attribute",
		head + "@ /A\n+a int 1\n+a int 2\n":                               "mod:7: \"a int 2\" is changed twice",
		head + "@ /A\n-a int 1\n+a int 1\n":                               "mod:6: the same with - as with +",
		head + "@ /A\n+__value__ int 1\n":                                 "want a string",
		head + "@ /A\n+%flags flags 1\n":                                  "keys and flags are always there",
		head + "@ /A\n-%flags flags 1\n+%flags flags 16\n":                "want a number from 0 to 15",
		head + "@ /A\n-%keys keys\n+%keys keys a b c d e\n":               "5 keys of a node",
		head + "@ /A[1]\n? A 1/2 - - - - -\n+a int 1\n":                   "mod:6: \"? A 1/2 - - - - -\": this is a guard of hashes",
		head + "@ /A\n /A at 1 of 2\n+a int 1\n":                          "mod:6: \" /A at 1 of 2\": want /STEP of the path",
		head + "@ /A[1]\n /A\n+a int 1\n":                                 "want /STEP",
		head + "@ /A[1]\n /A at 3 of 2\n+a int 1\n":                       "want /STEP",
		head + "@ /A[1]\n /A at 0 of 0\n+a int 1\n":                       "want /STEP",
		head + "@ /A[1]\n /A at 1 of 2 sum 123\n+a int 1\n":               "want /STEP",
		head + "@ /A[1]\n /A is A[@x=1] at 1 of 2\n+a int 1\n":            "want /STEP",
		head + "@ /A[1]\n /A is A\n+a int 1\n":                            "want \"A\" with values of attributes",
		head + "@ /A[1]\n /A is B[@x=1]\n+a int 1\n":                      "want \"A\" with values of attributes",
		head + "@ /A[1]\n /A is A[@x=1][2]\n+a int 1\n":                   "want \"A\" with values of attributes",
		head + "@ /A[1]\n+a int 1\n /A at 1 of 2\n":                       "mod:7: \" /A at 1 of 2\": a context behind what it is for",
		head + "@ /A/B[@id=1]\n /B[@id=2] is B[@x=1]\n+a int 1\n":         "want /STEP",
		head + "@ /A/B[2]/C[1]\n /C at 1 of 2\n /B at 2 of 2\n+a int 1\n": "mod:7: \" /B at 2 of 2\": want /STEP",
		head + "@+ /A after B[1]\n before B at 1 of 2\n+<B />\n":          "want /STEP",
		head + "@+ /A\n +C at 0 of 1 sum 0000000a\n+<B />\n":              "mod:5: a context of \"C\": want one of the node that is added, \"B\"",
		head + "@+ /A\n":                                                  "mod:5: a block without a node",
		head + "@+ /A\n-<A />\n":                                          "mod:6: \"-<A />\": want lines that begin with +",
		head + "@+ /A\n+<A>\n+<B>\n+</A>\n":                               "mod:8: ",
		head + "@+ /A\n+x\n":                                              "mod:6: want an element",
		head + "@ /\n+a int 1\n":                                          "mod:6: \"a int 1\": the root has no attributes",
		head + "@ /A\n-%keys keys\n+%keys keys __value__\n":               "mod:7: __value__ is no key",
		head + "@+ /A\n+<A dc:keys=\"__value__\" />\n":                    "mod:6: __value__ is no key",
		head + "@+ /A\n+<A><__value__ /></A>\n":                           "mod:6: __value__ is an attribute, not a node",
		head + strings.Repeat("#\n", 1<<20+1):                             "mod:1048581: more than 1048576 lines that begin with #",
		head + "@+ /A after B/C\n+<A />\n":                                "want one step",
		head + "@- /\n-<A />\n":                                           "the root can't be removed",
		head + "@- /A/B\n-<A />\n":                                        "mod:6: the node is called \"A\"",
		"lorefs-patch 1":                                                  "mod:1: \"lorefs-patch 1\": want a line end behind the last line: the patch was cut off",
		head + "@ /A\n-a int 1\n+a int 12":                                "mod:7: \"+a int 12\": want a line end",
		whole:                                                             "mod:3: the patch ends here, without the line \"# end\"",
		whole + "@ /A\n-a int 1\n":                                        "mod:5: the patch ends here",
		"lorefs-patch 1\nend:# end\n\n@ /A\n-a int 1\n":                   "mod:5: the patch ends here",
		whole + "# end\n\n@ /A\n-a int 1\n":                               "mod:6: \"@ /A\": want no block behind the line \"# end\"",
	} {
		_, err := patch.Parse("mod", []byte(text))
		var syntax *patch.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A path of many words between which it might end is read in one go.
func TestManyWords(t *testing.T) {
	words := strings.Repeat(" after b", 1<<21)
	for _, path := range []string{"/a" + words, "/a[@x='" + words + "'] after b", "/a[" + words, "/{a" + words} {
		if _, err := patch.Parse("mod", []byte("lorefs-patch 1\n\n@+ "+path+"\n+<x />\n")); err == nil || !strings.Contains(err.Error(), "mod:3: ") {
			t.Errorf("%.20s: %v", path, err)
		}
	}
	p := parse(t, "mod", "@+ /{a}} after b}[@x='it''s after b'] before {c after d}[@y=\" before e\"]\n+<x />\n")
	if b := p.Blocks[0]; !b.Beside.Before || b.Beside.Text != `{c after d}[@y=" before e"]` || b.Path.Steps[0].Name != "a} after b" {
		t.Errorf("%+v", b)
	}
}

// FuzzParse reads anything. What it can read, it writes so that it reads the same.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.lorepatch")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range seeds {
		f.Add(readFile(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := patch.Parse("mod", data)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(data, []byte("\n")) {
			t.Fatalf("a patch is read that ends inside a line:\n%s", data)
		}
		text := p.Append(nil)
		q, err := patch.Parse("mod", text)
		if err != nil {
			t.Fatalf("%v of\n%s", err, text)
		}
		forget(p)
		forget(q)
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("read again:\n%+v\nwant\n%+v", q, p)
		}
		if back, err := patch.Parse("mod", p.Reverse().Append(nil)); err == nil {
			back.Reverse()
		}
	})
}

// FuzzCut cuts a patch off at each of its bytes. Nothing of it is read then, unless so little is
// left that no line promises a last one, and no block is there.
func FuzzCut(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.lorepatch")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range seeds {
		f.Add(readFile(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := patch.Parse("mod", data)
		if err != nil {
			return
		}
		text := p.Append(nil)
		if len(text) > 1<<13 {
			return
		}
		for n := range text {
			cut, err := patch.Parse("mod", text[:n])
			if err == nil && (string(text[:n]) != "lorefs-patch 1\n" || len(cut.Blocks) > 0) {
				t.Fatalf("%d of %d bytes are read as a patch:\n%s", n, len(text), text[:n])
			}
		}
	})
}

// forget takes away where the parts of a patch were in its text.
func forget(p *patch.Patch) {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		b.Line = 0
		for k := range b.Lines {
			b.Lines[k].At = 0
		}
	}
}

// TestConcatenated reads patches that stand one behind the other, and finds the marks of git's conflicts.
func TestConcatenated(t *testing.T) {
	const one, two = "lorefs-patch 1\nend: # end\n\n@ /S\n-a int 1\n+a int 2\n# end\n", "lorefs-patch 1\n@ /S\n+b int 1\n"
	all, err := patch.ParseAll("p", []byte(one+"\n\ufeff"+two+"lorefs-patch 1\n"))
	if err != nil || len(all) != 3 || all[0].Name != "p" || all[1].Name != "p#2" || all[1].Line != 9 || all[1].Blocks[0].Line != 10 || len(all[2].Blocks) != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	for text, want := range map[string]string{
		one + two + "x":                        "patch: p#2:11: ",
		one[:len(one)-6] + two:                 "patch: p:6: the patch ends here",
		one + "<<<<<<< HEAD\n":                 "patch: p:8: \"<<<<<<< HEAD\": this is a conflict marker of git",
		"lorefs-patch 1\n>>>>>>> a: b\n":       "patch: p:2: \">>>>>>> a: b\": this is a conflict marker of git",
		"<<<<<<< HEAD\n" + one:                 "patch: p:1: \"<<<<<<< HEAD\": this is a conflict marker of git",
		"lorefs-patch 1\n@ /S\n=======\n":      "patch: p:3: \"=======\": this is a conflict marker of git",
		"lorefs-patch 1\n@ /S\n||||||| 12ab\n": "patch: p:3: \"||||||| 12ab\": this is a conflict marker of git",
	} {
		if _, err := patch.ParseAll("p", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := patch.Parse("p", []byte(one+two)); err == nil {
		t.Error("two patches were taken for one")
	}
}
