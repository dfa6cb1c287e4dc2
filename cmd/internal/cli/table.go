package cli

import (
	"github.com/spf13/cobra"

	"lorefs/internal/shown"
	"lorefs/internal/tabular"
)

// AddTableFormat adds --format to a command that prints tables.
func AddTableFormat(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "format", "", "`format` of the table: csv (default), tsv, jsonl or json")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(tabular.Words, cobra.ShellCompDirectiveNoFileComp))
}

// TableFormat reads --format. The default is CSV.
func TableFormat(word string) (tabular.Format, error) {
	f, ok := tabular.ParseFormat(word)
	if !ok && word != "" {
		return f, UsageErrorf("--format %q is unknown: want %s", word, OrList(tabular.Words))
	}
	return f, nil
}

// TellBroken says how many texts a table could not hold as they are, if any.
func TellBroken(c *cobra.Command, texts int64) {
	if texts > 0 {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: U+FFFD stands for half a character in %s; the format jsonl has them as they are\n", shown.Plural(texts, "text"))
	}
}
