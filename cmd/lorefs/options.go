package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/origin"
)

// option is an option of a command. Its flag, its name in the lists of -o and in fstab, its
// environment variable, its name in the file of settings, its place in the help and its
// completion come from it. A test compares the lists in cmd/internal/manual with these.
type option struct {
	// name is the name of the flag and of the setting.
	name string
	// listed is its name in -o, if that is not name with _ for each -.
	listed string
	// kinds are the kinds of sources that it is for; nil for all.
	kinds []string
	// typed says that it is only taken from the command line: as a setting it would change
	// what commands do that never mention it.
	typed bool
	// with is an option that means something only together with this one, so that both are
	// taken from the same place.
	with string
	// path says that the value is a path. In the file of settings it is relative to that.
	path bool
	// made says that what is at the path need not be there yet.
	made bool
	// words are all the values that it may have; nil for any.
	words []string
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

// Annotations of the flags of options.
const (
	// kindsAnnotation has the kinds of sources that a flag is for.
	kindsAnnotation = "kinds"
	// settingAnnotation marks flags that settings can stand for.
	settingAnnotation = "setting"
	// wordsAnnotation has all values that a flag may have.
	wordsAnnotation = "words"
)

func (o *option) add(flags *pflag.FlagSet) {
	switch v := o.value.(type) {
	case *string:
		flags.StringVar(v, o.name, *v, o.help)
	case *bool:
		flags.BoolVar(v, o.name, *v, o.help)
	case *int:
		flags.IntVar(v, o.name, *v, o.help)
	case *time.Duration:
		flags.DurationVar(v, o.name, *v, o.help)
	case *[]string:
		flags.StringArrayVar(v, o.name, *v, o.help)
	case pflag.Value:
		flags.Var(v, o.name, o.help)
	default:
		panic(fmt.Sprintf("BUG: --%s has a value of the type %T", o.name, v))
	}
	f := flags.Lookup(o.name)
	f.Annotations = map[string][]string{}
	if o.kinds != nil {
		f.Annotations[kindsAnnotation] = o.kinds
	}
	if o.words != nil {
		f.Annotations[wordsAnnotation] = o.words
	}
	if !o.typed {
		f.Annotations[settingAnnotation] = []string{o.variable()}
	}
}

// goesWith reports whether the option is for sources of a kind.
func (o *option) goesWith(kind string) bool { return o.kinds == nil || slices.Contains(o.kinds, kind) }

// optionSet holds the options of a command.
type optionSet struct {
	known []option
	// flags are the flags of the command; nil without a command line.
	flags *pflag.FlagSet
	// from says where the values are from that settings gave, by the names of the options.
	from map[string]string
	// mounted are the options of the mount whose source is read; nil if the user named no mount.
	mounted settingsOf
}

// addTo adds the flags of a table.
func (s *optionSet) addTo(flags *pflag.FlagSet, table []option) {
	s.flags = flags
	for i := range table {
		table[i].add(flags)
	}
	s.known = append(s.known, table...)
}

// takeGiven takes what another command line sets, as far as the options are the same.
func (s *optionSet) takeGiven(from *pflag.FlagSet) {
	from.Visit(func(given *pflag.Flag) {
		if s.flags.Lookup(given.Name) == nil {
			return
		}
		for _, v := range valuesOf(given) {
			_ = s.flags.Set(given.Name, v) // which the command has taken, too
		}
	})
}

// valuesOf returns the values of a flag, as the command line has them.
func valuesOf(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// chosen returns the values of the options for a kind that are not their defaults, by their names.
// Paths are absolute.
func (s *optionSet) chosen(kind string) (map[string][]string, error) {
	values := map[string][]string{}
	for _, o := range s.known {
		f := s.flags.Lookup(o.name)
		if !o.goesWith(kind) || f.Value.String() == f.DefValue {
			continue
		}
		list := slices.Clone(valuesOf(f))
		for i := range list {
			var err error
			if o.path {
				list[i], err = origin.Abs(list[i])
			}
			if err != nil {
				return nil, err
			}
		}
		values[o.name] = list
	}
	return values, nil
}

// given reports whether the command line sets an option to something but its default.
func (s *optionSet) given(name string) bool {
	if s.flags == nil {
		return false
	}
	f := s.flags.Lookup(name)
	return f != nil && f.Changed && f.Value.String() != f.DefValue
}

// spelled returns what messages call an option: its flag or, if a setting gave the value, the
// name and place of that.
func (s *optionSet) spelled(name string) string {
	if from := s.from[name]; from != "" {
		return from
	}
	return "--" + name
}

// checkKind returns an error if the command line has options that are not for sources of a
// kind: the user probably expects another kind.
func (s *optionSet) checkKind(path, kind string) error {
	if err := s.misplaced(kind); err != nil {
		return usageErrorf("%w: %s is a source of the kind %s", err, path, kind)
	}
	return nil
}

// misplaced names the first option of the command line that is not for a kind, and the kinds
// that it is for.
func (s *optionSet) misplaced(kind string) error {
	for _, o := range s.known {
		if !o.goesWith(kind) && s.given(o.name) {
			return fmt.Errorf("--%s goes with %s", o.name, o.sources())
		}
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
