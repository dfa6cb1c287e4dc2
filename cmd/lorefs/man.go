package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/treecopy"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the man pages of all commands and guides to a folder",
		Long: `man writes a man page for each command and each guide to a folder, such as lorefs-mount.1
and lorefs-editing.7. It makes the folder if needed. The date of the pages is
SOURCE_DATE_EPOCH, if that is set.`,
		Args: cli.ExactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			date, err := pageDate()
			if err != nil {
				return err
			}
			root := c.Root()
			root.DisableAutoGenTag = true // the tag has the date of the run
			help.AsMarkdown(root)
			_, err = treecopy.Write(c.Context(), help.ManPages(root, date), args[0], treecopy.Options{Overwrite: true, Workers: 1})
			if err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			return nil
		},
	}
}

// pageDate returns the date of the man pages. Programs that build packages set it, so that two builds
// are the same.
func pageDate() (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, cli.UsageErrorf("SOURCE_DATE_EPOCH is no number of seconds: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
