package main

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

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/pattern"
	"lorefs/cmd/internal/treecopy"
)

// selecting are the flags that select files to be written.
type selecting struct {
	// rules are those of --include and --exclude, in the order of the command line.
	rules []ruleFlag
	// from is the file of --files-from.
	from string
}

type ruleFlag struct {
	text    string
	include bool
}

func (f *selecting) add(flags *pflag.FlagSet) {
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

// selection is what the flags select.
type selection struct {
	treecopy.Filter
	// list is what --files-from names, or nil.
	list *fileList
}

// of reads the flags. A pattern selects, too: what it matches, as paths below its base. It may be
// nil.
func (f *selecting) of(s *kinds.Source, stdin io.Reader, glob *globbing) (sel selection, err error) {
	var all []treecopy.Filter
	if glob != nil {
		all = append(all, treecopy.Filter{Dir: glob.dir, File: glob.file})
	}
	switch {
	case f.from != "" && f.rules != nil:
		return sel, usageErrorf("--files-from goes without --include and --exclude")
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

func (f *selecting) compile(s *kinds.Source) (*pattern.Rules, error) {
	rules := new(pattern.Rules)
	for _, r := range f.rules {
		flag := "--exclude"
		if r.include {
			flag = "--include"
		}
		if err := rules.Add(filepath.ToSlash(r.text), r.include, s.Kind.IgnoresCase); err != nil {
			return nil, usageErrorf("%s %s: %w", flag, r.text, err)
		}
	}
	return rules, nil
}

// list reads the file of --files-from.
func (f *selecting) list(s *kinds.Source, stdin io.Reader) (*fileList, error) {
	r := stdin
	if f.from != "-" {
		file, err := os.Open(f.from)
		if err != nil {
			return nil, kinds.Unreadable(f.from, err)
		}
		defer file.Close()
		r = file
	}
	l := &fileList{files: map[string]bool{}, dirs: map[string]bool{}, fold: s.Kind.IgnoresCase}
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

// fileList are the files that --files-from names. It is safe for parallel use.
type fileList struct {
	fold bool
	// dirs are the directories that the files are in.
	dirs map[string]bool
	// mu guards files, whose values say whether there is such a file.
	mu    sync.Mutex
	files map[string]bool
}

func (l *fileList) folded(name string) string {
	if l.fold {
		return strings.ToLower(name)
	}
	return name
}

func (l *fileList) add(name string) {
	name = l.folded(strings.TrimPrefix(path.Clean("/"+name), "/"))
	l.files[name] = false
	for dir := path.Dir(name); dir != "." && !l.dirs[dir]; dir = path.Dir(dir) {
		l.dirs[dir] = true
	}
}

func (l *fileList) dir(path string) bool { return l.dirs[l.folded(path)] }

func (l *fileList) file(path string) bool {
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
func (l *fileList) absent() (names []string) {
	for name, found := range l.files {
		if !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// globbing is a PATH that is a pattern. What it matches is copied with all that is in it, by the
// paths below its base.
type globbing struct {
	pattern *pattern.Pattern
	matched atomic.Bool
}

func (g *globbing) at(name string) string { return path.Join(g.pattern.Base(), name) }

func (g *globbing) dir(name string) bool {
	at := g.at(name)
	return g.pattern.Below(at) || g.pattern.Covers(at)
}

func (g *globbing) file(name string) bool {
	ok := g.pattern.Covers(g.at(name))
	if ok {
		g.matched.Store(true)
	}
	return ok
}

// ignoring are reasons for which files may be left out without a word or a failure.
type ignoring map[treecopy.Reason]bool

// parseIgnored parses --ignore.
func parseIgnored(text string) (ignoring, error) {
	known := map[string]treecopy.Reason{"no-key": treecopy.NoKey, "missing": treecopy.Missing}
	ignored := ignoring{}
	if text == "" {
		return ignored, nil
	}
	for v := range strings.SplitSeq(text, ",") {
		why, ok := known[v]
		if !ok {
			return nil, usageErrorf("--ignore %q is unknown: want no-key, missing, or both with a comma", v)
		}
		ignored[why] = true
	}
	return ignored, nil
}
