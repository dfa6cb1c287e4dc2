package pattern_test

import (
	"errors"
	"strings"
	"testing"

	"lorefs/cmd/internal/pattern"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct{ text, yes, no string }{
		{"a", "a", "b A a/a"},
		{"/a/b", "a/b", "a b"},
		{"a/", "a", "a/b"},
		{"*", "a .a a.txt", "a/b"},
		{"*.txt", "a.txt .txt", "a/b.txt a.txt/b"},
		{"?.txt", "a.txt ä.txt", ".txt ab.txt /.txt"},
		{"a?b", "axb", "a/b ab"},
		{"a[xy]b", "axb ayb", "azb ab a/b"},
		{"a[!x]b", "ayb", "axb a/b"},
		{"a[^x-z]b", "awb", "ayb a/b"},
		{"a[!-x]b", "ayb", "a-b axb a/b"},
		{"[*]", "*", "a"},
		{"[?][[][{]x", "?[{x", "a[{x"},
		{`a\b`, `a\b`, "ab a/b"},
		{`a\*`, `a\ a\b`, "a* ab"},
		{`[\]*`, `\ \x`, "x"},
		{"**", "a a/b a/b/c", ""},
		{"a/**", "a/b a/b/c", "a b/c"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "a/x a/xb b"},
		{"**/b", "b a/b a/x/b", "ab a/ab b/a"},
		{"a/**.txt", "a/b.txt a/x/b.txt a/x/y/.txt", "a.txt a/b"},
		{"a**", "a ab ab/c a/b", "b b/a"},
		{"a**b", "ab axb ax/yb a/b", "a ba ab/c"},
		{"{a,b/c}/*", "a/x b/c/x", "b/x c/x a"},
		{"{a/**/b,c}", "a/b a/x/b c", "a/c"},
		{"*.{jpg,png}", "a.jpg a.png", "a.gif"},
	} {
		p, err := pattern.Compile(test.text, false)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		for name := range strings.FieldsSeq(test.yes) {
			if !p.Match(name) {
				t.Errorf("%q does not match %q", test.text, name)
			}
			reached(t, p, test.text, name)
		}
		for name := range strings.FieldsSeq(test.no) {
			if p.Match(name) {
				t.Errorf("%q matches %q", test.text, name)
			}
		}
	}
}

// reached checks that a walk that begins at the base, and enters only what Below lets it, finds
// a path.
func reached(t *testing.T, p *pattern.Pattern, text, name string) {
	t.Helper()
	for i, c := range name {
		if c == '/' && !p.Below(name[:i]) {
			t.Errorf("%q does not enter %q to find %q", text, name[:i], name)
		}
	}
	if !p.Below("") || p.Base() != "" && !strings.HasPrefix(name, p.Base()+"/") {
		t.Errorf("%q has the base %q, in which is no %q", text, p.Base(), name)
	}
}

func TestBelow(t *testing.T) {
	for _, test := range []struct{ text, base, yes, no string }{
		{"a/b/*.txt", "a/b", "a a/b", "b a/c a/b/c"},
		{"a/b", "a", "a", "b a/b"},
		{"a", "", "", "a b"},
		{"[*]/[x]b/*", "*/xb", "* */xb", "a"},
		{"a/*/c/**/d", "a", "a a/x a/x/c a/x/c/y a/x/c/y/z", "b a/x/d"},
		{"a/x*/c", "a", "a a/x a/xy", "a/y a/x/c"},
		{"{a,b}/c", "", "a b", "c a/c"},
		{"{a/b,c}/d", "", "a a/b c d", ""},
		{"**/x", "", "a a/b", ""},
	} {
		p, err := pattern.Compile(test.text, false)
		if err != nil {
			t.Fatal(err)
		}
		if p.Base() != test.base {
			t.Errorf("%q has the base %q, want %q", test.text, p.Base(), test.base)
		}
		for dir := range strings.FieldsSeq(test.yes) {
			if !p.Below(dir) {
				t.Errorf("%q does not enter %q", test.text, dir)
			}
		}
		for dir := range strings.FieldsSeq(test.no) {
			if p.Below(dir) {
				t.Errorf("%q enters %q", test.text, dir)
			}
		}
	}
}

func TestSpelled(t *testing.T) {
	p, err := pattern.Compile("a/*/c*/**/d", false)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Spelled("a") || !p.Spelled("a/b") || p.Spelled("a/b/c") || p.Spelled("a/b/c/x") {
		t.Error("it does not know where ** begins")
	}
}

func TestFold(t *testing.T) {
	p, err := pattern.Compile("Files/*.Ä?T", true)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Match("fILES/a.äxt") || !p.Match("files/A.ÄXT") || p.Match("files/a.txt") || !p.Below("FILES") {
		t.Error("a pattern that ignores case does not")
	}
}

func TestSyntax(t *testing.T) {
	for _, text := range []string{"[", "[a", "a[]", "[!]", "{a", "a}", "{a,[}", "x/[/y"} {
		if _, err := pattern.Compile(text, false); !errors.Is(err, pattern.ErrSyntax) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLarge(t *testing.T) {
	if _, err := pattern.Compile(strings.Repeat("{a,b}", 12), false); err != nil {
		t.Error(err)
	}
	for _, text := range []string{strings.Repeat("{a,b}", 13), strings.Repeat("{a,{b,c}", 9) + strings.Repeat("}", 9), strings.Repeat("a**", 13)} {
		if _, err := pattern.Compile(text, false); !errors.Is(err, pattern.ErrLarge) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{"a/b": false, `a\b`: false, "a*": true, "?": true, "[x]": true, "{a,b}": true} {
		if pattern.Is(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{"a/**/b", "{a,b/c}/[!x]*", "**x**", "[", `\[`, "{**/a,**}"} {
		f.Add(text, "a/x/b")
	}
	f.Fuzz(func(_ *testing.T, text, name string) {
		if p, err := pattern.Compile(text, true); err == nil {
			p.Match(name)
			p.Below(name)
		}
	})
}
