package main

import "github.com/spf13/cobra"

func newEncode() *cobra.Command {
	var f codecFlags
	c := &cobra.Command{
		Use:   "encode [FILE | -]",
		Short: "turn JSON into packets",
		Long: `encode reads packets as JSON, one object behind the other, and prints each as a line
of hex digits. It takes what decode prints, and the files of a mounted session; members
that are left out of data are zero. Without FILE it reads stdin.

The definition is that of --def, or one of --definitions: that of --name, else the one
that the object names as definition, else that of its name, else that of its code by the
map of --revision. A packet without
a code gets that of --code, else the map's. A definition that deprecated.json says is not
good for --game-patch is refused.

A packet that can't be encoded does not keep the others from it; the exit code is 1 then.`,
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
	return c
}
