package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lorefs/datacenter"
)

// sourceFlags are the flags of every command that opens a source.
type sourceFlags struct {
	kind      string
	key, iv   string
	layout    string
	cacheSize byteSize
	noCache   bool
	world     string
	packets   packetFlags
	casc      cascFlags
	optionSet

	// cacheBase is where the index is kept instead of the user's cache folder. It
	// is no flag.
	cacheBase string
}

// defaultCacheSize holds all of a data center of the usual size.
const defaultCacheSize = 256 << 20

// add is for commands that take any kind of source.
func (f *sourceFlags) add(flags *pflag.FlagSet) { f.addTo(flags, f.table()) }

// addDataCenter is for commands that take data centers only.
func (f *sourceFlags) addDataCenter(flags *pflag.FlagSet) {
	f.addTo(flags, f.dataCenterTable())
	f.kind = kindDataCenter
}

// table has all that can be said about a source.
func (f *sourceFlags) table() []option {
	f.kind = kindAuto
	return slices.Concat(
		[]option{{name: "kind", value: &f.kind, help: "`kind` of the source: " + kindNames()}},
		f.dataCenterTable(),
		[]option{{name: "world", kinds: []string{kindDataCenter}, value: &f.world, help: "`folder` of world geometry to show with a data center, as world/"}},
		f.packets.table(),
		f.casc.table(),
	)
}

// The variables of the environment that the key of a data center is taken from.
const (
	keyVariable = "LOREFS_KEY"
	ivVariable  = "LOREFS_IV"
)

// dataCenterTable has what can be said about a data center. Memory and the index are
// those of sources of other kinds, too.
func (f *sourceFlags) dataCenterTable() []option {
	f.cacheSize, f.layout = defaultCacheSize, datacenter.LayoutAuto.String()
	only := []string{kindDataCenter}
	return []option{
		{name: "key", variable: keyVariable, kinds: only, value: &f.key, help: "data center `key`, 32 hex digits (default: $" + keyVariable + ", or the published ones)"},
		{name: "iv", variable: ivVariable, kinds: only, value: &f.iv, help: "data center `IV`, 32 hex digits (default: $" + ivVariable + ", or the published ones)"},
		{name: "layout", kinds: only, value: &f.layout, help: "data center `layout`: auto, v3, v6-x86 or v6-x64"},
		{name: "cache-size", value: &f.cacheSize, help: "memory for inflated data"},
		{name: "no-cache", value: &f.noCache, help: "neither read nor write the index that makes the next start quick"},
	}
}

// check finds mistakes before anything is opened.
func (f *sourceFlags) check() error {
	known := func(k kind) bool { return k.name == f.kind }
	if f.kind != kindAuto && !slices.ContainsFunc(kinds(), known) {
		return usageErrorf("--kind %q is unknown: want %s", f.kind, kindNames())
	}
	if _, err := datacenter.ParseLayout(f.layout); err != nil {
		return usageErrorf("--layout %q is unknown: want auto, v3, v6-x86 or v6-x64", f.layout)
	}
	if _, err := f.packets.options(); err != nil {
		return err
	}
	if err := f.casc.check(); err != nil {
		return err
	}
	_, err := f.dataCenterKeys()
	return err
}

// reading are the flags for a source that is to be written in f's layout, which
// says nothing of the one that it has.
func (f *sourceFlags) reading() *sourceFlags {
	r := *f
	r.layout = datacenter.LayoutAuto.String()
	return &r
}

// dataCenterKeys are those to try: the one that was given, else the published ones.
func (f *sourceFlags) dataCenterKeys() ([]datacenter.Key, error) {
	from := keySource{"--key", "--iv", f.key, f.iv}
	if from.key == "" && from.iv == "" {
		from = keySource{"$" + keyVariable, "$" + ivVariable, os.Getenv(keyVariable), os.Getenv(ivVariable)}
	}
	if from.key == "" && from.iv == "" {
		return datacenter.DefaultKeys(), nil
	}
	k, err := from.parse()
	if err != nil {
		return nil, err
	}
	return []datacenter.Key{k}, nil
}

// keySource is where a user says a key and an IV, and what.
type keySource struct{ keyName, ivName, key, iv string }

func (s keySource) parse() (datacenter.Key, error) {
	switch {
	case s.key == "":
		return datacenter.Key{}, usageErrorf("%s is given without %s: a key and an IV go together", s.ivName, s.keyName)
	case s.iv == "":
		return datacenter.Key{}, usageErrorf("%s is given without %s: a key and an IV go together", s.keyName, s.ivName)
	}
	k, err := datacenter.ParseKey(strings.TrimPrefix(s.keyName, "$"), s.key, s.iv)
	if err != nil {
		return k, usageErrorf("%s and %s have to be 32 hex digits each", s.keyName, s.ivName)
	}
	return k, nil
}
