//go:build unix

package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	// backgroundEnv marks the process that is to serve in the background.
	backgroundEnv = "LOREFS_BACKGROUND"
	// parentFD is that process's pipe to its parent, and argsFD one from which it reads its
	// arguments, as a JSON array. Those that the system shows are for people: there may be
	// passwords in these.
	parentFD = 3
	argsFD   = 4
	// tellEvery is the shortest time between two reports of progress.
	tellEvery = 100 * time.Millisecond
)

// message goes over the pipe. The last one is Ready or has a Code.
type message struct {
	Done, Total int64
	Ready       bool
	Code        int
	Error       string
}

// Args returns the arguments of the program.
func Args() []string { return realArgs() }

// realArgs reads them once.
var realArgs = sync.OnceValue(func() []string {
	if os.Getenv(backgroundEnv) == "" {
		return os.Args
	}
	pipe := os.NewFile(argsFD, "arguments")
	defer pipe.Close()
	var args []string
	if err := json.NewDecoder(pipe).Decode(&args); err != nil || len(args) == 0 {
		return os.Args
	}
	return args
})

// Start runs this program anew, with the same arguments, in a session of its own. seen are the
// arguments that other users see, which lists of processes have as long as it runs. It returns
// when the mount is ready or has failed, which is a [*Failure]. Until then the
// child shares our stderr, gets the signals that we get, and show is called with its
// progress.
func Start(seen []string, show func(done, total int64), signals ...os.Signal) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	argsOut, argsIn, err := os.Pipe()
	if err != nil {
		return errors.Join(err, w.Close())
	}
	defer argsIn.Close()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	child := &exec.Cmd{
		Path: exe, Args: seen, Env: append(os.Environ(), backgroundEnv+"=1"),
		Stderr: os.Stderr, ExtraFiles: []*os.File{w, argsOut},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := errors.Join(child.Start(), w.Close(), argsOut.Close()); err != nil {
		return fmt.Errorf("starting the background process: %w", err)
	}
	// If it dies before it has read them, follow tells.
	_ = errors.Join(json.NewEncoder(argsIn).Encode(Args()), argsIn.Close())
	// The terminal's keys don't reach the child.
	got := make(chan os.Signal, 4)
	signal.Notify(got, signals...)
	defer signal.Stop(got)
	go func() {
		for s := range got {
			_ = child.Process.Signal(s)
		}
	}()
	return follow(r, child, show)
}

// follow waits for the child's last message.
func follow(r io.Reader, child *exec.Cmd, show func(done, total int64)) error {
	for dec := json.NewDecoder(r); ; {
		var m message
		err := dec.Decode(&m)
		switch {
		case err != nil:
			return fmt.Errorf("the background process ended unexpectedly: %w", errors.Join(child.Wait(), noEOF(err)))
		case m.Ready:
			return nil
		case m.Code != 0:
			_ = child.Wait() // it has sent its exit code itself
			return &Failure{Code: m.Code, Text: m.Error}
		}
		show(m.Done, m.Total)
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Parent is the process that waits for a mount in the background. A nil Parent is that of a
// mount in the foreground: its methods do nothing.
type Parent struct{ pipe *os.File }

// FromParent reports whether [Start] made this process, and returns its parent. It can be
// called once.
func FromParent() (*Parent, bool) {
	if os.Getenv(backgroundEnv) == "" {
		return nil, false
	}
	os.Unsetenv(backgroundEnv) // it is not for programs that we run
	syscall.CloseOnExec(parentFD)
	return &Parent{pipe: os.NewFile(parentFD, "parent")}, true
}

func (p *Parent) tell(m message) error { return json.NewEncoder(p.pipe).Encode(m) }

// Progress returns a function that reports progress, which the parent shows. gone is called
// if the parent has died.
func (p *Parent) Progress(gone func()) func(done, total int64) {
	var last time.Time
	return func(done, total int64) {
		if time.Since(last) < tellEvery {
			return
		}
		last = time.Now()
		if p.tell(message{Done: done, Total: total}) != nil {
			gone()
		}
	}
}

// Ready tells the parent that the mount can be used. It leaves the terminal and the working
// directory, which must not be kept busy. From now on stderr goes to logFile, which may be
// nil.
func (p *Parent) Ready(logFile *os.File) error {
	if p != nil {
		if err := os.Chdir("/"); err != nil {
			return err
		}
	}
	if p != nil || logFile != nil {
		if err := redirect(logFile); err != nil {
			return err
		}
	}
	if p == nil {
		return nil
	}
	return errors.Join(p.tell(message{Ready: true}), p.pipe.Close())
}

func redirect(logFile *os.File) error {
	if logFile == nil {
		var err error
		if logFile, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return err
		}
	}
	return errors.Join(duplicate(logFile, os.Stderr), logFile.Close())
}

// Failed tells the parent the error and the exit code. It returns an error if nobody waits
// any more.
func (p *Parent) Failed(code int, text string) error {
	return p.tell(message{Code: code, Error: text})
}
