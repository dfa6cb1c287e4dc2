package main

import (
	"errors"

	"github.com/spf13/cobra"

	"lorefs/internal/app/daemon"
	"lorefs/internal/app/mounted"
)

func newCommit() *cobra.Command {
	return &cobra.Command{
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
			return errors.Join(told(c.OutOrStdout(), &a, args[0]), conn.Close())
		},
	}
}
