package main

import (
	"strconv"
	"strings"
)

// Exit codes. Scripts rely on them, so they don't change.
const (
	exitOK = 0
	// exitFailure means that the command could not do everything, or what exitMeanings says of
	// single commands.
	exitFailure = 1
	// exitUsage means a wrong flag or argument; diff, whose 1 means a difference, has it for
	// every failure without a code of its own.
	exitUsage = 2
	// exitSource means that the source does not exist, or is damaged.
	exitSource = 3
	// exitUnknown means that no key opens the source, or that it is nothing that lorefs knows.
	exitUnknown = 4
	// exitMountpoint means that the mount point can't be used.
	exitMountpoint = 5
	// exitBusy means that the mount is in use and was not unmounted, or that somebody else
	// edits the source.
	exitBusy = 6
	// exitUnsaved means that something was not saved, or edits could not be replayed. The
	// message says where they are kept.
	exitUnsaved = 7
	// exitInterrupted means that a signal ended the command early.
	exitInterrupted = 130
)

// exitMeaning is what an exit code tells the user, in Markdown.
type exitMeaning struct {
	code  int
	means string
}

// exitMeanings returns the table of exit codes, which the man pages and the guide to JSON
// show.
func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{exitOK, "done"},
		{exitFailure, "lorefs could not do everything, or could not write the output. It also means that " +
			"`verify` or `validate` found something, that `diff` found a difference, that `query` " +
			"found nothing, that a patch conflicts (`apply`), or that nothing is edited (`revert`)"},
		{exitUsage, "a wrong flag or argument; `diff` also where other commands exit with 1"},
		{exitSource, "the source is not there, or is damaged"},
		{exitUnknown, "no key opens the source, or it is nothing that lorefs knows"},
		{exitMountpoint, "the mount point can't be used"},
		{exitBusy, "the mount is in use, or somebody else edits the source"},
		{exitUnsaved, "something was not saved; the message says where it is"},
		{exitInterrupted, "interrupted by SIGINT, SIGTERM or SIGHUP; a mount that is up ends with 0 or 7 then"},
	}
}

// exitRoff returns the table as a section of a man page.
func exitRoff() string {
	var text strings.Builder
	for _, e := range exitMeanings() {
		text.WriteString(tagged(strconv.Itoa(e.code), strings.ReplaceAll(e.means, "`", "")))
	}
	return section("EXIT STATUS", text.String())
}
