package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// optionFlags are the options of -o that mean a flag of mount.
var optionFlags = map[string]string{
	"allow_other": "allow-other",
	"build":       "build",
	"cache_size":  "cache-size",
	"cdn":         "cdn",
	"definitions": "definitions",
	"inline":      "inline",
	"iv":          "iv",
	"key":         "key",
	"keys":        "keys",
	"kind":        "kind",
	"layout":      "layout",
	"listfile":    "listfile",
	"locale":      "locale",
	"log_file":    "log-file",
	"missing":     "missing",
	"no_backup":   "no-backup",
	"no_cache":    "no-cache",
	"patch":       "patch",
	"platform":    "platform",
	"product":     "product",
	"quality":     "quality",
	"revision":    "revision",
	"world":       "world",
	"edit":        "rw",
}

// ignoredOptions are those that fstab(5) has for other programs than the file
// system's, or that ask for what a mount has anyway.
var ignoredOptions = []string{
	"ro", "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "nofail", "_netdev",
	"exec", "noexec", "suid", "nosuid", "dev", "nodev", "sync", "async", "dirsync", "silent", "loud",
	"atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime",
	"lazytime", "nolazytime", "default_permissions",
}

// optionRules are what differs between mount and a mount helper.
type optionRules struct {
	// ignoreRW takes rw for the absence of ro: mount(8) passes it unasked.
	ignoreRW bool
	// sloppy ignores unknown options.
	sloppy bool
}

// applyOptions sets the flags that the lists of -o mean.
func applyOptions(flags *pflag.FlagSet, lists []string, rules optionRules) error {
	for _, list := range lists {
		for option := range strings.SplitSeq(list, ",") {
			if err := applyOption(flags, option, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

func applyOption(flags *pflag.FlagSet, option string, rules optionRules) error {
	name, value, hasValue := strings.Cut(option, "=")
	if name == "rw" && !rules.ignoreRW {
		name = "edit"
	}
	if flag, ok := optionFlags[name]; ok {
		if !hasValue && flags.Lookup(flag).NoOptDefVal == "" {
			return usageErrorf("-o %s wants a value", name)
		}
		if !hasValue {
			value = flags.Lookup(flag).NoOptDefVal
		}
		if err := flags.Set(flag, value); err != nil {
			return usageErrorf("-o %s: %w", name, err)
		}
		return nil
	}
	if name == "ro" && flags.Changed("rw") {
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
