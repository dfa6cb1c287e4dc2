package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newJournal(log *slog.Logger) *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "list, show, save or give up edits that a crash left behind",
		Args:  cobra.ArbitraryArgs,
		RunE:  help.RunParent,
	}
	c.AddCommand(newJournalList(), cli.Interruptible(newJournalReplay(log)), newJournalDrop(),
		cli.Interruptible(newJournalShow(log)))
	return c
}

func newJournalList() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "list",
		Short: "show all journals",
		Args:  cli.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := kinds.Journals.List()
			if err != nil {
				return err
			}
			for i := range list {
				askCount(&list[i])
			}
			if !asJSON {
				return printJournals(c.OutOrStdout(), list)
			}
			lines := jsonout.NewLines(c.OutOrStdout())
			for _, j := range list {
				if err := lines.Write(j); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	return c
}

// askCount asks the mount that writes a journal how many edits are left, if the journal does not
// say that yet.
func askCount(j *save.Journal) {
	if j.State != save.StateInUse || !j.AtMost {
		return
	}
	m, err := reach.MountFor(j.Source)
	if err != nil || m == nil {
		return // it is edited without a mount, or was unmounted just now
	}
	s, err := reach.AskStatus(m)
	if err == nil && s.Editing != nil && s.Editing.Journal == j.Path {
		j.Edits, j.AtMost = int(s.Editing.Pending), false
	}
}

func printJournals(w io.Writer, list []save.Journal) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, j := range list {
		edits := j.Count()
		if j.Unreadable > 0 {
			edits += fmt.Sprintf(" (%s unreadable)", shown.Plural(j.Unreadable, "byte"))
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
	var f options.SourceFlags
	o := kinds.EditOptions{Logger: log}
	var how save.How
	asJSON := false
	c := &cobra.Command{
		Use:   "replay SOURCE",
		Short: "apply the edits in a source's journal again, and save them",
		Args:  cli.ExactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			return replayJournal(c.Context(), cli.NewTelling(c.OutOrStdout(), asJSON), args[0], &f, &o, how)
		},
	}
	f.AddEditable(c.Flags())
	f.AddTo(c.Flags(), []options.Option{
		options.QualityOption(&o.Quality),
		{Name: "no-backup", Kinds: options.EditedKinds, Value: &o.NoBackup, Help: "do not keep the old source as NAME.bak"},
	})
	options.AddHow(c.Flags(), &how.Repack, &how.VerifyAll)
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	c.Flags().BoolVar(&o.Salvage, "salvage", false,
		"of a damaged journal, take the edits ahead of the damage, and keep it as NAME.journal.damaged")
	return c
}

func replayJournal(ctx context.Context, t *cli.Telling, path string, f *options.SourceFlags, o *kinds.EditOptions, how save.How) error {
	layout, err := datacenter.ParseLayout(f.Layout)
	if err != nil {
		return cli.UsageErrorf("%w", err)
	}
	if err := options.CheckQuality(o.Quality); err != nil {
		return err
	}
	o.Layout = layout
	s, err := reach.OpenSource(ctx, path, f.Reading(), o.Logger, cli.Silence{}.Set)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := reach.MakeEditable(ctx, s, *o); err != nil {
		return err
	}
	if s.Replayed() == 0 {
		return fmt.Errorf("%s has no edits that are not saved", path)
	}
	p := cli.NewSaving()
	how.Last = true
	reports, failed := s.Save(ctx, how, p.Show)
	p.Finish()
	err = nil
	if failed != nil {
		err = &cli.Error{Code: cli.ExitUnsaved, Err: &mounted.SaveError{Failed: failed}, Hint: "the journal is kept"}
	}
	a := mounted.AnswerOf(reports, s.LeftOut(), err, cli.ErrorText)
	toldErr := t.Told(&a)
	if err != nil {
		return err // it may still be a known one, such as an interrupt
	}
	return toldErr
}

func newJournalShow(log *slog.Logger) *cobra.Command {
	l := listing{log: log}
	base := ""
	c := &cobra.Command{
		Use:   "show SOURCE|JOURNAL",
		Short: "list the edits in a journal",
		Long: `show prints the edits in a journal as lorefs edits does, and changes nothing. JOURNAL is
the journal itself, as list shows it; then SOURCE need not exist any more. If the source is
no longer the file that was edited, show uses the file of --base. Without --base it uses
NAME.bak if that is the right file, or else the copy that was kept beside the journal.`,
		Args: cli.ExactArgs("SOURCE|JOURNAL"),
		RunE: func(c *cobra.Command, args []string) error {
			return l.print(c, func() error { return showJournal(c, &l, args[0], base) })
		},
	}
	l.add(c)
	c.Flags().StringVar(&base, "base", "", "`file` on which the edits were made")
	return c
}

// showJournal lists the edits in the journal at a path, or in that of the source there.
func showJournal(c *cobra.Command, l *listing, path, base string) error {
	j, err := kinds.JournalOf(path)
	edited := path
	if err == nil && j.State == save.StateInUse {
		edited = j.Source
	}
	if m, mountErr := reach.MountFor(edited); mountErr == nil && m != nil {
		_, err := l.ask(c, m, nil)
		return err
	}
	if errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("%s has no journal", path)
	}
	if err != nil {
		return err
	}
	return l.journal(c.Context(), c.OutOrStdout(), &j, base)
}

func newJournalDrop() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "drop SOURCE",
		Short: "give up the edits in a source's journal",
		Long: "drop gives up the edits in the journal of a source. The source need not exist any more:\n" +
			"SOURCE may also be the journal itself, as list shows it.",
		Args: cli.ExactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			j, err := kinds.JournalOf(args[0])
			if err == nil {
				err = j.Drop()
			}
			switch {
			case errors.Is(err, iofs.ErrNotExist):
				return fmt.Errorf("%s has no journal", args[0])
			case errors.Is(err, filelock.ErrLocked):
				return &cli.Error{Code: cli.ExitBusy, Err: err}
			case err != nil:
				return err
			}
			if asJSON {
				return jsonout.Object(c.OutOrStdout(), droppedJournal{j.Path, j.Source, j.Edits, j.AtMost})
			}
			what := j.Count()
			if j.AtMost {
				what = "all edits"
			}
			_, err = shown.Fprintf(c.OutOrStdout(), "gave up %s of %s\n", what, cmp.Or(j.Source, j.Path))
			return err
		},
	}
	cli.AddJSON(c, &asJSON, cli.OneObject)
	return c
}

// droppedJournal is a journal that was given up, as --json prints it.
type droppedJournal struct {
	// Path of the journal.
	Path   string `json:"path"`
	Source string `json:"source,omitempty"`
	Edits  int    `json:"edits"`
	// AtMost says that it may have been fewer.
	AtMost bool `json:"edits_at_most,omitempty"`
}
