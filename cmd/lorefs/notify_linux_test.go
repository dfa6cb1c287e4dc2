package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// heard is what the service manager of a script has heard.
type heard struct {
	socket *net.UnixConn
	text   string
}

// cmdManager runs "manager UNIT". It plays the service manager: $NOTIFY_SOCKET is its socket,
// and $START the command line of a unit file in .ci, which a shell can run.
func cmdManager(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: manager UNIT")
	}
	root, err := filepath.Abs("../..")
	ts.Check(err)
	unit, err := os.ReadFile(filepath.Join(root, ".ci", args[0]))
	ts.Check(err)
	_, start, _ := strings.Cut(string(unit), "\nExecStart=/usr/bin/")
	start, _, found := strings.Cut(start, "\n")
	if !found || !strings.Contains(string(unit), "\nType=notify\n") {
		ts.Fatalf("%s has no ExecStart, or another Type than notify", args[0])
	}
	ts.Setenv("START", "exec "+start)
	path := ts.MkAbs("notify.sock")
	_ = os.Remove(path) // of an earlier manager
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	ts.Check(err)
	ts.Defer(func() { socket.Close() })
	ts.Setenv("NOTIFY_SOCKET", path)
	ts.Value(held{}).(*held).manager = &heard{socket: socket}
}

// cmdNotified runs "[!] notified TEXT". It waits until the manager hears a text, or checks that
// it has not heard it so far.
func cmdNotified(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] notified TEXT")
	}
	h := ts.Value(held{}).(*held).manager
	listen := func(wait time.Duration) bool {
		buf := make([]byte, 4096)
		ts.Check(h.socket.SetReadDeadline(time.Now().Add(wait)))
		n, err := h.socket.Read(buf)
		h.text += string(buf[:n]) + "\n"
		return err == nil
	}
	if neg {
		for listen(time.Millisecond) {
		}
		if strings.Contains(h.text, args[0]) {
			ts.Fatalf("the manager has heard %s", h.text)
		}
		return
	}
	await(ts.Fatalf, "the manager to hear "+args[0], func() bool {
		return strings.Contains(h.text, args[0]) || listen(time.Second) && strings.Contains(h.text, args[0])
	})
}
