package options

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/internal/origin"
)

// Option is an option of a command. Its flag, its name in the lists of -o and in fstab, its
// environment variable, its name in the file of settings, its place in the help and its
// completion come from it. A test compares the lists in cmd/internal/manual with these.
type Option struct {
	// Name is the name of the flag and of the setting.
	Name string
	// listed is its name in -o, if that is not name with _ for each -.
	listed string
	// Kinds are the kinds of sources that it is for; nil for all.
	Kinds []string
	// Typed says that it is only taken from the command line: as a setting it would change
	// what commands do that never mention it.
	Typed bool
	// With is an option that means something only together with this one, so that both are
	// taken from the same place.
	With string
	// Path says that the value is a path. In the file of settings it is relative to that.
	Path bool
	// made says that what is at the path need not be there yet.
	made bool
	// Words are all the values that it may have; nil for any.
	Words []string
	// Value points to the value, which is the default at first.
	Value any
	// Help is the text of --help. The word in back quotes names the argument.
	Help string
}

// ListName returns the name of the option in -o.
func (o *Option) ListName() string {
	if o.listed != "" {
		return o.listed
	}
	return strings.ReplaceAll(o.Name, "-", "_")
}

// Annotations of the flags of options.
const (
	// KindsAnnotation has the kinds of sources that a flag is for.
	KindsAnnotation = "kinds"
	// SettingAnnotation marks flags that settings can stand for.
	SettingAnnotation = "setting"
	// WordsAnnotation has all values that a flag may have.
	WordsAnnotation = "words"
)

func (o *Option) add(flags *pflag.FlagSet) {
	switch v := o.Value.(type) {
	case *string:
		flags.StringVar(v, o.Name, *v, o.Help)
	case *bool:
		flags.BoolVar(v, o.Name, *v, o.Help)
	case *int:
		flags.IntVar(v, o.Name, *v, o.Help)
	case *time.Duration:
		flags.DurationVar(v, o.Name, *v, o.Help)
	case *[]string:
		flags.StringArrayVar(v, o.Name, *v, o.Help)
	case pflag.Value:
		flags.Var(v, o.Name, o.Help)
	default:
		panic(fmt.Sprintf("BUG: --%s has a value of the type %T", o.Name, v))
	}
	f := flags.Lookup(o.Name)
	f.Annotations = map[string][]string{}
	if o.Kinds != nil {
		f.Annotations[KindsAnnotation] = o.Kinds
	}
	if o.Words != nil {
		f.Annotations[WordsAnnotation] = o.Words
	}
	if !o.Typed {
		f.Annotations[SettingAnnotation] = []string{o.Variable()}
	}
}

// GoesWith reports whether the option is for sources of a kind.
func (o *Option) GoesWith(kind string) bool { return o.Kinds == nil || slices.Contains(o.Kinds, kind) }

// Set holds the options of a command.
type Set struct {
	Known []Option
	// Flags are the flags of the command; nil without a command line.
	Flags *pflag.FlagSet
	// From says where the values are from that settings gave, by the names of the options.
	From map[string]string
	// mounted are the options of the mount whose source is read; nil if the user named no mount.
	mounted settingsOf
}

// AddTo adds the flags of a table.
func (s *Set) AddTo(flags *pflag.FlagSet, table []Option) {
	s.Flags = flags
	for i := range table {
		table[i].add(flags)
	}
	s.Known = append(s.Known, table...)
}

// TakeGiven takes what another command line sets, as far as the options are the same.
func (s *Set) TakeGiven(from *pflag.FlagSet) {
	from.Visit(func(given *pflag.Flag) {
		if s.Flags.Lookup(given.Name) == nil {
			return
		}
		for _, v := range valuesOf(given) {
			_ = s.Flags.Set(given.Name, v) // which the command has taken, too
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

// Chosen returns the values of the options for a kind that are not their defaults, by their names.
// Paths are absolute.
func (s *Set) Chosen(kind string) (map[string][]string, error) {
	values := map[string][]string{}
	for _, o := range s.Known {
		f := s.Flags.Lookup(o.Name)
		if !o.GoesWith(kind) || f.Value.String() == f.DefValue {
			continue
		}
		list := slices.Clone(valuesOf(f))
		for i := range list {
			var err error
			if o.Path {
				list[i], err = origin.Abs(list[i])
			}
			if err != nil {
				return nil, err
			}
		}
		values[o.Name] = list
	}
	return values, nil
}

// Given reports whether the command line sets an option to something but its default.
func (s *Set) Given(name string) bool {
	if s.Flags == nil {
		return false
	}
	f := s.Flags.Lookup(name)
	return f != nil && f.Changed && f.Value.String() != f.DefValue
}

// spelled returns what messages call an option: its flag or, if a setting gave the value, the
// name and place of that.
func (s *Set) spelled(name string) string {
	if from := s.From[name]; from != "" {
		return from
	}
	return "--" + name
}

// checkKind returns an error if the command line has options that are not for sources of a
// kind: the user probably expects another kind.
func (s *Set) checkKind(path, kind string) error {
	if err := s.Misplaced(kind); err != nil {
		return cli.UsageErrorf("%w: %s is a source of the kind %s", err, path, kind)
	}
	return nil
}

// Misplaced names the first option of the command line that is not for a kind, and the kinds
// that it is for.
func (s *Set) Misplaced(kind string) error {
	for _, o := range s.Known {
		if !o.GoesWith(kind) && s.Given(o.Name) {
			return fmt.Errorf("--%s goes with %s", o.Name, o.Sources())
		}
	}
	return nil
}

// Sources names the sources that the option is for.
func (o *Option) Sources() string {
	var names []string
	for _, k := range registry.All() {
		if slices.Contains(o.Kinds, k.Name) {
			names = append(names, k.Noun)
		}
	}
	if len(names) > 2 {
		return cli.OrList(names)
	}
	return strings.Join(names, " or ")
}
