package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds/cdntest"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/sample"
	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands see into the scripts")

func TestMain(m *testing.M) {
	program := tellingPeak
	if os.Getenv(wineProgram) != "" {
		program = underWine
	}
	testscript.Main(cleaning{m}, map[string]func(){
		"lorefs": program,
		// The names under which mount(8) starts the program.
		"mount.lorefs":      main,
		"mount.fuse.lorefs": main,
	})
}

// peakFile is a variable with the path of a file to which the program writes its peak memory
// when it ends. What the system tells of a child that has ended is at least what its parent held
// when it was started, and that is a process with many tests at once.
const peakFile = "LOREFS_TEST_PEAK"

func tellingPeak() {
	code := run(context.Background(), daemon.Args())
	if path := os.Getenv(peakFile); path != "" {
		if err := os.WriteFile(path, fmt.Append(nil, ownPeak()), 0o600); err != nil {
			panic("no peak: " + err.Error())
		}
	}
	os.Exit(code)
}

// ownPeak returns the peak memory of this process, or 0 without /proc.
func ownPeak() (bytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(peak, &bytes); err != nil {
		return 0
	}
	return bytes << 10
}

// cleaning runs tests, and removes what they share.
type cleaning struct{ m *testing.M }

// Run implements testscript.TestingM.
func (c cleaning) Run() int {
	testneeds.AtOnce(2) // scripts wait for mounts, disks and other processes for half of the time
	home := noHome()
	code := c.m.Run()
	for _, dir := range []string{home, atEnd} {
		_ = os.RemoveAll(dir) // it is in the temporary folder anyway
	}
	return code
}

// noHome keeps tests out of the user's own folders, and returns the one that they share instead.
// Tests that run in parallel can't set variables each for itself.
func noHome() string {
	dir, err := os.MkdirTemp("", "lorefs-home-")
	for _, name := range []string{"CONFIG", "CACHE", "STATE"} {
		err = errors.Join(err, os.Setenv("XDG_"+name+"_HOME", filepath.Join(dir, strings.ToLower(name))))
	}
	if err != nil {
		panic("no folder for tests: " + err.Error())
	}
	return dir
}

// TestScript runs the scripts that need no mount.
func TestScript(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script")
}

// TestMountScript runs the scripts that mount.
func TestMountScript(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	runScripts(t, "testdata/mountscript")
}

func runScripts(t *testing.T, dir string) {
	t.Helper()
	// Below nohup all programs would ignore a hangup, which scripts send. What a test catches has
	// its usual effect in the programs that it starts.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: setupScript, Cmds: scriptCommands,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "allow-other":
				conf, _ := os.ReadFile("/etc/fuse.conf")
				return os.Geteuid() == 0 || regexp.MustCompile(`(?m)^\s*user_allow_other\s*$`).Match(conf), nil
			case "slow":
				return !testneeds.Quick(), nil
			case "waited":
				return testneeds.Waited(), nil
			case "race":
				return testneeds.Racing(), nil
			case "bash-completion":
				_, err := os.Stat("/usr/share/bash-completion/bash_completion")
				return err == nil, nil
			case "wine":
				return os.Getenv(wineProgram) != "", nil
			}
			return false, errors.New("unknown condition " + cond)
		},
	})
}

// setupScript gives a script its own folders and settings.
func setupScript(env *testscript.Env) error {
	for _, o := range options.AllOptions() {
		env.Setenv(o.Variable(), "")
	}
	for _, key := range []string{wineProgram, winePrefix} {
		env.Setenv(key, os.Getenv(key))
	}
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	// These programs end soon. Collecting their garbage as often as by default would be a fifth of
	// the work.
	env.Setenv("GOGC", "400")
	env.Setenv("ESC", "\x1b")
	env.Setenv("CSI", "\u009b")
	env.Values[held{}] = &held{}
	env.Defer(func() { detachBelow(env.WorkDir) })
	return os.Mkdir(filepath.Join(env.WorkDir, "mnt"), 0o700)
}

// scriptCommands are the commands of scripts besides testscript's. system_linux_test.go has
// those for mounts and processes.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":    cmdExits,
	"cdn":      cmdCDN,
	"valid":    cmdValid,
	"builds":   cmdBuilds,
	"tables":   cmdTableBuilds,
	"sample":   cmdSample,
	"scramble": cmdScramble,
	"damaged":  cmdDamaged,
	"logged":   cmdLogged,
	"hold":     cmdHold,
	"release":  cmdRelease,
	"mounted":  cmdMounted,
	"pid":      cmdPid,
	"signal":   cmdSignal,
	"ended":    cmdEnded,
	"manager":  cmdManager,
	"notified": cmdNotified,
}

// cmdExits runs "exits CODE PROGRAM [ARG...]".
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// madeSample returns a folder with the output of lorefs sample. Most scripts begin with it,
// and a program with -race takes seconds to make it.
var madeSample = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lorefs-sample-")
	if err == nil {
		atEnd = dir
		_, err = sample.Write(dir)
	}
	return dir, err
})

// madeSampleFile returns the path of one of its files, which no test may change.
func madeSampleFile(t *testing.T, name string) string {
	t.Helper()
	dir, err := madeSample()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// atEnd is the folder that is removed after all tests.
var atEnd string

// cmdSample runs "sample DIR", which has the result of lorefs sample.
func cmdSample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sample DIR")
	}
	made, err := madeSample()
	ts.Check(err)
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(made)))
}

// cmdScramble runs "scramble PATTERN [BACK]". It changes a byte of each file: in the middle,
// or BACK bytes before the end.
func cmdScramble(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: scramble PATTERN [BACK]")
	}
	back := 0
	if len(args) > 1 {
		var err error
		back, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	paths, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(paths) == 0 {
		ts.Fatalf("no file is called %s", args[0])
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		ts.Check(err)
		at := len(b) / 2
		if back > 0 {
			at = len(b) - back
		}
		b[at] ^= 1
		ts.Check(os.WriteFile(path, b, 0o600))
	}
}

// cmdDamaged runs "damaged open|verify FILE". It writes a data center that breaks a rule
// which Open checks, or only Verify.
func cmdDamaged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damaged open|verify FILE")
	}
	data := damagedFiles()[args[0] == "verify"]
	if data == nil {
		ts.Fatalf("dctest has no such file")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// damagedFiles returns a data center that Open refuses, and one that only Verify does. To make all
// that dctest has takes a third of a second and 100 MB.
var damagedFiles = sync.OnceValue(func() map[bool][]byte {
	files := map[bool][]byte{}
	for _, b := range dctest.Broken(datacenter.LayoutV6X64) {
		if files[b.Strict()] == nil {
			files[b.Strict()] = b.Data
		}
	}
	return files
})

// held is a file that a script keeps open, the service manager that it plays, and its hosts.
type held struct {
	file    *os.File
	manager *heard
	cdn     *cdntest.Server
}

// cmdHold runs "hold PATH". It keeps a file open, so that its mount is busy.
func cmdHold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold PATH")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Value(held{}).(*held).file = f
	ts.Defer(func() { f.Close() })
}

// cmdRelease runs "release". It closes the file that hold keeps open.
func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: release")
	}
	ts.Check(ts.Value(held{}).(*held).file.Close())
}

// patience is how long a test waits for an event. It does not limit how long anything may
// take.
const patience = 30 * time.Second

// await waits until ok returns true; what names the event.
func await(fatalf func(string, ...any), what string, ok func() bool) {
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			fatalf("waited %v for %s", patience, what)
		}
	}
}

// cmdLogged runs "logged FILE TEXT". It waits until the text is in the file.
func cmdLogged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: logged FILE TEXT")
	}
	await(ts.Fatalf, args[1]+" in "+args[0], func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Contains(string(b), args[1])
	})
}
