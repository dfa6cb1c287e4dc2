package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Variables of a run of the scripts against a build for Windows, under wine(1).
const (
	// wineProgram is the path of that build. Without it, the scripts run this build.
	wineProgram = "LOREFS_UNDER_WINE"
	winePrefix  = "WINEPREFIX"
)

// underWine runs the build for Windows with this process's arguments.
func underWine() {
	code, err := runWine(os.Getenv(wineProgram), os.Args[1:])
	if err != nil {
		_, _ = io.WriteString(os.Stderr, "wine: "+err.Error()+"\n")
		code = 99
	}
	os.Exit(code)
}

// runWine prints what the program prints, its messages in the words of this system. The
// outputs are files, because the processes that wine leaves in the background would keep
// pipes open.
func runWine(program string, args []string) (code int, err error) {
	var outs [2]*os.File
	for i := range outs {
		if outs[i], err = os.CreateTemp("", "wine"); err != nil {
			return 0, err
		}
		defer os.Remove(outs[i].Name())
		defer outs[i].Close()
	}
	c := exec.Command("wine", append([]string{program}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, outs[0], outs[1]
	c.Env = append(os.Environ(), "WINEDEBUG=-all", "LC_ALL=C.UTF-8")
	// A path without a drive is not absolute there, and would be passed over: all scripts would
	// see each other's journals.
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		c.Env = append(c.Env, "XDG_STATE_HOME=Z:"+state)
	}
	if err := c.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			return 0, err
		}
		code = exit.ExitCode()
	}
	for _, f := range outs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	if _, err := io.Copy(os.Stdout, outs[0]); err != nil {
		return 0, err
	}
	text, err := io.ReadAll(outs[1])
	if err != nil {
		return 0, err
	}
	// Wine's connection to its server broke, and the program with it. .ci/run looks for these words.
	if bytes.Contains(text, []byte("wine client error:")) {
		return 0, fmt.Errorf("%s", text)
	}
	_, err = io.WriteString(os.Stderr, asHere(string(text)))
	return code, err
}

// wineWords are the system's errors in wine's words and in those of Linux, and paths.
var wineWords = strings.NewReplacer(
	"File not found.", "no such file or directory",
	"Path not found.", "no such file or directory",
	"The system cannot find the file specified.", "no such file or directory",
	"Access denied.", "permission denied",
	`Z:\`, "/", `\\`, `\`, `\`, "/",
)

// asHere leaves out what wine itself says.
func asHere(messages string) string {
	var kept strings.Builder
	for line := range strings.Lines(messages) {
		if !strings.HasPrefix(line, "wine: ") {
			kept.WriteString(wineWords.Replace(line))
		}
	}
	return kept.String()
}
