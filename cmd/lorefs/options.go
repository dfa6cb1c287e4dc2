package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lorefs/internal/kinds"
)

// option is one thing that a user can say about a source or a mount. The flag, its name
// in the lists of -o and in fstab, and what another process of lorefs is started with
// all come from it; a test compares the tables in README.md with it.
type option struct {
	// name is that of the flag.
	name string
	// listed is its name in -o, if that is not name with _ for each -.
	listed string
	// variable of the environment says the same if the flag is not given.
	variable string
	// kinds are those of the sources that it is for; nil for every source.
	kinds []string
	// value points to where the value goes, which is the default until then.
	value any
	// help is what --help says. The argument is the word in back quotes.
	help string
}

// listName is what -o calls the option.
func (o *option) listName() string {
	if o.listed != "" {
		return o.listed
	}
	return strings.ReplaceAll(o.name, "-", "_")
}

func (o *option) add(flags *pflag.FlagSet) {
	switch v := o.value.(type) {
	case *string:
		flags.StringVar(v, o.name, *v, o.help)
	case *bool:
		flags.BoolVar(v, o.name, *v, o.help)
	case *int:
		flags.IntVar(v, o.name, *v, o.help)
	case *[]string:
		flags.StringArrayVar(v, o.name, *v, o.help)
	case pflag.Value:
		flags.Var(v, o.name, o.help)
	default:
		panic(fmt.Sprintf("BUG: --%s has a value of the type %T", o.name, v))
	}
}

// given is the flag of the option, or nil if it says no more than its default does.
func (o *option) given(flags *pflag.FlagSet) *pflag.Flag {
	f := flags.Lookup(o.name)
	if f == nil || !f.Changed || f.Value.String() == f.DefValue {
		return nil
	}
	return f
}

// optionSet holds flags that commands share.
type optionSet struct {
	known []option
	// flags are those of the command; nil if no command line has them.
	flags *pflag.FlagSet
}

// addTo makes flags of a table.
func (s *optionSet) addTo(flags *pflag.FlagSet, table []option) {
	s.flags, s.known = flags, table
	for i := range table {
		table[i].add(flags)
	}
}

// checkKind refuses options that say nothing about a source of the kind k: who gives
// them takes it for another one.
func (s *optionSet) checkKind(path string, k *kinds.Kind) error {
	if s.flags == nil {
		return nil
	}
	for _, o := range s.known {
		if o.kinds == nil || slices.Contains(o.kinds, k.Name) || o.given(s.flags) == nil {
			continue
		}
		return usageErrorf("--%s goes with %s: %s is a source of the kind %s", o.name, o.sources(), path, k.Name)
	}
	return nil
}

// sources names what the option is for.
func (o *option) sources() string {
	var names []string
	for _, k := range kinds.All() {
		if slices.Contains(o.kinds, k.Name) {
			names = append(names, k.Noun)
		}
	}
	return strings.Join(names, " or ")
}

// passOn gives what has to be said to another process of lorefs so that it has the same
// options. What has a variable goes there, since other users can see arguments.
func (s *optionSet) passOn() (args, env []string) {
	for _, o := range s.known {
		f := o.given(s.flags)
		if f == nil {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if o.variable != "" {
				env = append(env, o.variable+"="+v)
			} else {
				args = append(args, "--"+o.name+"="+v)
			}
		}
	}
	return args, env
}
