package cli

import (
	"github.com/spf13/cobra"

	"lorefs/internal/jsonout"
)

// What commands print with --json.
const (
	OneObject   = "an object of JSON"
	ObjectALine = "an object of JSON a line"
)

// AddJSON adds --json to a command. what says what it prints then.
func AddJSON(c *cobra.Command, to *bool, what string) {
	c.Flags().BoolVar(to, "json", false, "print "+what+"; lorefs help json describes it")
}

// NewJSONSchema returns the help topic that prints the schema of what --json prints, for programs.
// The guide to it is the topic json.
func NewJSONSchema() *cobra.Command {
	c := &cobra.Command{Use: "json-schema", Short: "the JSON that commands print: its fields, as a JSON Schema"}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if _, err := c.OutOrStdout().Write(jsonout.Schema()); err != nil {
			c.PrintErrln(err)
		}
	})
	return c
}
