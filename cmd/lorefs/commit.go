package main

import (
	"errors"

	"github.com/spf13/cobra"

	"lorefs/internal/app/daemon"
	"lorefs/internal/app/mounted"
)

func newCommit() *cobra.Command {
	r := daemon.Request{Do: daemon.Commit}
	asJSON := false
	c := &cobra.Command{
		Use:   "commit PATH",
		Short: "save the edits now, and stay mounted",
		Long: `commit saves what is edited in the mount that PATH is in: its mount point, or any file or
directory in it. Of a data center only what was edited is packed and compared, as far as
that is possible; all else keeps its bytes. --repack packs it anew as a whole, which may
make it smaller, and --verify-all inflates and compares all of it.`,
		Args: exactArgs("PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := mountAt(args[0])
			if err != nil {
				return err
			}
			p := newSaving()
			a, conn, err := mounted.Talk(m.name, r, p.meanwhile)
			p.finish()
			if errors.Is(err, daemon.ErrNone) {
				return absent(m)
			}
			if err != nil {
				return err
			}
			t := newTelling(c.OutOrStdout(), asJSON)
			t.dir, t.name, t.stays = m.dir, m.name, true
			return errors.Join(t.told(&a), conn.Close())
		},
	}
	addJSON(c, &asJSON, objectALine)
	addHow(c.Flags(), &r.Repack, &r.VerifyAll)
	return c
}
