// Command lorefs mounts game archives as ordinary directories, and looks into
// them without a mount. README.md says how to use it.
//
// This package is the only place for flags, the environment, standard output and
// exit codes. Each subcommand has a file of its own; open.go is where a path
// becomes a tree.
package main

import (
	"context"
	"fmt"
	"os"
)

// Exit codes. Scripts go by them: they are listed in README.md and do not change.
const (
	exitOK = 0
	// exitFailure: the command could not do all it was asked for, or verify found something.
	exitFailure = 1
	// exitUsage: a wrong flag or argument.
	exitUsage = 2
	// exitSource: the source is not there, is no source that lorefs knows, or is damaged.
	exitSource = 3
	// exitKey: no key that was tried opens the source.
	exitKey = 4
	// exitMountpoint: the mount point cannot be used.
	exitMountpoint = 5
	// exitBusy: the mount is in use and was not unmounted.
	exitBusy = 6
	// exitUnsaved: something was not saved, or edits could not be made again; the message
	// says where that is kept.
	exitUnsaved = 7
	// exitInterrupted: a signal ended the command before it was done.
	exitInterrupted = 130
)

func main() { os.Exit(run(context.Background(), os.Args)) }

// run is main with an exit code.
func run(ctx context.Context, argv []string) int {
	if isMountHelper(argv) {
		return runMountHelper(ctx, argv)
	}
	root := newRoot()
	root.SetArgs(argv[1:])
	return report(root.ExecuteContext(ctx))
}

// report says on stderr what went wrong and picks the exit code.
func report(err error) int {
	if err == nil {
		return exitOK
	}
	if text := errorText(err); text != "" {
		fmt.Fprintf(os.Stderr, "lorefs: %s\n", text)
	}
	return exitCode(err)
}
