//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	// backgroundEnv marks the process that is to serve in the background.
	backgroundEnv = "LOREFS_BACKGROUND"
	// parentFD is where that process finds the pipe to its parent.
	parentFD = 3
	// tellEvery is how often the parent is told of progress at most.
	tellEvery = 100 * time.Millisecond
)

// message is what goes over the pipe. The last one is Ready or has a Code.
type message struct {
	Done, Total int64
	Ready       bool
	Code        int
	Error       string
}

// startBackground runs this program anew, with the same arguments, in a session
// of its own, and returns when its mount is ready or has failed. Until then the
// child shares our stderr.
func startBackground() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	child := &exec.Cmd{
		Path: exe, Args: os.Args, Env: append(os.Environ(), backgroundEnv+"=1"),
		Stderr: os.Stderr, ExtraFiles: []*os.File{w},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := errors.Join(child.Start(), w.Close()); err != nil {
		return fmt.Errorf("starting the background process: %w", err)
	}
	// The child is out of reach of the terminal's keys.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, stopSignals...)
	defer signal.Stop(signals)
	go func() {
		for s := range signals {
			_ = child.Process.Signal(s)
		}
	}()
	return follow(r, child)
}

// follow waits for the child's last message.
func follow(r io.Reader, child *exec.Cmd) error {
	p := newProgress("inflating")
	defer p.finish()
	for dec := json.NewDecoder(r); ; {
		var m message
		err := dec.Decode(&m)
		switch {
		case err != nil:
			return fmt.Errorf("the background process ended unexpectedly: %w", errors.Join(child.Wait(), noEOF(err)))
		case m.Ready:
			return nil
		case m.Code != exitOK:
			_ = child.Wait() // it has told its exit code itself
			return &commandError{code: m.Code, err: errors.New(m.Error)}
		}
		p.set(m.Done, m.Total)
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// parent is the process that waits for a mount in the background. A nil parent
// is that of a mount in front: there is nobody to tell.
type parent struct{ pipe *os.File }

// backgroundParent tells whether this process is one that startBackground made.
func backgroundParent() (*parent, bool) {
	if os.Getenv(backgroundEnv) == "" {
		return nil, false
	}
	os.Unsetenv(backgroundEnv) // it is not for programs that we call
	syscall.CloseOnExec(parentFD)
	return &parent{pipe: os.NewFile(parentFD, "parent")}, true
}

func (p *parent) tell(m message) error { return json.NewEncoder(p.pipe).Encode(m) }

// progress shows how far the mount is, here or at the parent's. gone is called
// if the parent has died.
func (p *parent) progress(gone func()) progress {
	if p == nil {
		return newProgress("inflating")
	}
	return &told{parent: p, gone: gone}
}

type told struct {
	parent *parent
	gone   func()
	last   time.Time
}

func (t *told) set(done, total int64) {
	if time.Since(t.last) < tellEvery {
		return
	}
	t.last = time.Now()
	if t.parent.tell(message{Done: done, Total: total}) != nil {
		t.gone()
	}
}

func (t *told) finish() {}

// ready tells the parent that the mount can be used, and leaves the terminal and
// the working directory, which must not be kept busy. What is written to stderr
// goes to logFile from now on.
func (p *parent) ready(logFile *os.File) error {
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

// failed hands an error to the parent, which prints it. After ready, it goes to
// the log.
func (p *parent) failed(err error) error {
	if err == nil {
		return nil
	}
	code := exitCode(err)
	if p.tell(message{Code: code, Error: errorText(err)}) != nil {
		return err
	}
	return &commandError{code: code}
}
