//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func unsupported(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this command of the scripts is for Linux")
}

var cmdMounted, cmdPid, cmdSignal, cmdEnded = unsupported, unsupported, unsupported, unsupported

func detachBelow(string) {}
