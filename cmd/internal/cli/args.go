package cli

import "github.com/spf13/cobra"

// ExactArgs requires one argument for each name.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return &Error{
				Code: ExitUsage, Hint: "usage: " + c.UseLine(),
				Err: UsageErrorf("%s: %s is missing", c.Name(), names[len(args)]),
			}
		}
		return AtMostArgs(len(names))(c, args)
	}
}

// AtMostArgs allows so many arguments.
func AtMostArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return &Error{
				Code: ExitUsage, Hint: "usage: " + c.UseLine(),
				Err: UsageErrorf("%s: one argument too many: %q", c.Name(), args[n]),
			}
		}
		return nil
	}
}
