package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
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
	const (
		shown    = 12        // digits, as Go shows of a commit
		untagged = "v0.0.0-" // begins what Go makes of the time and the commit where no version has a tag
	)
	if strings.HasPrefix(module, untagged) {
		return nextVersion + "+" + strings.ReplaceAll(module[strings.LastIndexByte(module, '-')+1:], "+", ".")
	}
	switch {
	case module != "" && module != "(devel)":
		return module
	case strings.HasPrefix(commit, "$"), len(commit) < shown:
		return nextVersion
	}
	return nextVersion + "+" + commit[:shown]
}

func newVersion() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cli.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return jsonout.Object(c.OutOrStdout(), jsonVersion{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := shown.Fprintf(c.OutOrStdout(), "lorefs version %s %s\n", version(), runtime.Version())
			return err
		},
	}
	cli.AddJSON(c, &asJSON, cli.OneObject)
	return c
}

// jsonVersion is the version as --json prints it.
type jsonVersion struct {
	// Version names that of lorefs, Go that of the compiler, and System says what it runs on.
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}
