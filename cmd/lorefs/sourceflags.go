package main

import (
	"os"
	"slices"

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

	// cacheBase is where the index is kept instead of the user's cache folder. It
	// is no flag.
	cacheBase string
}

// defaultCacheSize holds all of a data center of the usual size.
const defaultCacheSize = 256 << 20

// add is for commands that take any kind of source.
func (f *sourceFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.kind, "kind", kindAuto, "what the source is: "+kindNames())
	f.addDataCenter(flags)
	f.kind = kindAuto
	flags.StringVar(&f.world, "world", "", "folder of world geometry to show with a data center, as world/")
	f.packets.add(flags)
	f.casc.add(flags)
}

// addDataCenter is for commands that take data centers only.
func (f *sourceFlags) addDataCenter(flags *pflag.FlagSet) {
	f.kind = kindDataCenter
	f.cacheSize = defaultCacheSize
	flags.StringVar(&f.key, "key", "", "data center key, 32 hex digits (default: $LOREFS_KEY, or the published ones)")
	flags.StringVar(&f.iv, "iv", "", "data center IV, 32 hex digits (default: $LOREFS_IV, or the published ones)")
	flags.StringVar(&f.layout, "layout", datacenter.LayoutAuto.String(), "data center layout: auto, v3, v6-x86 or v6-x64")
	flags.Var(&f.cacheSize, "cache-size", "memory for inflated data")
	flags.BoolVar(&f.noCache, "no-cache", false, "neither read nor write the index that makes the next start quick")
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
	name, key, iv := "--key", f.key, f.iv
	if key == "" && iv == "" {
		name, key, iv = "LOREFS_KEY", os.Getenv("LOREFS_KEY"), os.Getenv("LOREFS_IV")
	}
	switch {
	case key == "" && iv == "":
		return datacenter.DefaultKeys(), nil
	case key == "" || iv == "":
		return nil, usageErrorf("a key and an IV go together: one of them is missing")
	}
	k, err := datacenter.ParseKey(name, key, iv)
	if err != nil {
		return nil, usageErrorf("the key and the IV have to be 32 hex digits each")
	}
	return []datacenter.Key{k}, nil
}
