package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/save"
	"lorefs/internal/save/dcsave"
	"lorefs/internal/shown"
)

// journals are those of all kinds of sources that can be edited: to a user they are the
// same.
var journals = save.Kinds{dcsave.Kind, save.Folders}

func newJournal(log *slog.Logger) *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "list, save or give up edits that a crash left behind",
		Args:  exactArgs(),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newJournalList(), interruptible(newJournalReplay(log)), newJournalDrop())
	return c
}

func newJournalList() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "list",
		Short: "show the journals that there are",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := journals.List()
			if err != nil {
				return err
			}
			if !asJSON {
				return printJournals(c.OutOrStdout(), list)
			}
			return jsonDocument(c.OutOrStdout()).Encode(list)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printJournals(w io.Writer, list []save.Journal) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, j := range list {
		edits := plural(j.Edits, "edit")
		if j.Unreadable > 0 {
			edits += fmt.Sprintf(" (%s unreadable)", plural(j.Unreadable, "byte"))
		}
		shown.Fprintf(t, "%s\t%s\t%s\t%s\n", j.State, edits, j.Began.Local().Format(time.DateTime), j.Source)
		shown.Fprintf(t, "\t\t\t%s\n", j.Path)
		if j.Problem != "" {
			shown.Fprintf(t, "\t\t\t%s\n", j.Problem)
		}
	}
	return t.Flush()
}

func newJournalReplay(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	o := editOptions{log: log}
	c := &cobra.Command{
		Use:   "replay SOURCE",
		Short: "make the edits of a source's journal again, and save them",
		Args:  exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			return replayJournal(c.Context(), c.OutOrStdout(), args[0], &f, o)
		},
	}
	f.add(c.Flags())
	c.Flags().IntVar(&o.quality, "quality", 0, helpQuality)
	c.Flags().BoolVar(&o.noBackup, "no-backup", false, "keep no copy of the source as NAME.bak")
	c.Flags().BoolVar(&o.salvage, "salvage", false,
		"of a damaged journal, take the edits ahead of the damage, and keep it as NAME.journal.damaged")
	return c
}

func replayJournal(ctx context.Context, w io.Writer, path string, f *sourceFlags, o editOptions) error {
	layout, err := datacenter.ParseLayout(f.layout)
	if err != nil {
		return usageErrorf("%w", err)
	}
	if err := checkQuality(o.quality); err != nil {
		return err
	}
	o.layout = layout
	s, err := openSource(ctx, path, f.reading(), o.log, silence{}.set)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.edit(ctx, o); err != nil {
		return err
	}
	if s.replayed() == 0 {
		return fmt.Errorf("%s has no edits that are not saved", path)
	}
	reports, err := s.save(ctx, true)
	if err != nil {
		err = &commandError{code: exitUnsaved, err: err, hint: "the journal is kept"}
	}
	a := answerOf(reports, s.leftOut(), err)
	told := a.told(w)
	if err != nil {
		return err // which can still be known, as that of an interrupt
	}
	return told
}

func newJournalDrop() *cobra.Command {
	return &cobra.Command{
		Use:   "drop SOURCE",
		Short: "give up the edits in a source's journal",
		Long: "Gives up the edits in the journal of a source, which may be gone. SOURCE may also be\n" +
			"the journal itself, as list shows it.",
		Args: exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			j, err := journalOf(args[0])
			if err == nil {
				err = j.Drop()
			}
			switch {
			case errors.Is(err, iofs.ErrNotExist):
				return fmt.Errorf("%s has no journal", args[0])
			case errors.Is(err, filelock.ErrLocked):
				return &commandError{code: exitBusy, err: err}
			case err != nil:
				return err
			}
			_, err = shown.Fprintf(c.OutOrStdout(), "gave up %s of %s\n", plural(j.Edits, "edit"), cmp.Or(j.Source, j.Path))
			return err
		},
	}
}

// journalOf looks for the journal of a source, which may be gone, or for one by its own
// path. An error matches [iofs.ErrNotExist] if there is none.
func journalOf(path string) (save.Journal, error) {
	path, err := withoutLinks(path)
	if err != nil {
		return save.Journal{}, err
	}
	return journals.Find(path)
}

// withoutLinks is a path as journals have it, also of a source that is gone.
func withoutLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole, nil
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path)), nil
	}
	return path, nil
}
