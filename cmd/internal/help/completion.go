package help

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/nodes"
)

// completer returns what a word of the command line may become. The words before it are args.
type completer = cobra.CompletionFunc

// AddCompletions gives all commands below root completion of arguments and of values. Where
// there is none, the shell completes files.
func AddCompletions(root *cobra.Command) {
	for _, c := range root.Commands() {
		AddCompletions(c)
	}
	c := root
	if complete := completeArgs(c.CommandPath()); complete != nil {
		c.ValidArgsFunction = complete
	}
	offerWords := func(f *pflag.Flag) {
		words := f.Annotations[options.WordsAnnotation]
		if words == nil {
			return
		}
		// It fails only if there is one already.
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	// LocalFlags would sort and copy what parents have, for each command at each start.
	c.Flags().VisitAll(offerWords)
	c.PersistentFlags().VisitAll(offerWords)
}

// completeArgs returns the completer of a command's arguments, or nil.
func completeArgs(command string) completer {
	switch strings.TrimPrefix(command, "lorefs ") {
	case "status", "commit", "unmount":
		return nth(completeMounts)
	case "edits":
		return nth(completeMounts)
	case "apply":
		return nth(completeMounts, completeFiles)
	case "set", "unset", "add", "remove":
		return nth(completeMounts, cobra.NoFileCompletions)
	case "revert":
		return nth(completeMounts, completeEdits)
	case "journal show", "journal replay", "journal drop":
		return nth(completeJournals)
	case "ls", "cat", "find", "info":
		return nth(completeFiles, completeInside)
	case "export":
		return nth(completeFiles, completeFiles, completeInside)
	}
	return nil
}

// nth returns a completer with one for each argument; the last one is for all that follow.
func nth(each ...completer) completer {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return each[min(len(args), len(each)-1)](c, args, word)
	}
}

func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeMounts offers the user's mount points: relative to the working directory if they are
// in it and the word is not absolute. If none fits, the shell offers files.
func completeMounts(_ *cobra.Command, _ []string, word string) (found []string, _ cobra.ShellCompDirective) {
	names, err := daemon.Mine()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	here, err := filepath.EvalSymlinks(".")
	if err == nil {
		here, err = filepath.Abs(here)
	}
	for _, name := range names {
		if rel, relErr := filepath.Rel(here, name); err == nil && relErr == nil && filepath.IsLocal(rel) && !filepath.IsAbs(word) {
			name = rel
		}
		if strings.HasPrefix(name, word) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}

// completeJournals offers the sources that have journals.
func completeJournals(_ *cobra.Command, _ []string, word string) (found []string, _ cobra.ShellCompDirective) {
	list, err := kinds.Journals.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, j := range list {
		if j.Source != "" && strings.HasPrefix(j.Source, word) {
			found = append(found, j.Source)
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}

// mostOffered is the largest number of names that are offered.
const mostOffered = 4096

// completeEdits offers what is edited in a mount, by the paths that revert takes. If none fits,
// the shell offers files, which are also taken.
func completeEdits(_ *cobra.Command, args []string, word string) (found []string, _ cobra.ShellCompDirective) {
	m, err := reach.MountFor(args[0])
	if err != nil || m == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out bytes.Buffer
	if _, err := m.Talk(&out, daemon.Request{Do: daemon.Edits, Source: m.Source, Format: string(kinds.EditsJSON)}); err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for line := range strings.Lines(out.String()) {
		var e struct {
			Path string `json:"path"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && strings.HasPrefix(e.Path, word) && isOffered(e.Path) && len(found) < mostOffered {
			found = append(found, e.Path)
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}

// completeHelp offers what help tells about: commands, and the guides, which cobra leaves out.
func completeHelp(c *cobra.Command, args []string, word string) (found []string, _ cobra.ShellCompDirective) {
	of, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range of.Commands() {
		if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), word) {
			found = append(found, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeInside offers paths in the source, which is the first argument.
func completeInside(c *cobra.Command, args []string, word string) (found []string, _ cobra.ShellCompDirective) {
	cli.Quiet.Store(true) // a shell shows what is drawn
	s, err := reach.OpenRead(c.Context(), args[0], flagsOf(c), slog.New(slog.DiscardHandler), io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	dir, start := path.Split(word)
	top, err := s.Find(c.Context(), dir)
	if err != nil || top.Kind != nodes.Dir {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	rest := cobra.ShellCompDirectiveNoFileComp
	for e, err := range s.Tree.ReadDir(c.Context(), top.ID, 0) {
		if err != nil || len(found) == mostOffered {
			break
		}
		if !strings.HasPrefix(e.Name, start) || !isOffered(e.Name) {
			continue
		}
		name := dir + e.Name
		if e.Kind == nodes.Dir {
			name += "/"
			rest |= cobra.ShellCompDirectiveNoSpace
		}
		found = append(found, name)
	}
	return found, rest
}

// isOffered reports whether a shell can take a name: there must be neither a line's end nor a
// tab in it, behind which a description begins.
func isOffered(name string) bool { return !strings.ContainsAny(name, "\n\r\t") }

// flagsOf returns the flags of a source that a command line has so far.
func flagsOf(c *cobra.Command) *options.SourceFlags {
	var f options.SourceFlags
	f.Add(pflag.NewFlagSet("", pflag.ContinueOnError))
	f.TakeGiven(c.Flags())
	return &f
}

// CompleteListed offers options of -o, behind the last comma.
func CompleteListed(known []options.Option) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) (found []string, _ cobra.ShellCompDirective) {
		before := word[:strings.LastIndex(word, ",")+1]
		for _, o := range known {
			name := o.ListName()
			if _, ok := o.Value.(*bool); !ok {
				name += "="
			}
			if strings.HasPrefix(before+name, word) {
				found = append(found, before+name)
			}
			for _, w := range o.Words {
				if full := before + name + w; strings.HasPrefix(word, before+name) && strings.HasPrefix(full, word) {
					found = append(found, full)
				}
			}
		}
		return found, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}
