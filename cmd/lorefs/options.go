package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lorefs/internal/app/kinds"
)

// option is an option of a source or a mount. Its flag, its name in the lists of -o and in
// fstab, and the arguments for another process of lorefs come from it. A test compares the
// tables in README.md with these.
type option struct {
	// name is the name of the flag.
	name string
	// listed is its name in -o, if that is not name with _ for each -.
	listed string
	// variable is the environment variable that is used if the flag is not given.
	variable string
	// kinds are the kinds of sources that it is for; nil for all.
	kinds []string
	// value points to the value, which is the default at first.
	value any
	// help is the text of --help. The word in back quotes names the argument.
	help string
}

// listName returns the name of the option in -o.
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

// given returns the flag of the option, or nil if it has its default value.
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
	// flags are the flags of the command; nil without a command line.
	flags *pflag.FlagSet
}

// addTo adds the flags of a table.
func (s *optionSet) addTo(flags *pflag.FlagSet, table []option) {
	s.flags, s.known = flags, table
	for i := range table {
		table[i].add(flags)
	}
}

// checkKind returns an error if options were given that are not for sources of the kind k:
// the user probably expects another kind.
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

// sources names the sources that the option is for.
func (o *option) sources() string {
	var names []string
	for _, k := range kinds.All() {
		if slices.Contains(o.kinds, k.Name) {
			names = append(names, k.Noun)
		}
	}
	return strings.Join(names, " or ")
}

// passOn returns the arguments and the environment that give another process of lorefs the
// same options. Options with a variable are passed by it, since other users can see
// arguments.
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
