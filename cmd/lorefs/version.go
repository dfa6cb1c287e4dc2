package main

import (
	"runtime/debug"
	"strings"
)

// nextVersion is the version that is being worked on.
const nextVersion = "0.1.0-dev"

// commit is the commit, if it is known: git archive puts it here, and so does
// go build -ldflags='-X main.commit=...'.
var commit = "$Format:%H$"

// version returns the version of the module, which has the commit if Go found it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versionOf("", commit)
	}
	return versionOf(info.Main.Version, commit)
}

// versionOf returns the version of a program that Go calls by a version. Without one, of an archive
// or built with -buildvcs=false, it is that being worked on, and the commit if that is known.
func versionOf(module, commit string) string {
	const shown = 12 // digits, as Go shows of a commit
	switch {
	case module != "" && module != "(devel)":
		return module
	case strings.HasPrefix(commit, "$"), len(commit) < shown:
		return nextVersion
	}
	return nextVersion + "+" + commit[:shown]
}
