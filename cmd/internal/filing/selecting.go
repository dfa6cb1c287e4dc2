package filing

import (
	"bufio"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/pattern"
	"lorefs/cmd/internal/treecopy"
)

// Selecting are the flags that select files to be written.
type Selecting struct {
	// rules are those of --include and --exclude, in the order of the command line.
	rules []ruleFlag
	// from is the file of --files-from.
	from string
}

type ruleFlag struct {
	text    string
	include bool
}

// Add adds the flags to those of a command.
func (f *Selecting) Add(flags *pflag.FlagSet) {
	rule := func(include bool) func(string) error {
		return func(text string) error {
			f.rules = append(f.rules, ruleFlag{text, include})
			return nil
		}
	}
	flags.Func("include", "write files that match the `pattern`, and no others that no --exclude or --include before it is for", rule(true))
	flags.Func("exclude", "leave out files that match the `pattern`", rule(false))
	flags.StringVar(&f.from, "files-from", "", "write just the files that the `file` lists, a path a line; - is stdin")
}

// Selection holds what the flags select.
type Selection struct {
	treecopy.Filter
	// list has the names of --files-from, or is nil.
	list *list
}

// Of reads the flags. A pattern selects, too: what it matches, as paths below its base. It may be
// nil.
func (f *Selecting) Of(s *kinds.Source, stdin io.Reader, glob *Globbing) (sel Selection, err error) {
	var all []treecopy.Filter
	if glob != nil {
		all = append(all, treecopy.Filter{Dir: glob.dir, File: glob.file})
	}
	switch {
	case f.from != "" && f.rules != nil:
		return sel, cli.UsageErrorf("--files-from goes without --include and --exclude")
	case f.from != "":
		if sel.list, err = f.list(s, stdin); err != nil {
			return sel, err
		}
		all = append(all, treecopy.Filter{Dir: sel.list.dir, File: sel.list.file})
	case f.rules != nil:
		rules, err := f.compile(s)
		if err != nil {
			return sel, err
		}
		all = append(all, treecopy.Filter{Dir: rules.Dir, File: rules.File})
	}
	sel.Filter = both(all)
	return sel, nil
}

// both returns a filter that takes what all of some take.
func both(all []treecopy.Filter) (f treecopy.Filter) {
	if len(all) > 0 {
		f.File = func(path string) bool {
			return !slices.ContainsFunc(all, func(f treecopy.Filter) bool { return !f.File(path) })
		}
		f.Dir = func(path string) bool {
			return !slices.ContainsFunc(all, func(f treecopy.Filter) bool { return !f.Dir(path) })
		}
	}
	return f
}

func (f *Selecting) compile(s *kinds.Source) (*pattern.Rules, error) {
	rules := new(pattern.Rules)
	for _, r := range f.rules {
		flag := "--exclude"
		if r.include {
			flag = "--include"
		}
		if err := rules.Add(filepath.ToSlash(r.text), r.include, s.Kind.IgnoresCase); err != nil {
			return nil, cli.UsageErrorf("%s %s: %w", flag, r.text, err)
		}
	}
	return rules, nil
}

// list reads the file of --files-from.
func (f *Selecting) list(s *kinds.Source, stdin io.Reader) (*list, error) {
	r := stdin
	if f.from != "-" {
		file, err := os.Open(f.from)
		if err != nil {
			return nil, kinds.Unreadable(f.from, err)
		}
		defer file.Close()
		r = file
	}
	l := &list{files: map[string]bool{}, dirs: map[string]bool{}, fold: s.Kind.IgnoresCase}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name := strings.TrimSpace(lines.Text())
		if name != "" && name[0] != '#' && name[0] != ';' {
			l.add(filepath.ToSlash(name))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, kinds.Unreadable(f.from, err)
	}
	return l, nil
}

// list are the files that --files-from names. It is safe for parallel use.
type list struct {
	fold bool
	// dirs are the directories that the files are in.
	dirs map[string]bool
	// mu guards files, whose values say whether there is such a file.
	mu    sync.Mutex
	files map[string]bool
}

func (l *list) folded(name string) string {
	if l.fold {
		return strings.ToLower(name)
	}
	return name
}

func (l *list) add(name string) {
	name = l.folded(strings.TrimPrefix(path.Clean("/"+name), "/"))
	l.files[name] = false
	for dir := path.Dir(name); dir != "." && !l.dirs[dir]; dir = path.Dir(dir) {
		l.dirs[dir] = true
	}
}

func (l *list) dir(path string) bool { return l.dirs[l.folded(path)] }

func (l *list) file(path string) bool {
	name := l.folded(path)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.files[name]
	if ok {
		l.files[name] = true
	}
	return ok
}

// absent returns the names that are of no file, in their order.
func (l *list) absent() (names []string) {
	for name, found := range l.files {
		if !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Globbing is a PATH that is a pattern. What it matches is copied with all that is in it, by the
// paths below its base.
type Globbing struct {
	Pattern *pattern.Pattern
	Matched atomic.Bool
}

func (g *Globbing) at(name string) string { return path.Join(g.Pattern.Base(), name) }

func (g *Globbing) dir(name string) bool {
	at := g.at(name)
	return g.Pattern.Below(at) || g.Pattern.Covers(at)
}

func (g *Globbing) file(name string) bool {
	ok := g.Pattern.Covers(g.at(name))
	if ok {
		g.Matched.Store(true)
	}
	return ok
}

// Ignoring are reasons for which files may be left out without a word or a failure.
type Ignoring map[treecopy.Reason]bool

// ParseIgnored parses --ignore.
func ParseIgnored(text string) (Ignoring, error) {
	known := map[string]treecopy.Reason{"no-key": treecopy.NoKey, "missing": treecopy.Missing}
	ignored := Ignoring{}
	if text == "" {
		return ignored, nil
	}
	for v := range strings.SplitSeq(text, ",") {
		why, ok := known[v]
		if !ok {
			return nil, cli.UsageErrorf("--ignore %q is unknown: want no-key, missing, or both with a comma", v)
		}
		ignored[why] = true
	}
	return ignored, nil
}

// Below returns a filter for the folder of all that is exported. It takes what another one takes by paths below
// the directory or file at, and nothing else.
func Below(at string, inner treecopy.Filter) treecopy.Filter {
	inside := func(name string) (rest string, ok bool) {
		rest, ok = strings.CutPrefix(name+"/", at+"/")
		return strings.TrimSuffix(rest, "/"), ok
	}
	return treecopy.Filter{
		Dir: func(name string) bool {
			rest, ok := inside(name)
			return ok && (rest == "" || inner.Dir == nil || inner.Dir(rest)) || strings.HasPrefix(at, name+"/")
		},
		File: func(name string) bool {
			rest, ok := inside(name)
			if ok && rest == "" { // at is a file
				rest = path.Base(at)
			}
			return ok && (inner.File == nil || inner.File(rest))
		},
	}
}
