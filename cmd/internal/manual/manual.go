// Package manual holds the guides to lorefs, each in one Markdown file. lorefs help prints them, lorefs
// man makes pages of section 7 of them, and README.md links to them.
//
// A guide begins with a line "# Name: what it is about". Below it are headings of the second
// level, paragraphs, lists and blocks of commands, in the Markdown that [Guide.Text] and [Guide.Man]
// know. Its blocks marked sh are run by a test, in order and in a folder of their own.
package manual

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

//go:embed *.md
var files embed.FS

// names are the guides, in the order in which one would read them.
var names = []string{"datacenter", "editing", "casc", "packets", "clienttables", "world", "resources", "tables", "serving", "remote", "settings", "json", "fstab"}

// Guide is a guide.
type Guide struct {
	// lorefs help calls it by Name, and Summary is a line on what it is about.
	Name, Summary string
	// Markdown is its text.
	Markdown string
}

// Guides returns all guides, which callers must not change. They are read once, as every command
// needs their names.
var Guides = sync.OnceValue(readGuides)

func readGuides() []Guide {
	guides := make([]Guide, 0, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name + ".md")
		if err != nil {
			panic("BUG: " + err.Error())
		}
		title, _, _ := strings.Cut(string(text), "\n")
		_, summary, found := strings.Cut(title, ": ")
		if !found {
			panic("BUG: " + name + ".md has no summary in its title")
		}
		guides = append(guides, Guide{name, summary, string(text)})
	}
	return guides
}

// Man returns the guide as a man page of section 7 with a date.
func (g Guide) Man(date time.Time) []byte {
	_, body, _ := strings.Cut(g.Markdown, "\n")
	page := fmt.Sprintf("%% \"LOREFS-%s\" \"7\" \"%s\" \"lorefs\" \"lorefs\"\n# NAME\nlorefs-%s - %s\n\n# DESCRIPTION\n%s\n# SEE ALSO\n**lorefs(1)**\n",
		strings.ToUpper(g.Name), date.Format("Jan 2006"), g.Name, g.Summary, strings.ReplaceAll(body, "\n## ", "\n# "))
	return md2man.Render([]byte(page))
}
