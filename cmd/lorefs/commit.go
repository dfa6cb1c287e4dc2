package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newCommit() *cobra.Command {
	return &cobra.Command{
		Use:   "commit MOUNTPOINT",
		Short: "write the edits back now, and stay mounted",
		Args:  exactArgs("MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := mountName(args[0])
			if err != nil {
				return err
			}
			a, conn, err := talk(name, request{Do: doCommit})
			if errors.Is(err, errNoControl) {
				return absent(args[0], name)
			}
			if err != nil {
				return err
			}
			return errors.Join(a.told(c.OutOrStdout()), conn.Close())
		},
	}
}
