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

// errWineBroke means that wine's connection to its server broke, and the program with it.
var errWineBroke = errors.New("wine broke")

// wineBroke is what wine says then. .ci/run looks for it.
const wineBroke = "wine client error:"

// runWine prints what the program prints, its messages in the words of this system. It tries again
// if wine breaks, as it does once in some hundred runs.
func runWine(program string, args []string) (code int, err error) {
	stdin, err := wineFile()
	if err != nil {
		return 0, err
	}
	defer stdin.Close()
	if _, err := io.Copy(stdin, os.Stdin); err != nil {
		return 0, err
	}
	for range 3 {
		if _, err := stdin.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		if code, err = tryWine(stdin, program, args); !errors.Is(err, errWineBroke) {
			break
		}
	}
	return code, err
}

// wineFile returns an open file without a name. Inputs and outputs are files, because the processes
// that wine leaves in the background would keep pipes open.
func wineFile() (*os.File, error) {
	f, err := os.CreateTemp("", "wine")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

func tryWine(stdin *os.File, program string, args []string) (code int, err error) {
	var outs [2]*os.File
	for i := range outs {
		if outs[i], err = wineFile(); err != nil {
			return 0, err
		}
		defer outs[i].Close()
	}
	c := exec.Command("wine", append([]string{program}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = stdin, outs[0], outs[1]
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
	text, err := io.ReadAll(outs[1])
	if err != nil {
		return 0, err
	}
	if bytes.Contains(text, []byte(wineBroke)) {
		return 0, fmt.Errorf("%w: %s", errWineBroke, text)
	}
	if _, err := io.Copy(os.Stdout, outs[0]); err != nil {
		return 0, err
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
