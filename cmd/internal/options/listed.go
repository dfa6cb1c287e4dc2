package options

import (
	"slices"
	"strings"

	"lorefs/cmd/internal/cli"
)

// ignoredOptions are options of fstab(5) that are for other programs, or that every mount
// has anyway.
var ignoredOptions = []string{
	"ro", "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "nofail", "_netdev",
	"exec", "noexec", "suid", "nosuid", "dev", "nodev", "sync", "async", "dirsync", "silent", "loud",
	"atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime",
	"lazytime", "nolazytime", "default_permissions",
}

// Rules are the differences between mount and a mount helper.
type Rules struct {
	// IgnoreRW ignores rw, which mount(8) passes unless ro is set.
	IgnoreRW bool
	// Sloppy ignores unknown options.
	Sloppy bool
}

// Apply sets the flags for the lists of -o.
func (s *Set) Apply(lists []string, rules Rules) error {
	for _, list := range lists {
		for _, option := range splitList(list) {
			if err := s.applyOne(option, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

// splitList splits a list of -o at its commas. As for mount(8), a backslash before a comma
// or a backslash makes that a part of the value. Before other characters it stands for
// itself.
func splitList(list string) (parts []string) {
	var part strings.Builder
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch {
		case c == ',':
			parts = append(parts, part.String())
			part.Reset()
			continue
		case c == '\\' && i+1 < len(list) && (list[i+1] == ',' || list[i+1] == '\\'):
			i++
			c = list[i]
		}
		part.WriteByte(c)
	}
	return append(parts, part.String())
}

func (s *Set) applyOne(text string, rules Rules) error {
	name, value, hasValue := strings.Cut(text, "=")
	if name == "rw" && !rules.IgnoreRW {
		name = listedEdit
	}
	if i := slices.IndexFunc(s.Known, func(o Option) bool { return o.ListName() == name }); i >= 0 {
		flag := s.Flags.Lookup(s.Known[i].Name)
		if !hasValue && flag.NoOptDefVal == "" {
			return cli.UsageErrorf("-o %s wants a value", name)
		}
		if !hasValue {
			value = flag.NoOptDefVal
		}
		if err := s.Flags.Set(flag.Name, value); err != nil {
			return cli.UsageErrorf("-o %s: %w", name, err)
		}
		return nil
	}
	if name == "ro" && s.Flags.Changed("rw") {
		return cli.UsageErrorf("--rw and -o ro contradict each other")
	}
	switch {
	case name == "rw", name == "", rules.Sloppy, slices.Contains(ignoredOptions, name):
		return nil
	case strings.HasPrefix(name, "x-"), name == "comment":
		return nil
	}
	return cli.UsageErrorf("-o %s: no such option", name)
}
