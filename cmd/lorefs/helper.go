package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/options"
)

// The exit codes of a mount helper, as mount(8) defines them.
const (
	helperUsage  = 1
	helperFailed = 32
)

// isMountHelper reports whether mount(8) has started the program: under its name for a file
// system of type lorefs or fuse.lorefs, or with the arguments of mount.fuse(8), SOURCE
// MOUNTPOINT -o OPTIONS.
func isMountHelper(argv []string) bool {
	switch filepath.Base(argv[0]) {
	case "mount.lorefs", "mount.fuse.lorefs":
		return true
	}
	return len(argv) > 3 && argv[3] == "-o" && !strings.HasPrefix(argv[1], "-") && !isCommand(argv[1])
}

func isCommand(name string) bool {
	if name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd {
		return true // a shell asks for completion
	}
	return slices.ContainsFunc(newRoot().Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

// runMountHelper mounts, with the flags and exit codes of a mount helper.
func runMountHelper(ctx context.Context, argv []string) int {
	log := options.NewLogging().Log
	cli.LogOthers(log)
	c := newMountHelper(log)
	c.SetArgs(argv[1:])
	switch code := runCommand(ctx, c); code {
	case cli.ExitOK:
		return cli.ExitOK
	case cli.ExitUsage:
		return helperUsage
	default:
		return helperFailed
	}
}

func newMountHelper(log *slog.Logger) *cobra.Command {
	var f mountCommand
	// The short flags of a helper differ from mount's, so the flags that -o sets are in a
	// set of their own.
	settable := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Add(settable)
	var lists []string
	fake := false
	rules := options.Rules{IgnoreRW: true}
	c := &cobra.Command{
		Use:           "mount.lorefs SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS]",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cli.ExactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.Source.Apply(lists, rules); err != nil || fake {
				return err
			}
			return f.mount(c.Context(), c.OutOrStdout(), args[0], args[1], log)
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.UsageErrorf("%w", err) })
	flags := c.Flags()
	flags.StringArrayVarP(&lists, "options", "o", nil, "options, separated by commas")
	flags.BoolVarP(&rules.Sloppy, "sloppy", "s", false, "ignore unknown options")
	flags.BoolVarP(&fake, "fake", "f", false, "check the arguments only")
	flags.BoolP("no-mtab", "n", false, "ignored")
	flags.BoolP("verbose", "v", false, "ignored")
	flags.StringP("types", "t", "", "ignored")
	return c
}
