package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/origin"
	"lorefs/internal/testneeds"
)

// TestEveryOptionCounts checks that each option of a source changes something about how it is opened.
func TestEveryOptionCounts(t *testing.T) {
	dir := t.TempDir()
	for _, o := range (&options.SourceFlags{}).Table() {
		if o.Name == "kind" {
			continue // which chooses who gets the others
		}
		options := func(set bool) *kinds.Options {
			var f options.SourceFlags
			f.Add(pflag.NewFlagSet("", pflag.ContinueOnError))
			if o.With != "" {
				f.Key, f.IV = strings.Repeat("0", 32), strings.Repeat("0", 32)
			}
			if set {
				if err := f.Flags.Set(o.Name, valueFor(t, dir, &o)); err != nil {
					t.Fatal(err)
				}
			}
			opts, err := f.Options(slog.New(slog.DiscardHandler), nil)
			if err != nil {
				t.Fatalf("--%s: %v", o.Name, err)
			}
			return opts
		}
		if reflect.DeepEqual(options(true), options(false)) {
			t.Errorf("--%s changes nothing", o.Name)
		}
	}
}

// valueFor returns a value of an option that is not its default.
func valueFor(t *testing.T, dir string, o *options.Option) string {
	t.Helper()
	switch o.Value.(type) {
	case *bool:
		return "true"
	case *options.ByteSize:
		return "48M"
	case *int:
		return "7"
	case *time.Duration:
		return "48h"
	case *options.ID:
		return "1"
	case *options.Mode:
		return "027"
	case missingFlag:
		return options.MissingShow
	}
	switch o.Name {
	case "key", "iv":
		return "00112233445566778899aabbccddeeff"
	case "cdn":
		return "00000000000000000000000000000001"
	case "game-patch":
		return "98.02"
	case "host", "version-host", "endpoint":
		return "http://127.0.0.1:9"
	case "keys", "listfile", "definitions", "world":
		path := filepath.Join(dir, o.Name)
		text := map[string]string{"keys": "A1B2C3D4E5F60718 " + strings.Repeat("0", 32), "listfile": "1;a.txt"}[o.Name]
		writeText(t, path, text+"\n")
		return path
	}
	if len(o.Words) > 0 {
		return o.Words[len(o.Words)-1]
	}
	if o.Path {
		return filepath.Join(dir, "of-"+o.Name)
	}
	return "x1"
}

// reached is a command that opens sources, and its arguments for one.
type reached struct {
	args  []string
	kinds []string
	// without are the options that mean nothing to it.
	without []string
}

// commandsOfSources are all of them. SOURCE, OUT and SHEETS are put in.
var commandsOfSources = []reached{
	{args: []string{"mount", "-f", "SOURCE", "OUT"}, kinds: []string{"datacenter", "casc", "packets"}},
	{args: []string{"serve", "--addr", "127.0.0.1:no port", "SOURCE"}}, // which it finds out when the source is open
	{args: []string{"info", "SOURCE"}},
	{args: []string{"ls", "SOURCE"}},
	{args: []string{"cat", "SOURCE", "x"}},
	{args: []string{"find", "SOURCE"}},
	{args: []string{"export", "SOURCE", "OUT"}},
	{args: []string{"fetch", "SOURCE", "OUT"}, kinds: []string{"casc"}},
	{args: []string{"verify", "SOURCE"}},
	{args: []string{"query", "SOURCE", "/*"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"refs", "SOURCE", "/ItemData/Item"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"schema", "SOURCE", "OUT"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"repack", "SOURCE", "OUT"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"apply", "SOURCE", "SHEETS"}, kinds: []string{"datacenter", "world"}},
	{args: []string{"set", "SOURCE", "/*/@id", "5"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"unset", "SOURCE", "/*/@id"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"add", "SOURCE", "/*", "<A/>"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"remove", "SOURCE", "/*/Item"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	// The key of pack is for what it writes, and for --like as well. --layout is only for what it writes.
	{args: []string{"pack", "--like", "SOURCE", "SHEETS", "OUT"}, kinds: []string{"datacenter"}, without: []string{"kind", "world", "layout", "cache-size", "no-cache"}},
	{args: []string{"diff", "SOURCE", "SOURCE"}, kinds: []string{"datacenter"}, without: []string{"kind", "world"}},
	{args: []string{"diff", "SOURCE", "SOURCE"}, kinds: []string{"casc"}, without: append([]string{"kind"}, options.OfContents...)},
	{args: []string{"edits", "SOURCE"}, kinds: []string{"datacenter", "world"}},
	{args: []string{"revert", "--all", "SOURCE"}, kinds: []string{"datacenter", "world"}},
	{args: []string{"journal", "replay", "SOURCE"}, kinds: []string{"datacenter", "world"}},
}

// noSources are the commands that name a SOURCE, but don't open it as others do: a journal is found
// by its path, and needs no options unless the file is there.
var noSources = []string{"journal drop", "journal show"}

// TestOptionsReachAllCommands checks that each command that opens a source takes each option for
// its kind, from the command line, the environment and the file of settings.
func TestOptionsReachAllCommands(t *testing.T) { //nolint:paralleltest // it sets variables
	testneeds.Seconds(t)
	checkAllCommands(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	dir := t.TempDir()
	if _, err := sample.Write(filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	runHere(t, "export", filepath.Join(dir, "s", sample.DataCenterName), filepath.Join(dir, "sheets"))
	writeText(t, filepath.Join(dir, "patch"), "lorefs-patch 1\n")
	sources := map[string][]string{
		"datacenter": {filepath.Join(dir, "s", sample.DataCenterName)}, "world": {filepath.Join(dir, "s", "world")},
		"casc": {filepath.Join(dir, "s", "game"), "cdn:sample"}, "packets": {filepath.Join(dir, "s", "session.TeraLog")},
		"tables": {filepath.Join(dir, "s", "tables")},
	}
	runs := 0
	for _, c := range commandsOfSources {
		for kind, places := range sources {
			if c.kinds != nil && !slices.Contains(c.kinds, kind) {
				continue
			}
			for _, source := range places {
				runs++
				c.check(t, dir, kind, source)
			}
		}
	}
	if runs < 2*len(commandsOfSources)-10 {
		t.Errorf("only %d runs", runs)
	}
}

// checkAllCommands checks that commandsOfSources has all commands whose usage names a source.
func checkAllCommands(t *testing.T) {
	t.Helper()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		name := strings.TrimPrefix(c.CommandPath(), "lorefs ")
		known := slices.ContainsFunc(commandsOfSources, func(r reached) bool {
			return strings.HasPrefix(strings.Join(r.args, " ")+" ", name+" ")
		})
		names := regexp.MustCompile(`\bSOURCE\b| A B$`).MatchString(c.Use)
		if names && !known && !slices.Contains(noSources, name) {
			t.Errorf("the test does not know %s", c.CommandPath())
		}
	}
	check(newRoot())
}

// argsFor returns the arguments for a source.
func (r *reached) argsFor(t *testing.T, dir, source string) []string {
	t.Helper()
	args := slices.Clone(r.args)
	for i, arg := range args {
		switch arg {
		case "SOURCE":
			args[i] = source
		case "OUT":
			args[i] = filepath.Join(t.TempDir(), "out")
		case "SHEETS":
			args[i] = filepath.Join(dir, "sheets")
		case "PATCH":
			args[i] = filepath.Join(dir, "patch")
		}
	}
	return args
}

// check runs a command with all options for its source: by settings in the environment, by those of
// a file, and by flags. Whether it succeeds then does not matter.
func (r *reached) check(t *testing.T, dir, kind, source string) {
	t.Helper()
	args := r.argsFor(t, dir, source)
	if r.args[0] == "mount" {
		if err := os.Mkdir(args[len(args)-1], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var wanted []options.Option
	for _, o := range (&options.SourceFlags{}).Table() {
		distant := origin.IsRemote(source)
		misplaced := kind == kinds.CASCName && (distant && slices.Contains(options.NeverCDN, o.Name) || !distant && slices.Contains(options.OnlyCDN, o.Name))
		if o.GoesWith(kind) && o.Name != "kind" && !slices.Contains(r.without, o.Name) && !misplaced {
			wanted = append(wanted, o)
		}
	}
	var flags, file, environment, typed []string
	for _, o := range wanted {
		value := valueFor(t, dir, &o)
		if o.Name != "offline" || origin.IsRemote(source) {
			flags = append(flags, "--"+o.Name+"="+value)
		}
		if o.Typed {
			typed = append(typed, o.Name)
			continue
		}
		environment = append(environment, o.Variable()+"="+value)
		if _, isBool := o.Value.(*bool); !isBool {
			value = fmt.Sprintf("%q", value)
		}
		if _, isList := o.Value.(*[]string); isList {
			value = "[" + value + "]"
		}
		file = append(file, o.Name+" = "+value)
	}
	what := fmt.Sprintf("%s of %s", strings.Join(r.args, " "), source)
	config := filepath.Join(dir, "config", "lorefs", "config.toml")
	said := func(way string, options []options.Option, from func(o *options.Option) string, said string) {
		for _, o := range options {
			if line := "flag=--" + o.Name + from(&o); !strings.Contains(said, line) {
				t.Errorf("%s: --%s does not reach it from %s: no %q in %s", what, o.Name, way, line, said)
			}
		}
	}
	settings := slices.DeleteFunc(slices.Clone(wanted), func(o options.Option) bool { return slices.Contains(typed, o.Name) })
	t.Run("environment", func(t *testing.T) {
		for _, e := range environment {
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
		}
		said("the environment", settings, func(o *options.Option) string { return " from=$" + o.Variable() }, runHere(t, append([]string{"-v"}, args...)...))
	})
	writeText(t, config, strings.Join(file, "\n")+"\n")
	said("the file", settings, func(*options.Option) string { return " from=\"" + config }, runHere(t, append([]string{"-v"}, args...)...))
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	given := slices.DeleteFunc(wanted, func(o options.Option) bool { return o.Name == "offline" && !origin.IsRemote(source) })
	said("the command line", given, func(*options.Option) string { return "" }, runHere(t, slices.Concat([]string{"-vv"}, args, flags)...))
}

// TestOfflineAsksNobody checks that no command asks a host that settings forbid, whatever the source
// is and wherever the setting stands.
func TestOfflineAsksNobody(t *testing.T) { //nolint:paralleltest // it sets variables
	testneeds.Seconds(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	dir := t.TempDir()
	if _, err := sample.Write(filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	runHere(t, "export", filepath.Join(dir, "s", sample.DataCenterName), filepath.Join(dir, "sheets"))
	writeText(t, filepath.Join(dir, "patch"), "lorefs-patch 1\n")
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.FileServer(http.Dir(filepath.Join(dir, "s"))).ServeHTTP(w, r)
	}))
	defer server.Close()
	t.Setenv("LOREFS_VERSION_HOST", server.URL)
	t.Setenv("LOREFS_HOST", server.URL)
	config := filepath.Join(dir, "config", "lorefs", "config.toml")
	for _, c := range append(commandsOfSources, reached{args: []string{"decode", "SOURCE"}}) {
		if c.args[0] == "mount" {
			continue // which would go on
		}
		for _, source := range []string{server.URL + "/" + sample.DataCenterName, server.URL + "/game", "cdn:sample"} {
			args := c.argsFor(t, dir, source)[:len(c.args):len(c.args)]
			for way, offline := range map[string]func() []string{
				"the environment":  func() []string { t.Setenv("LOREFS_OFFLINE", "true"); return args },
				"the file":         func() []string { writeText(t, config, "offline = true\n"); return args },
				"the command line": func() []string { return append(args, "--offline") },
			} {
				said := runHere(t, offline()...)
				if n := asked.Swap(0); n > 0 {
					t.Errorf("%s, offline by %s: %d requests\n%s", strings.Join(args, " "), way, n, said)
				}
				t.Setenv("LOREFS_OFFLINE", "")
				writeText(t, config, "")
			}
		}
	}
	if runHere(t, "ls", server.URL+"/"+sample.DataCenterName); asked.Load() == 0 {
		t.Error("the server is never asked")
	}
}

// writeText writes a file, and the folder that it is in.
func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runHere runs a command in this process, and returns what it says on stderr.
func runHere(t *testing.T, args ...string) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before, out := os.Stderr, os.Stdout
	os.Stderr, os.Stdout = file, file
	defer func() { os.Stderr, os.Stdout = before, out }()
	root := newRoot()
	root.SetArgs(args)
	runCommand(t.Context(), root)
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
