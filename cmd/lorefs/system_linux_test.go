package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/fs"
)

// cmdMounted runs "[!] mounted DIR". It waits until the mount is there, or gone.
func cmdMounted(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] mounted DIR")
	}
	dir := ts.MkAbs(args[0])
	await(ts.Fatalf, "the mount on "+dir, func() bool {
		ours, err := daemon.Mounted(dir)
		ts.Check(err)
		return ours != neg
	})
}

// cmdPid runs "pid DIR". It sets $PID to the process that serves a mount.
func cmdPid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pid DIR")
	}
	ts.Check(ts.Exec("lorefs", "status", "--json", args[0]))
	var s mounted.Status
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &s))
	ts.Setenv("PID", strconv.Itoa(s.PID))
}

// cmdSignal runs "signal NAME PID".
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signal NAME PID")
	}
	pid, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(syscall.Kill(pid, unix.SignalNum("SIG"+args[0])))
}

// cmdEnded runs "ended PID". It waits until the process has ended.
func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ended PID")
	}
	await(ts.Fatalf, "the end of process "+args[0], func() bool { return hasEnded(args[0]) })
}

// hasEnded reports whether a process has ended. A zombie counts as ended, since a container
// may have no process that collects it.
func hasEnded(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}

// unescaped undoes the escapes of mount points, see proc(5).
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// detachBelow detaches all mounts below a folder, however a test ended.
func detachBelow(dir string) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			if fs.Detach(unescaped.Replace(fields[4])) != nil {
				_ = exec.Command("umount", "-l", fields[4]).Run()
			}
		}
	}
}
