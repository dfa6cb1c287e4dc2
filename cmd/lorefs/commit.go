package main

import (
	"errors"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
)

func newCommit() *cobra.Command {
	r := daemon.Request{Do: daemon.Commit}
	asJSON := false
	c := &cobra.Command{
		Use:   "commit PATH",
		Short: "save the edits now, and stay mounted",
		Long: `commit saves the edits of the mount that PATH is in. PATH is the mount point, any file or
directory in the mount, or the source that is mounted. In a data center, only edited parts are packed and compared
where possible; the rest keeps its bytes. --repack packs all of it anew, which may make it
smaller. --verify-all inflates and compares all of it.`,
		Args: cli.ExactArgs("PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := reach.MountAt(args[0])
			if err != nil {
				return err
			}
			p := cli.NewSaving()
			a, conn, err := mounted.Talk(m.Name, r, p.Meanwhile)
			p.Finish()
			if errors.Is(err, daemon.ErrNone) {
				return reach.Absent(m)
			}
			if err != nil {
				return err
			}
			t := cli.NewTelling(c.OutOrStdout(), asJSON)
			t.Dir, t.Name, t.Stays = m.Dir, m.Name, true
			return errors.Join(t.Told(&a), conn.Close())
		},
	}
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	options.AddHow(c.Flags(), &r.Repack, &r.VerifyAll)
	return c
}
