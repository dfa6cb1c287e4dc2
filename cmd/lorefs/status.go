package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lorefs/internal/app/daemon"
	"lorefs/internal/app/kinds"
	"lorefs/internal/app/mounted"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newStatus() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "status MOUNTPOINT",
		Short: "show what a mount does",
		Args:  exactArgs("MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := askStatus(args[0])
			if err != nil {
				return err
			}
			if !asJSON {
				return printStatus(c.OutOrStdout(), s)
			}
			return jsonout.Object(c.OutOrStdout(), s)
		},
	}
	addJSON(c, &asJSON, oneObject)
	return c
}

func askStatus(dir string) (*mounted.Status, error) {
	name, err := daemon.Name(dir)
	if err != nil {
		return nil, err
	}
	a, conn, err := mounted.Talk(name, daemon.Request{Do: daemon.Status}, nil)
	if errors.Is(err, daemon.ErrNone) {
		return nil, absent(dir, name)
	}
	if err != nil {
		return nil, err
	}
	if a.Error != "" || a.Status == nil {
		err = fmt.Errorf("%s: %s", dir, a.Error)
	}
	return a.Status, errors.Join(err, conn.Close())
}

// absent returns the error for a mount point that no process of the user serves.
func absent(dir, name string) error {
	switch there, err := daemon.StateOf(name); {
	case err != nil:
		return fmt.Errorf("%s: %w", dir, err)
	case there == daemon.Dead:
		return &commandError{
			code: exitFailure, err: fmt.Errorf("%s: the process that served it is dead", dir),
			hint: "lorefs unmount cleans up",
		}
	case there == daemon.Silent:
		return &commandError{
			code: exitFailure, err: fmt.Errorf("%s: the mount does not answer, and no process that could be asked serves it", dir),
			hint: "lorefs unmount cleans up",
		}
	case there == daemon.Alive:
		return errOthers(dir)
	}
	return nothingThere(dir, name)
}

// nothingThere returns the error for a directory that is no mount point. It names the mount
// that the directory is in.
func nothingThere(dir, name string) error {
	err := fmt.Errorf("%s: lorefs has mounted nothing there", dir)
	if up := mountAbove(name); up != "" {
		return &commandError{code: exitFailure, err: err, hint: "it is inside of the mount on " + up}
	}
	return err
}

// printStatus prints the status for people.
func printStatus(w io.Writer, s *mounted.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if s.Editing != nil {
		printTexts(t, &s.Editing.LeftOut, "\t")
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
	for _, v := range s.Views {
		shown.Fprintf(t, "%s/\t%s\n", v.Name, shown.Plural(v.Nodes, "node"))
	}
	if s.Editing != nil {
		printEditing(t, s.Editing)
	}
	shown.Fprintf(t, "cache\t%d of %d bytes, %d hits, %d loads, %d evictions\n",
		s.Cache.Bytes, s.Cache.Budget, s.Cache.Hits, s.Cache.Loads, s.Cache.Evictions)
	shown.Fprintf(t, "inodes\t%d\n", s.Inodes)
	r := s.Requests
	shown.Fprintf(t, "requests\t%d: %d lookups, %d getattrs, %d readdirs, %d reads, %d xattrs\n",
		r.Total, r.Lookups, r.Getattrs, r.Readdirs, r.Reads, r.Xattrs)
	shown.Fprintf(t, "errors\t%d\n", s.Errors)
	for _, e := range s.LastErrors {
		shown.Fprintf(t, "\t%s\n", failure(&e))
	}
	return t.Flush()
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
		shown.Fprintf(w, "edits of %s\t%d to be saved\n", kinds.WorldDir, e.World.Pending)
		if e.World.Journal != "" {
			shown.Fprintf(w, "journal\t%s\n", e.World.Journal)
		}
	}
	if e.Converts != "" {
		shown.Fprintf(w, "layout\twill be %s\n", e.Converts)
	}
	printFiles(w, &e.LeftOut, "\t")
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
