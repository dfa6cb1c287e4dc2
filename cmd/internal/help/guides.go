package help

import (
	"io"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/manual"
)

// NewGuides returns the help topics that print the guides of the manual.
func NewGuides() (topics []*cobra.Command) {
	for _, g := range manual.Guides() {
		c := &cobra.Command{Use: g.Name, Short: g.Summary}
		c.SetHelpFunc(func(c *cobra.Command, _ []string) {
			_, _ = io.WriteString(c.OutOrStdout(), g.Text(helpWidth())+"\n") // standard output keeps its error
		})
		topics = append(topics, c)
	}
	return topics
}

// GuideNames returns the names of the guides.
func GuideNames() (names []string) {
	for _, g := range manual.Guides() {
		names = append(names, g.Name)
	}
	return names
}
