package main

import (
	"errors"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
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
