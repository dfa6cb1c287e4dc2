package manual

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/russross/blackfriday/v2"

	"lorefs/cmd/internal/readable"
	"lorefs/internal/testneeds"
)

// readmeWords is how many words README.md may have, so that newcomers read it to its end.
const readmeWords = 900

// documents returns what people read, by its path in the project.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, name := range names {
		paths = append(paths, "cmd/internal/manual/"+name+".md")
	}
	found := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(testneeds.Root(t), filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		found[path] = string(text)
	}
	return found
}

// TestWords checks that the README stays short.
func TestWords(t *testing.T) {
	if n := len(strings.Fields(documents(t)["README.md"])); n > readmeWords {
		t.Errorf("README.md has %d words, and may have %d: move some to a guide", n, readmeWords)
	}
}

// TestSentences looks for sentences that are hard to read.
func TestSentences(t *testing.T) {
	for path, text := range documents(t) {
		for _, fault := range faults(text) {
			t.Errorf("%s: %s", path, fault)
		}
	}
	// A check that finds nothing may have lost its eyes.
	long := strings.Repeat("word ", readable.MaxWords-1) + "`some code` end"
	if got := faults("A short one. " + long + ".\n\n- " + long + "!\n\n| a | b |\n|---|---|\n| x | " + long + " |\n"); len(got) != 3 {
		t.Errorf("found %d long sentences of 3: %q", len(got), got)
	}
	if got := faults(strings.TrimSuffix(long, " end") + "."); len(got) != 0 {
		t.Errorf("a piece of code is one word: %q", got)
	}
}

// faults returns what is hard to read in a document.
func faults(markdown string) (all []string) {
	parse(markdown).Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		if !entering || n.Type != blackfriday.Paragraph && n.Type != blackfriday.TableCell && n.Type != blackfriday.Heading {
			return blackfriday.GoToNext
		}
		all = append(all, readable.Faults(prose(n))...)
		return blackfriday.SkipChildren
	})
	return all
}

// prose returns the text in a block, with one word in place of each piece of code.
func prose(block *blackfriday.Node) string {
	var b strings.Builder
	block.Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		switch {
		case !entering:
		case n.Type == blackfriday.Code:
			b.WriteString("CODE")
		default:
			b.Write(n.Literal)
		}
		return blackfriday.GoToNext
	})
	return b.String()
}

// TestLinks checks that links lead to a file of the project or to a heading, or are addresses.
func TestLinks(t *testing.T) {
	root := testneeds.Root(t)
	all := documents(t)
	links := 0
	for path, text := range all {
		parse(text).Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
			if !entering || n.Type != blackfriday.Link && n.Type != blackfriday.Image {
				return blackfriday.GoToNext
			}
			links++
			to, err := url.Parse(string(n.Destination))
			switch {
			case err != nil:
				t.Errorf("%s: %v", path, err)
				return blackfriday.GoToNext
			case to.Host != "":
				return blackfriday.GoToNext // no test needs the network
			}
			target := filepath.Join(filepath.Dir(path), filepath.FromSlash(to.Path))
			if to.Path == "" {
				target = path
			}
			there, err := os.ReadFile(filepath.Join(root, target))
			if info, statErr := os.Stat(filepath.Join(root, target)); statErr == nil && info.IsDir() {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: a link leads nowhere: %v", path, err)
			} else if to.Fragment != "" && !anchors(string(there))[to.Fragment] {
				t.Errorf("%s: %s has no heading %q", path, target, to.Fragment)
			}
			return blackfriday.GoToNext
		})
	}
	if links == 0 {
		t.Error("no document has a link")
	}
}

// notInAnchor is what is left out of the name that a heading has in links.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns the names of a document's headings in links.
func anchors(markdown string) map[string]bool {
	found := map[string]bool{}
	parse(markdown).Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		if entering && n.Type == blackfriday.Heading {
			name := notInAnchor.ReplaceAllString(strings.ToLower(inline(n)), "")
			found[strings.ReplaceAll(name, " ", "-")] = true
		}
		return blackfriday.GoToNext
	})
	return found
}
