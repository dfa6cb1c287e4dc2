package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lorefs/internal/testneeds"
)

// shellBlock is a block of commands in the README.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// flagRow is a row of a table of flags in the README, and flagNamed a flag in its first
// cell: name and argument.
var (
	flagRow   = regexp.MustCompile("(?m)^\\| (`--[^|]*) \\| (.*) \\|$")
	flagNamed = regexp.MustCompile("`--([a-z-]+)(?: ([A-Z]+))?`")
)

// TestReadmeOptions checks that the README's tables have all options and no others, with
// their arguments.
func TestReadmeOptions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testneeds.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var f mountFlags
	f.add(flags)
	want := map[string]bool{}
	for _, o := range f.source.known {
		named := "--" + o.name
		if argument, _ := pflag.UnquoteUsage(flags.Lookup(o.name)); argument != "" {
			named += " " + strings.ToUpper(argument)
		}
		want[named] = true
	}
	for _, row := range flagRow.FindAllStringSubmatch(string(text), -1) {
		for _, named := range flagNamed.FindAllString(row[1], -1) {
			named = strings.Trim(named, "`")
			if !want[named] {
				t.Errorf("the README has %s: no such option, or twice", named)
			}
			delete(want, named)
		}
	}
	for named := range want {
		t.Errorf("the README has no row for %s", named)
	}
}

// TestReadmeExitCodes checks that the README has the program's table of exit codes.
func TestReadmeExitCodes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testneeds.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := "| code | |\n|---|---|\n"
	for _, e := range exitMeanings() {
		table += fmt.Sprintf("| %d | %s |\n", e.code, strings.ReplaceAll(e.means, "\n", " "))
	}
	if !strings.Contains(string(text), table) {
		t.Errorf("the README lacks this table:\n%s", table)
	}
}

// TestReadme runs every command of the README, in order, in a folder like a fresh clone. It
// does not run the tests, since it is one of them.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program, and that without -race")
	}
	testneeds.FUSE(t)
	testneeds.Program(t, "go")
	root := testneeds.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	t.Cleanup(func() { detachBelow(clone) })
	for _, name := range []string{"go.mod", "go.sum", "blte", "casc", "cmd", "datacenter", "fs", "geometry", "internal", "nodes", "protocol"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(clone, name)); err != nil {
			t.Fatal(err)
		}
	}
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 4 {
		t.Fatalf("the README has %d blocks of commands", len(blocks))
	}
	home := t.TempDir()
	for _, block := range blocks {
		commands := block[1]
		if strings.TrimSpace(commands) == "go test ./..." {
			continue
		}
		sh := exec.CommandContext(t.Context(), "sh", "-euxc", commands)
		sh.Dir = clone
		sh.Env = append(os.Environ(), "XDG_CACHE_HOME="+home, "XDG_STATE_HOME="+home)
		// Go's cache is shared.
		if cache, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
			sh.Env = append(sh.Env, "GOCACHE="+strings.TrimSpace(string(cache)))
		}
		out, err := sh.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", commands, err, out)
		}
	}
}
