package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/manual"
	"lorefs/cmd/internal/options"
	"lorefs/internal/testneeds"
)

// shellBlock is a block of commands in the README or a guide.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// optionItem is the head of an item in a guide's list of options, and optionNamed an option in it:
// name and argument.
var (
	optionItem  = regexp.MustCompile("(?m)^- ((?:`--[^`]*`(?:, )?)+):")
	optionNamed = regexp.MustCompile("`--([a-z-]+)(?: ([A-Z]+))?`")
)

// TestGuideOptions checks that the guides' lists have all options once and no others, with their
// arguments.
func TestGuideOptions(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var f options.MountFlags
	f.Add(flags)
	want := map[string]bool{}
	for _, o := range f.Source.Known {
		named := "--" + o.Name
		if argument, _ := pflag.UnquoteUsage(flags.Lookup(o.Name)); argument != "" {
			named += " " + strings.ToUpper(argument)
		}
		want[named] = true
	}
	for _, g := range manual.Guides() {
		for _, item := range optionItem.FindAllStringSubmatch(g.Markdown, -1) {
			for _, named := range optionNamed.FindAllString(item[1], -1) {
				named = strings.Trim(named, "`")
				if !want[named] {
					t.Errorf("the guide %s has %s: no such option, or twice", g.Name, named)
				}
				delete(want, named)
			}
		}
	}
	for named := range want {
		t.Errorf("no guide has an item for %s", named)
	}
}

// TestGuideExitCodes checks that the guide to scripts has the program's table of exit codes.
func TestGuideExitCodes(t *testing.T) {
	var list []string
	for _, e := range cli.ExitMeanings() {
		list = append(list, fmt.Sprintf("- `%d`: %s", e.Code, e.Means))
	}
	want := strings.Join(strings.Fields(strings.Join(list, " ")), " ")
	for _, g := range manual.Guides() {
		if strings.Contains(strings.Join(strings.Fields(g.Markdown), " "), want) {
			return
		}
	}
	t.Errorf("no guide has this list:\n%s", strings.Join(list, "\n"))
}

// TestReadme runs every command of the README, in order, in a folder like a fresh clone. It
// does not run the tests, since it is one of them.
func TestReadme(t *testing.T) {
	testneeds.Slow(t, "builds the program, and that without -race")
	testneeds.FUSE(t)
	testneeds.Program(t, "go")
	root := testneeds.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "blte", "casc", "cmd", "datacenter", "fs", "geometry", "internal", "nodes", "protocol"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(clone, name)); err != nil {
			t.Fatal(err)
		}
	}
	source := entryNames(t, clone)
	runBlocks(t, clone, string(text))
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range entryNames(t, clone) {
		lines := strings.Fields(string(ignored))
		if !source[name] && !slices.Contains(lines, "/"+name) && !slices.Contains(lines, "/"+name+"/") {
			t.Errorf("the commands leave %s, which .gitignore does not cover", name)
		}
	}
}

// entryNames returns the names in a folder.
func entryNames(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

// TestGuides runs every command of each guide, in order, in a folder of the guide's own.
func TestGuides(t *testing.T) {
	testneeds.Slow(t, "scripts test the same commands")
	testneeds.FUSE(t)
	for _, g := range manual.Guides() {
		if strings.Contains(g.Markdown, "```sh\n") {
			t.Run(g.Name, func(t *testing.T) {
				for _, program := range []string{"sqlite3", "jq", "git"} {
					if strings.Contains(g.Markdown, "\n"+program+" ") {
						testneeds.Program(t, program)
					}
				}
				runBlocks(t, t.TempDir(), g.Markdown)
			})
		}
	}
}

// runBlocks runs the commands of a document in a folder.
func runBlocks(t *testing.T, dir, markdown string) {
	t.Helper()
	t.Cleanup(func() { detachBelow(dir) })
	blocks := shellBlock.FindAllStringSubmatch(markdown, -1)
	if len(blocks) == 0 {
		t.Fatal("the document has no block of commands")
	}
	environment := readerEnvironment(t)
	for _, block := range blocks {
		commands := block[1]
		if strings.TrimSpace(commands) == "go test ./..." {
			continue
		}
		if out, err := runShell(t.Context(), dir, "-eux", commands, environment); err != nil {
			t.Fatalf("%s\n%v\n%s", commands, err, out)
		}
	}
}

// userCache is what it was before noHome set it.
var userCache = os.Getenv("XDG_CACHE_HOME")

// readerEnvironment returns an environment with folders of its own, as somebody has who begins.
func readerEnvironment(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	environment := append(os.Environ(), "XDG_CACHE_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home)
	// Go's cache is shared. Without paths in it a build in another folder takes what is there.
	environment = append(environment, "GOFLAGS=-trimpath "+os.Getenv("GOFLAGS"))
	ask := exec.Command("go", "env", "GOCACHE")
	ask.Env = append(os.Environ(), "XDG_CACHE_HOME="+userCache)
	if cache, err := ask.Output(); err == nil {
		environment = append(environment, "GOCACHE="+strings.TrimSpace(string(cache)))
	}
	return environment
}

// runShell runs commands in a shell, and returns what they print.
func runShell(ctx context.Context, dir, flags, commands string, environment []string) (string, error) {
	sh := exec.CommandContext(ctx, "sh", flags+"c", commands)
	sh.Dir, sh.Env = dir, environment
	out, err := sh.CombinedOutput()
	return string(out), err
}

// session are the commands in the README's picture.
var session = []string{
	"lorefs mount --rw sample/DataCenter_Final_Sample.dat mnt",
	"ls mnt",
	"cat mnt/tree/ItemData/Item/name",
	"grep -rl sword_of_copper_1 mnt/sheets",
	"sed -i s/copper/gold/ mnt/tree/ItemData/Item/name",
	"lorefs edits mnt",
	"lorefs unmount mnt",
}

// saveFigures are figures in the session that are not the same each time.
var saveFigures = regexp.MustCompile(`\d+ bytes in [^ \n]+ s`)

// TestPicture compares the README's picture of a session with what its commands print. -update draws
// it anew.
func TestPicture(t *testing.T) {
	testneeds.Slow(t, "scripts test the same commands")
	testneeds.FUSE(t)
	dir := t.TempDir()
	t.Cleanup(func() { detachBelow(dir) })
	environment := readerEnvironment(t)
	if out, err := runShell(t.Context(), dir, "-e", "lorefs sample sample && mkdir mnt", environment); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var lines []string
	for _, command := range session {
		out, err := runShell(t.Context(), dir, "-e", command, environment)
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		out = strings.ReplaceAll(out, dir, "~")
		out = saveFigures.ReplaceAllString(out, "85624 bytes in 0.1 s")
		lines = append(lines, "$ "+command)
		lines = append(lines, slices.Collect(strings.Lines(out))...)
	}
	got := drawSession(lines)
	path := filepath.Join(testneeds.Root(t), ".github", "session.svg")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the session prints now; -update draws it anew:\n%s", path, got)
	}
}

// drawSession draws the lines of a terminal as SVG. Commands stand out.
func drawSession(lines []string) string {
	const charWidth, lineHeight, margin = 8, 20, 16
	var text strings.Builder
	columns := 0
	for i, line := range lines {
		line = strings.TrimRight(line, "\n")
		columns = max(columns, utf8.RuneCountInString(line))
		color := "#c9d1d9"
		if strings.HasPrefix(line, "$ ") {
			color = "#7ee787"
		}
		// textLength keeps the columns, whatever font the viewer has.
		fmt.Fprintf(&text, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" fill="%s">`,
			margin, margin+lineHeight*i+15, charWidth*utf8.RuneCountInString(line), color)
		_ = xml.EscapeText(&text, []byte(line)) // a Builder has no errors
		text.WriteString("</text>\n")
	}
	width, height := columns*charWidth+2*margin, len(lines)*lineHeight+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, monospace" font-size="13" xml:space="preserve">
<title>A session with lorefs</title>
<rect width="%d" height="%d" rx="8" fill="#0d1117"/>
%s</svg>
`, width, height, width, height, text.String())
}
