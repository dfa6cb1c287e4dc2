package options

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/nearest"
	"lorefs/cmd/internal/tomlfile"
	"lorefs/internal/origin"
)

// Settings stand for flags that would be typed again and again. A flag precedes its
// environment variable, and that the file of settings. A setting that is for sources of
// another kind is passed over.

// Variable returns the environment variable of an option.
func (o *Option) Variable() string {
	return "LOREFS_" + strings.ToUpper(strings.ReplaceAll(o.Name, "-", "_"))
}

// settingsPath returns the path of the file of settings, which need not exist.
func settingsPath() string { return filepath.Join(xdg.ConfigHome, "lorefs", "config.toml") }

// setting is the value of an option in the environment or in a file.
type setting struct {
	// values is one value or, of an option that may be given again, several.
	values []string
	// from names the setting and its place.
	from string
}

// settingsOf are settings by the names of options.
type settingsOf map[string]setting

// settings are those of a file.
type settings struct {
	all settingsOf
	// below has those for the sources at a path and below it. The longest paths come first.
	below []settingsBelow
}

type settingsBelow struct {
	path string
	settingsOf
}

// pathTable is the table of the file with a table for each path.
const pathTable = "path"

// readSettings reads the file of settings. It returns none if there is no such file.
func readSettings() (*settings, error) {
	r := settingsReader{options: AllOptions()}
	text, err := os.ReadFile(settingsPath())
	if errors.Is(err, iofs.ErrNotExist) {
		return &settings{}, nil
	}
	if err != nil {
		return nil, cli.UsageErrorf("settings: %w", err)
	}
	return r.read(string(text))
}

// settingsReader reads the file of settings.
type settingsReader struct {
	*tomlfile.File
	options []Option
}

func (r *settingsReader) read(text string) (*settings, error) {
	var file map[string]tomlfile.Value
	var err error
	if r.File, file, err = tomlfile.Parse(settingsPath(), text); err != nil {
		return nil, err
	}
	s := &settings{}
	if paths, ok := file[pathTable]; ok {
		delete(file, pathTable)
		if s.below, err = r.paths(paths); err != nil {
			return nil, err
		}
	}
	s.all, err = r.table(file)
	return s, err
}

// paths reads the table of paths.
func (r *settingsReader) paths(p tomlfile.Value) (all []settingsBelow, err error) {
	tables, err := r.tableIn(p)
	if err != nil {
		return nil, err
	}
	for path, p := range tables {
		table, err := r.tableIn(p)
		if err != nil {
			return nil, err
		}
		below := settingsBelow{path: realPath(r.Path(path))}
		if below.settingsOf, err = r.table(table); err != nil {
			return nil, err
		}
		all = append(all, below)
	}
	slices.SortFunc(all, func(a, b settingsBelow) int { return len(b.path) - len(a.path) })
	return all, nil
}

// tableIn returns the table of paths, or that of a path.
func (r *settingsReader) tableIn(p tomlfile.Value) (table map[string]tomlfile.Value, err error) {
	var value any // a map that takes what is no table stays empty
	if err = r.Decode(p, &value); err == nil {
		if _, ok := value.(map[string]any); ok {
			err = r.Decode(p, &table)
		}
	}
	if err != nil || table == nil {
		return nil, r.Errorf(p, `want a table for each path, such as [path."/games/wow"]`)
	}
	return table, nil
}

// table reads settings, in the order of their names so that the first error is always the same.
func (r *settingsReader) table(table map[string]tomlfile.Value) (settingsOf, error) {
	found := settingsOf{}
	var names []string
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := table[name]
		o, err := r.option(name)
		if err != nil {
			return nil, r.Errorf(p, "%w", err)
		}
		var value any
		if err := r.Decode(p, &value); err != nil {
			return nil, r.Errorf(p, "%s: %w", name, err)
		}
		values, err := r.values(o, value)
		if err != nil {
			return nil, r.Errorf(p, "%s: %w", name, err)
		}
		found[name] = setting{values, fmt.Sprintf("%s:%d: %s", r.Name, r.Line(p), name)}
	}
	return found, nil
}

// option returns the option that a setting is for.
func (r *settingsReader) option(name string) (*Option, error) {
	i := slices.IndexFunc(r.options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		var names []string
		for _, o := range r.options {
			if !o.Typed {
				names = append(names, o.Name)
			}
		}
		if near := nearest.Name(name, names); near != "" {
			return nil, fmt.Errorf("no setting is called %q: did you mean %q?", name, near)
		}
		return nil, fmt.Errorf("no setting is called %q: want one of %s", name, strings.Join(names, ", "))
	}
	if r.options[i].Typed {
		return nil, fmt.Errorf("%q is no setting: --%s is a flag of the command line only", name, name)
	}
	return &r.options[i], nil
}

// values returns the values of a setting as flags would have them.
func (r *settingsReader) values(o *Option, value any) (values []string, err error) {
	list, several := value.([]any)
	if _, takes := o.Value.(*[]string); !several || !takes {
		list = []any{value}
	}
	for _, v := range list {
		text, ok := settingText(o, v)
		if !ok {
			return nil, fmt.Errorf("want %s", settingForm(o))
		}
		if o.Path {
			text = r.Path(text)
		}
		values = append(values, text)
	}
	return values, nil
}

// settingText returns a value as a flag would have it.
func settingText(o *Option, value any) (text string, ok bool) {
	switch v := value.(type) {
	case bool:
		_, ok = o.Value.(*bool)
		return strconv.FormatBool(v), ok
	case int64:
		switch o.Value.(type) {
		case *int, *ByteSize, *ID:
			return strconv.FormatInt(v, 10), true
		}
	case string:
		switch o.Value.(type) {
		case *bool, *int:
			return "", false
		}
		return v, true
	}
	return "", false
}

// settingForm says how the value of an option is written in the file.
func settingForm(o *Option) string {
	switch o.Value.(type) {
	case *bool:
		return "true or false"
	case *int, *ID:
		return "a number"
	case *[]string:
		return "a list of texts in quotes"
	}
	return "a text in quotes"
}

// realPath returns a path without links, as far as it exists.
func realPath(path string) string {
	if origin.IsRemote(path) {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	return path
}

// isBelow reports whether a path is dir or below it.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Settle takes the settings for options that the command line does not set. path is the
// source, of the given kind; it is empty if there is none.
func (s *Set) Settle(path, kind string) error {
	if s.Flags == nil {
		return nil
	}
	s.unsettle()
	file, err := readSettings()
	if err != nil {
		return err
	}
	places := []settingsOf{s.environment()}
	if path != "" && !origin.IsRemote(path) {
		at := realPath(path)
		for _, b := range file.below {
			if isBelow(at, b.path) {
				places = append(places, b.settingsOf)
			}
		}
	}
	places = append(places, file.all)
	higher := map[string]bool{} // what the command line or another place sets
	s.Flags.VisitAll(func(f *pflag.Flag) { higher[f.Name] = f.Changed })
	take := func(place settingsOf, kind string) error {
		err := s.take(place, kind, higher)
		for name := range place {
			higher[name] = true
		}
		return err
	}
	if s.mounted != nil {
		if err := take(s.mounted, kind); err != nil {
			return err
		}
		kind = "" // what a mount shows is up to its own options
	}
	for _, place := range places {
		if err := take(place, kind); err != nil {
			return err
		}
	}
	return nil
}

// CheckPaths returns an error if a setting names something that is not there. Without the name of
// the setting, a path that no command line has tells nothing.
func (s *Set) CheckPaths() error {
	for _, o := range s.Known {
		from := s.From[o.Name]
		if from == "" || !o.Path || o.made {
			continue
		}
		for _, path := range valuesOf(s.Flags.Lookup(o.Name)) {
			if path == "" || origin.IsRemote(path) {
				continue
			}
			if _, err := os.Stat(path); err != nil {
				return fmt.Errorf("%s: %w", from, kinds.Unreadable(path, err))
			}
		}
	}
	return nil
}

// environment returns the settings in the environment. A variable that is empty is none.
func (s *Set) environment() settingsOf {
	found := settingsOf{}
	for _, o := range s.Known {
		if text := os.Getenv(o.Variable()); text != "" && !o.Typed {
			found[o.Name] = setting{[]string{text}, "$" + o.Variable()}
		}
	}
	return found
}

// take takes the settings of a place, except for options that are set already.
func (s *Set) take(place settingsOf, kind string, higher map[string]bool) error {
	for _, o := range s.Known {
		v, ok := place[o.Name]
		if !ok || higher[o.Name] || higher[o.With] || !o.GoesWith(kind) {
			continue
		}
		if err := setAll(s.Flags.Lookup(o.Name), v.values); err != nil {
			return cli.UsageErrorf("%s: %w", v.from, err)
		}
		if s.From == nil {
			s.From = map[string]string{}
		}
		s.From[o.Name] = v.from
	}
	return nil
}

// unsettle gives the options back their defaults that settings gave another value: settings
// for one source are not those for the next.
func (s *Set) unsettle() {
	for name := range s.From {
		switch f := s.Flags.Lookup(name); v := f.Value.(type) {
		case pflag.SliceValue:
			_ = v.Replace(nil) // a list of texts takes all
		case *ID:
			v.Value = nil
		case *Mode:
			v.Value = nil
		default:
			_ = v.Set(f.DefValue) // which is a value
		}
	}
	s.From = nil
}

// setAll sets a flag without marking it as one of the command line.
func setAll(f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(values)
	}
	return f.Value.Set(values[0])
}

// AllOptions returns the options of all commands.
func AllOptions() []Option {
	var f MountFlags
	f.Add(pflag.NewFlagSet("", pflag.ContinueOnError))
	return append(f.Source.Known, NewLogging().table()...)
}

// TakeMounted makes the options count by which what is mounted on dir was opened, or none.
func (s *Set) TakeMounted(opened *mounted.Opened, dir string) {
	s.mounted = nil
	if opened == nil {
		return
	}
	s.mounted = settingsOf{}
	for name, values := range opened.Options {
		s.mounted[name] = setting{values, "the mount on " + dir}
	}
}

// SettingPlaces returns where the options are set, by their names. Settings for single paths
// are not among them.
func SettingPlaces() map[string]string {
	places := map[string]string{}
	if file, err := readSettings(); err == nil { // all other commands tell what is wrong with it
		for name, s := range file.all {
			places[name] = strings.TrimSuffix(s.from, ": "+name)
		}
	}
	for _, o := range AllOptions() {
		if os.Getenv(o.Variable()) != "" {
			places[o.Name] = "$" + o.Variable()
		}
	}
	return places
}
