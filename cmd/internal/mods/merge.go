package mods

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/output"
	"lorefs/datacenter/patch"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// NewPatch returns the command for patches without a data center.
func NewPatch() *cobra.Command {
	c := &cobra.Command{
		Use:   "patch",
		Short: "merge versions of a patch, as git asks for it",
		Args:  cobra.ArbitraryArgs,
		RunE:  help.RunParent,
	}
	c.AddCommand(newMerge())
	return c
}

// merging are the flags of patch merge.
type merging struct {
	out    string
	prefer string
	asJSON bool
}

func newMerge() *cobra.Command {
	var f merging
	c := &cobra.Command{
		Use:   "merge BASE OURS THEIRS",
		Short: "merge two versions of a patch that were made of a third one",
		Long: `merge puts into OURS what THEIRS has changed since BASE, which may be empty. Each value that a
patch changes is merged by itself. So versions only conflict if both give one value another
one, or if one leaves a change out that the other has altered.

merge names each conflict, writes both versions between the marks of git, and exits with 1.
--prefer ours and --prefer theirs take one of them. --out writes another file, and leaves
OURS alone. As a merge driver of git it is: lorefs patch merge %O %A %B.`,
		Args: cli.ExactArgs("BASE", "OURS", "THEIRS"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.out, "out", "", "write a new `file`, and leave OURS as it is")
	c.Flags().StringVar(&f.prefer, "prefer", "", "take that of one version where they conflict: `ours|theirs`")
	cli.AddJSON(c, &f.asJSON, cli.OneObject)
	return c
}

func (f *merging) run(c *cobra.Command, args []string) error {
	prefer, ok := map[string]patch.Side{"": patch.Neither, "ours": patch.Ours, "theirs": patch.Theirs}[f.prefer]
	if !ok {
		return cli.UsageErrorf("--prefer %s: want ours or theirs", f.prefer)
	}
	var versions []*patch.Patch
	for _, name := range args {
		p, err := readVersion(name)
		if err != nil {
			return err
		}
		versions = append(versions, p)
	}
	m, err := patch.Merge(versions[0], versions[1], versions[2], prefer)
	if err != nil {
		return explained(err)
	}
	out := args[1]
	if f.out != "" {
		out = f.out
	}
	claimed, err := output.Claim(out, cli.TellKept(c))
	if err != nil {
		return err
	}
	defer claimed.Close()
	err = output.Write(c.Context(), out, output.Options{NoBackup: true}, func(w io.Writer) error {
		_, err := w.Write(m.Append(nil))
		return err
	}, nil)
	if err != nil {
		return err
	}
	return f.tell(c, out, m)
}

// readVersion reads a file with one patch. An empty one is a patch that does nothing, as git has it where a file is new.
func readVersion(name string) (*patch.Patch, error) {
	text, err := Read(nil, name)
	if err != nil || len(text) == 0 {
		return &patch.Patch{Name: name}, err
	}
	p, err := patch.Parse(name, text)
	return p, explained(err)
}

// MergedPatch is what --json prints.
type MergedPatch struct {
	Path string `json:"path"`
	// Changes is how many parts the patch has.
	Changes   int        `json:"changes"`
	Conflicts []Unmerged `json:"conflicts"`
}

// Unmerged is a conflict of two versions.
type Unmerged struct {
	Path   string `json:"path"`
	Name   string `json:"name,omitempty"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

// tell says what was merged. Conflicts go to stderr.
func (f *merging) tell(c *cobra.Command, out string, m *patch.Merged) (err error) {
	r := MergedPatch{out, m.Parts, []Unmerged{}}
	for _, u := range m.Conflicts {
		r.Conflicts = append(r.Conflicts, Unmerged(u))
		what := shown.Text(u.Path)
		if u.Name != "" {
			what = u.Name + " of " + what
		}
		if !f.asJSON {
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: both versions change it\n", what)
		}
	}
	if f.asJSON {
		err = jsonout.Object(c.OutOrStdout(), r)
	}
	if err != nil || len(r.Conflicts) == 0 {
		return err
	}
	return &cli.Error{
		Code: cli.ExitFailure, Err: fmt.Errorf("%s: %s", out, shown.Plural(len(r.Conflicts), "conflict")),
		Hint: "it has both between <<<<<<< and >>>>>>>: keep one",
	}
}
