package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newStatus() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "status [PATH]",
		Short: "show what a mount does, or list all mounts",
		Long: `status shows how the mount that PATH is in is doing. PATH is the mount point, any file or
directory in the mount, or the source that is mounted. Without PATH, status lists your mounts and their edits that are
not saved yet. With --json it prints one object a line for each of them, the same as for
one mount.`,
		Args: cli.AtMostArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listMounts(c, asJSON)
			}
			m, err := reach.MountAt(args[0])
			if err != nil {
				return err
			}
			s, err := reach.AskStatus(m)
			if err != nil {
				return err
			}
			if !asJSON {
				return printStatus(c.OutOrStdout(), s)
			}
			return jsonout.Object(c.OutOrStdout(), s)
		},
	}
	cli.AddJSON(c, &asJSON, cli.OneObject)
	return c
}

// listMounts prints the mounts of the user. Those that do not answer are told of on stderr.
func listMounts(c *cobra.Command, asJSON bool) error {
	names, err := daemon.Mine()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	lines := jsonout.NewLines(c.OutOrStdout())
	var failed []error
	for _, name := range names {
		s, err := reach.AskStatus(reach.FoundMount(name, name, "."))
		switch {
		case err != nil:
			failed = append(failed, err)
		case asJSON:
			err = lines.Write(s)
		default:
			_, err = shown.Fprintf(t, "%s\t%s\t%s\t%s\n", name, s.Kind, mountState(s), s.Source)
		}
		if err != nil && s != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return reach.TellAll(c, failed)
}

// mountState says in some words whether there is anything to do about a mount.
func mountState(s *mounted.Status) string {
	switch e := s.Editing; {
	case s.Problem != "":
		return "broken"
	case e == nil:
		return "read-only"
	case e.Saving != nil:
		return "saving"
	default:
		pending := e.Pending
		if e.World != nil {
			pending += e.World.Pending
		}
		state := shown.Plural(pending, "edit")
		if n := e.Texts(); n > 0 {
			state += ", " + shown.Plural(n, "text") + " refused"
		}
		return state
	}
}

// printStatus prints the status for people.
func printStatus(w io.Writer, s *mounted.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if s.Editing != nil {
		cli.PrintTexts(t, &s.Editing.LeftOut, "\t")
	}
	shown.Fprintf(t, "source\t%s\n", s.Source)
	shown.Fprintf(t, "mount point\t%s\n", s.Mountpoint)
	shown.Fprintf(t, "process\t%d, since %s\n", s.PID, s.Since.Local().Format(time.DateTime))
	if s.Problem != "" {
		shown.Fprintf(t, "problem\t%s\n", s.Problem)
	}
	for _, n := range s.Notices {
		shown.Fprintf(t, "notice\t%s\n", n)
	}
	shown.Fprintf(t, "errors\t%d\n", s.Errors)
	for _, e := range s.LastErrors {
		shown.Fprintf(t, "\t%s\n", failure(&e))
	}
	for _, v := range s.Views {
		shown.Fprintf(t, "%s/\t%s\n", v.Name, shown.Plural(v.Nodes, "node"))
	}
	if s.Editing != nil {
		printEditing(t, s.Editing)
	}
	if s.Remote != nil {
		printRemote(t, s.Remote)
	}
	shown.Fprintf(t, "cache\t%d of %d bytes, %d hits, %d loads, %d evictions\n",
		s.Cache.Bytes, s.Cache.Budget, s.Cache.Hits, s.Cache.Loads, s.Cache.Evictions)
	shown.Fprintf(t, "inodes\t%d\n", s.Inodes)
	r := s.Requests
	shown.Fprintf(t, "requests\t%d: %d lookups, %d getattrs, %d readdirs, %d reads, %d xattrs\n",
		r.Total, r.Lookups, r.Getattrs, r.Readdirs, r.Reads, r.Xattrs)
	return t.Flush()
}

// printRemote prints what was fetched.
func printRemote(w io.Writer, r *kinds.RemoteStatus) {
	if r.Build != "" {
		shown.Fprintf(w, "build\t%s\n", strings.TrimSpace(r.Version+" "+r.Build))
	}
	if r.Newer != "" {
		shown.Fprintf(w, "newer build\t%s\n", r.Newer)
	}
	shown.Fprintf(w, "fetched\t%s in %s, %s; %s from the folder of what was fetched before\n",
		shown.Plural(r.Bytes, "byte"), shown.Plural(r.Requests, "request"), shown.Plural(r.Failures, "failure"), shown.Plural(r.CachedBytes, "byte"))
	if r.CacheProblem != "" {
		shown.Fprintf(w, "not kept\t%s\n", r.CacheProblem)
	}
	for _, h := range r.Hosts {
		shown.Fprintf(w, "host\t%s: %s, %s, %s\n", h.URL, shown.Plural(h.Requests, "request"), shown.Plural(h.Bytes, "byte"), shown.Plural(h.Failures, "failure"))
		if h.LastFailure != "" {
			shown.Fprintf(w, "\t%s\n", h.LastFailure)
		}
	}
}

// printEditing prints the status of edits.
func printEditing(w io.Writer, e *mounted.EditStatus) {
	shown.Fprintf(w, "edits\t%d to be saved\n", e.Pending)
	if s := e.Saving; s != nil {
		shown.Fprintf(w, "saving\tsince %s, %d %%, %s\n", s.Since.Local().Format(time.TimeOnly), s.Percent(), s.Stage)
	}
	if e.Journal != "" {
		shown.Fprintf(w, "journal\t%s\n", e.Journal)
	}
	if e.Patch != "" {
		shown.Fprintf(w, "as a patch\t%s\n", e.Patch)
	}
	if e.World != nil {
		shown.Fprintf(w, "edits of %s\t%d to be saved\n", dckind.WorldDir, e.World.Pending)
		if e.World.Journal != "" {
			shown.Fprintf(w, "journal\t%s\n", e.World.Journal)
		}
	}
	if e.Converts != "" {
		shown.Fprintf(w, "layout\twill be %s\n", e.Converts)
	}
	cli.PrintFiles(w, &e.LeftOut, "\t")
	if e.Problem != "" {
		shown.Fprintf(w, "not saved\t%s\n", e.Problem)
	}
	for _, n := range e.Notices {
		shown.Fprintf(w, "not stored\t%s\n", n)
	}
}

// failure returns a failed request, and when it failed.
func failure(e *mounted.ErrorStatus) string {
	text := e.Time.Local().Format(time.DateTime) + " " + e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	text += ": " + e.Error
	if e.Times > 1 {
		text += fmt.Sprintf(" (%d times)", e.Times)
	}
	return text
}
