package manual

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestGuides checks that every file is a guide, and that its text is complete and fits the width.
func TestGuides(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(names) {
		t.Errorf("there are %d files and %d guides", len(entries), len(names))
	}
	for _, g := range Guides() {
		const width = 60
		text := g.Text(width)
		inCode := map[string]bool{}
		for line := range strings.Lines(g.Markdown) {
			inCode[strings.TrimSpace(line)] = true
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") && !inCode[strings.TrimSpace(line)] {
				t.Errorf("%s: wider than %d: %s", g.Name, width, line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: blanks end %q", g.Name, line)
			}
		}
		// Text leaves out markup, and breaks lines elsewhere; it leaves out no word.
		markup := strings.NewReplacer("*", "", "`", "", "#", "")
		words := func(s string) []string { return strings.Fields(strings.ToLower(markup.Replace(s))) }
		got := words(text)
		want := slices.DeleteFunc(words(g.Markdown), func(w string) bool { return w == "sh" || w == "toml" })
		if !slices.Equal(got, want) {
			t.Errorf("%s: its text has these words:\n%q\nwant\n%q", g.Name, got, want)
		}
	}
}

// TestText checks how each kind of block is printed.
func TestText(t *testing.T) {
	g := Guide{Markdown: "# Name: *all* of it\n\nSome `code`,\nand a [link](x).\n\n- first item\n- second\n\n## What more\n\n" +
		"1. one\n2. two\n\n```sh\nls   x\n```\n\nEnd.\n"}
	want := `Name: all of it

Some ` + "`code`" + `, and a
link.

- first item
- second

WHAT MORE

1. one
2. two

  ls   x

End.`
	if got := g.Text(19); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMan checks the parts of the man pages by which man and apropos know them.
func TestMan(t *testing.T) {
	for _, g := range Guides() {
		page := string(g.Man(time.Unix(1e9, 0).UTC()))
		for _, want := range []string{
			`.TH "LOREFS-` + strings.ToUpper(g.Name) + `" "7" "Sep 2001" "lorefs" "lorefs"`,
			".SH NAME\nlorefs-" + g.Name + ` \- ` + g.Summary + "\n",
			"\n.SH DESCRIPTION\n", "\n.SH SEE ALSO\n\\fBlorefs(1)\\fP\n",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q:\n%s", g.Name, want, page)
			}
		}
		if n := strings.Count(page, "\n.SH "); n != strings.Count(g.Markdown, "\n## ")+3 {
			t.Errorf("%s: the page has %d sections", g.Name, n)
		}
	}
}
