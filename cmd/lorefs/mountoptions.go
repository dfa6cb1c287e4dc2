package main

import (
	"slices"
	"strings"
)

// listedEdit is the name of --rw in -o. mount(8) passes rw to every file system that is not
// ro, so that can't be it.
const listedEdit = "edit"

// ignoredOptions are options of fstab(5) that are for other programs, or that every mount
// has anyway.
var ignoredOptions = []string{
	"ro", "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "nofail", "_netdev",
	"exec", "noexec", "suid", "nosuid", "dev", "nodev", "sync", "async", "dirsync", "silent", "loud",
	"atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime",
	"lazytime", "nolazytime", "default_permissions",
}

// optionRules are the differences between mount and a mount helper.
type optionRules struct {
	// ignoreRW ignores rw, which mount(8) passes unless ro is set.
	ignoreRW bool
	// sloppy ignores unknown options.
	sloppy bool
}

// apply sets the flags for the lists of -o.
func (s *optionSet) apply(lists []string, rules optionRules) error {
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

func (s *optionSet) applyOne(text string, rules optionRules) error {
	name, value, hasValue := strings.Cut(text, "=")
	if name == "rw" && !rules.ignoreRW {
		name = listedEdit
	}
	if i := slices.IndexFunc(s.known, func(o option) bool { return o.listName() == name }); i >= 0 {
		flag := s.flags.Lookup(s.known[i].name)
		if !hasValue && flag.NoOptDefVal == "" {
			return usageErrorf("-o %s wants a value", name)
		}
		if !hasValue {
			value = flag.NoOptDefVal
		}
		if err := s.flags.Set(flag.Name, value); err != nil {
			return usageErrorf("-o %s: %w", name, err)
		}
		return nil
	}
	if name == "ro" && s.flags.Changed("rw") {
		return usageErrorf("--rw and -o ro contradict each other")
	}
	switch {
	case name == "rw", name == "", rules.sloppy, slices.Contains(ignoredOptions, name):
		return nil
	case strings.HasPrefix(name, "x-"), name == "comment":
		return nil
	}
	return usageErrorf("-o %s: no such option", name)
}
