package main

import (
	"errors"

	"github.com/spf13/cobra"

	"lorefs/internal/app/daemon"
	"lorefs/internal/app/mounted"
)

func newCommit() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "commit MOUNTPOINT",
		Short: "save the edits now, and stay mounted",
		Args:  exactArgs("MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := daemon.Name(args[0])
			if err != nil {
				return err
			}
			p := newSaving()
			a, conn, err := mounted.Talk(name, daemon.Request{Do: daemon.Commit}, p.meanwhile)
			p.finish()
			if errors.Is(err, daemon.ErrNone) {
				return absent(args[0], name)
			}
			if err != nil {
				return err
			}
			t := newTelling(c.OutOrStdout(), asJSON)
			t.dir, t.name, t.stays = args[0], name, true
			return errors.Join(t.told(&a), conn.Close())
		},
	}
	addJSON(c, &asJSON, objectALine)
	return c
}
