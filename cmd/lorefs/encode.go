package main

import (
	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/codec"
)

func newEncode() *cobra.Command {
	var f codec.Flags
	c := &cobra.Command{
		Use:   "encode [FILE | -]",
		Short: "turn JSON into packets",
		Long: `encode reads packets as JSON objects, one after the other, and prints each as a line of hex
digits. It reads what decode prints, and the files of a mounted session. Members that are
missing in data are zero. Without FILE, encode reads stdin.

--def is the definition of all packets. Or name a folder with --definitions. Then encode
picks the definition by --name, else by the object's member definition, else by its member
name, else by its code and the map of --revision. A packet without a code gets the code of
--code, else that of the map. encode refuses a definition if deprecated.json says that it
does not suit --game-patch.

encode skips a packet that it can't encode, and exits with 1.`,
		Args: func(c *cobra.Command, args []string) error { return cli.AtMostArgs(1)(c, args) },
		RunE: func(c *cobra.Command, args []string) error {
			k, err := f.Open(c, true)
			if err != nil {
				return err
			}
			in, err := codec.OpenInput(c, args)
			if err != nil {
				return err
			}
			defer in.Close()
			return in.Each(c, in.ReadValues(), k.Encode)
		},
	}
	f.Add(c.Flags())
	c.Flags().StringVar(&f.Name, "name", "", "NAME or NAME.VERSION of the packets")
	return c
}
