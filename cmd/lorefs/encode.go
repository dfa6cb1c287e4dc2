package main

import "github.com/spf13/cobra"

func newEncode() *cobra.Command {
	var f codecFlags
	c := &cobra.Command{
		Use:   "encode [FILE | -]",
		Short: "turn JSON into packets",
		Long: `encode reads packets as JSON, one object behind the other, and prints each as a line
of hex digits. It reads what decode prints, and the files of a mounted session. Members
that are missing in data are zero. Without FILE it reads stdin.

The definition is that of --def, or one of --definitions: that of --name, else the one
that the object names as definition, else that of its name, else that of its code by the
map of --revision. A packet without a code gets that of --code, else the map's. encode
refuses a definition if deprecated.json says that it is not good for --game-patch.

A packet that can't be encoded is skipped; the exit code is 1 then.`,
		Args: func(c *cobra.Command, args []string) error { return atMostArgs(1)(c, args) },
		RunE: func(c *cobra.Command, args []string) error {
			k, err := f.codec(c, true)
			if err != nil {
				return err
			}
			in, err := openInput(c, args)
			if err != nil {
				return err
			}
			defer in.Close()
			return in.each(c, in.readValues(), k.Encode)
		},
	}
	f.add(c.Flags())
	c.Flags().StringVar(&f.name, "name", "", "NAME or NAME.VERSION of the packets")
	return c
}
