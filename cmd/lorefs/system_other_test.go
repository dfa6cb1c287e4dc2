//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func unsupported(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this command of the scripts is for Linux")
}

var cmdMounted, cmdPid, cmdSignal, cmdEnded = unsupported, unsupported, unsupported, unsupported

var cmdManager, cmdNotified = unsupported, unsupported

// heard is what a service manager has heard; there is none here.
type heard struct{}

func detachBelow(string) {}
