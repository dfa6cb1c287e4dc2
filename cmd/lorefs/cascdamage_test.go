package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
	"lorefs/cmd/internal/cli"
)

// tool runs the program, and returns its output and exit code.
func tool(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "lorefs", args...)
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	err := c.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), talk.String(), c.ProcessState.ExitCode()
}

// TestCASCDamagedRoot checks that every command reports that names are missing if the root
// is damaged.
func TestCASCDamagedRoot(t *testing.T) {
	t.Parallel()
	g := casctest.New()
	g.Fill(t)
	g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: "Read Me.txt", CKey: g.ByName["readme.txt"].CKey}})))
	casctest.Roots["text"](g)
	last := &g.Stored[len(g.Stored)-1]
	last.Encoded = bytes.Clone(last.Encoded)
	last.Encoded[len(last.Encoded)-1] ^= 1
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	game := filepath.Join(dir, "game")
	if err := files.Write(game); err != nil {
		t.Fatal(err)
	}
	const missing = "names are missing, for the root can't be read"
	for _, c := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"info", game}, cli.ExitOK, missing},
		{[]string{"info", "--json", game}, cli.ExitOK, missing},
		{[]string{"ls", game}, cli.ExitFailure, "files\n"},
		{[]string{"ls", game, "/Files"}, cli.ExitFailure, "Read Me.txt\n"},
		{[]string{"ls", game, "config"}, cli.ExitOK, "build-config\n"},
		{[]string{"export", game, filepath.Join(dir, "all"), "files"}, cli.ExitFailure, ""},
		{[]string{"export", game, filepath.Join(dir, "config"), "config"}, cli.ExitOK, ""},
		{[]string{"verify", game}, cli.ExitFailure, "damaged: " + missing},
	} {
		out, talk, code := tool(t, c.args...)
		if code != c.code || !strings.Contains(out, c.out) || c.args[0] != "verify" && !strings.Contains(talk, missing) {
			t.Errorf("%s: %d, %s%s", c.args, code, out, talk)
		}
	}
}

// TestCASCBuilds checks that a mirror with two builds needs the key of one, and that the
// error lists the keys.
func TestCASCBuilds(t *testing.T) {
	t.Parallel()
	game := filepath.Join(t.TempDir(), "game")
	var keys []string
	for _, name := range []string{"first", "second"} {
		g := casctest.New()
		g.Config = append(g.Config, "build-uid = "+name)
		s := g.Add([]byte(name))
		g.Root(g.Add(write.TextRoot([]root.File{{Name: name, CKey: s.CKey}})))
		files, err := g.Mirror(true)
		if err != nil {
			t.Fatal(err)
		}
		for at, data := range files {
			if strings.HasPrefix(at, "config/") && bytes.Contains(data, []byte("build-uid")) {
				keys = append(keys, write.Key(data).String())
			}
		}
		if err := files.Write(game); err != nil {
			t.Fatal(err)
		}
	}
	_, talk, code := tool(t, "ls", game, "files")
	if code != cli.ExitUsage || !strings.Contains(talk, keys[0]+" first 1.0.0.1") || !strings.Contains(talk, keys[1]+" second 1.0.0.1") || !strings.Contains(talk, "--build") {
		t.Errorf("without a key: %d, %s", code, talk)
	}
	if out, talk, code := tool(t, "verify", game); code != cli.ExitUsage {
		t.Errorf("verify: %d, %s%s", code, out, talk)
	}
	for _, flags := range [][]string{{"--build", keys[1]}, {"--product", "second"}} {
		if out, talk, code := tool(t, append([]string{"ls", game, "files"}, flags...)...); code != cli.ExitOK || out != "second\n" || talk != "" {
			t.Errorf("%s: %d, %s%s", flags, code, out, talk)
		}
	}
	if _, talk, code := tool(t, "ls", "--build", "1", game); code != cli.ExitSource || !strings.Contains(talk, `several builds are called "1"`) {
		t.Errorf("a number of both: %d, %s", code, talk)
	}
}
