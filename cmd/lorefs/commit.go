package main

import (
	"errors"

	"github.com/spf13/cobra"

	"lorefs/internal/app/daemon"
	"lorefs/internal/app/mounted"
)

func newCommit() *cobra.Command {
	return &cobra.Command{
		Use:   "commit PATH",
		Short: "save the edits now, and stay mounted",
		Long:  "commit saves what is edited in the mount that PATH is in: its mount point, or any file or\ndirectory in it.",
		Args:  exactArgs("PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := mountAt(args[0])
			if err != nil {
				return err
			}
			p := newSaving()
			a, conn, err := mounted.Talk(m.name, daemon.Request{Do: daemon.Commit}, p.meanwhile)
			p.finish()
			if errors.Is(err, daemon.ErrNone) {
				return absent(m)
			}
			if err != nil {
				return err
			}
			return errors.Join(told(c.OutOrStdout(), &a, m.dir), conn.Close())
		},
	}
}
