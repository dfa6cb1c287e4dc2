package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter"
	"lorefs/protocol"
)

// kindAuto is the value of --kind that lets lorefs recognize the kind.
const kindAuto = "auto"

// kindWords returns the values of --kind.
func kindWords() []string {
	names := []string{kindAuto}
	for _, k := range kinds.All() {
		names = append(names, k.Name)
	}
	return names
}

// kindNames returns the values of --kind for messages.
func kindNames() string { return orList(kindWords()) }

// orList returns words for a message that wants one of them.
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// sourceFlags are the flags of all commands that open a source.
type sourceFlags struct {
	kind      string
	key, iv   string
	layout    string
	cacheSize byteSize
	noCache   bool
	remote    remoteFlags
	world     string
	packets   packetFlags
	casc      cascFlags
	optionSet

	// layoutToWrite says that the layout is for what is written, and the source's is found out.
	layoutToWrite bool
	// readWhole says that the command reads all of a data center.
	readWhole bool
	// readOnce says that the command goes through all of a data center, once.
	readOnce bool
	// asFile says that the command reads a data center as a file, not as trees.
	asFile bool
	// sizesLater says that it needs no sizes of sheets before it has read them.
	sizesLater bool
	// held says that the source is read as it was when it was opened, although others save it.
	held bool
	// follow says that a recorded session is shown as it grows.
	follow bool
	// cacheBase replaces the user's cache folder for indexes in tests. It has no flag.
	cacheBase string
}

// defaultCacheSize is enough for all blocks of a data center of the usual size.
const defaultCacheSize = 256 << 20

// add adds the flags for commands that open any kind of source.
func (f *sourceFlags) add(flags *pflag.FlagSet) { f.addTo(flags, f.table()) }

// addDataCenter adds the flags for commands that only open data centers.
func (f *sourceFlags) addDataCenter(flags *pflag.FlagSet) {
	f.addTo(flags, f.dataCenterTable())
	f.kind = kinds.DataCenterName
}

// addDiffable adds the flags for diff: of a data center, and of a CASC storage of which no file is
// read.
func (f *sourceFlags) addDiffable(flags *pflag.FlagSet) {
	f.kind = kindAuto
	about := slices.DeleteFunc(f.casc.table(), func(o option) bool {
		return slices.Contains(ofContents, o.name)
	})
	f.addTo(flags, slices.Concat(f.dataCenterTable(), about))
	for _, name := range []string{"build", "cdn"} {
		flag := flags.Lookup(name)
		flag.Usage = strings.Replace(flag.Usage, " (default:", "; OLD,NEW for two builds (default:", 1)
	}
}

// ofContents are the options that say which contents of a CASC storage can be read.
var ofContents = []string{"missing", "fill-missing-keys"}

// addEditable adds the flags for commands that are about edits.
func (f *sourceFlags) addEditable(flags *pflag.FlagSet) { f.addTo(flags, f.editableTable()) }

// onlyDataCenters reports whether the flags are those of [sourceFlags.addDataCenter].
func (f *sourceFlags) onlyDataCenters() bool {
	return f.kind == kinds.DataCenterName && f.flags != nil && f.flags.Lookup("kind") == nil
}

// table returns all options of a source.
func (f *sourceFlags) table() []option {
	return slices.Concat(f.editableTable(), f.packets.table(), f.casc.table())
}

// editableTable returns the options of a source that can be edited.
func (f *sourceFlags) editableTable() []option {
	f.kind = kindAuto
	return slices.Concat(
		[]option{{name: "kind", typed: true, words: kindWords(), value: &f.kind, help: "`kind` of the source: " + kindNames()}},
		f.dataCenterTable(),
		[]option{{name: "world", kinds: []string{kinds.DataCenterName}, path: true, value: &f.world, help: "`folder` of world geometry to show with a data center, as world/"}},
	)
}

// dataCenterTable returns the options of a data center. Those for memory, the index and other
// machines are for all kinds.
func (f *sourceFlags) dataCenterTable() []option {
	f.cacheSize, f.layout = defaultCacheSize, datacenter.LayoutAuto.String()
	only := []string{kinds.DataCenterName}
	return append([]option{
		{name: "key", kinds: only, with: "iv", value: &f.key, help: "data center `key`, 32 hex digits (default: the published ones)"},
		{name: "iv", kinds: only, with: "key", value: &f.iv, help: "data center `IV`, 32 hex digits (default: the published ones)"},
		{name: "layout", kinds: only, typed: true, words: layoutWords, value: &f.layout, help: "data center `layout`: " + orList(layoutWords)},
		{name: "cache-size", value: &f.cacheSize, help: "memory for inflated data"},
		{name: "no-cache", value: &f.noCache, help: "neither read nor write the index that makes the next start quick"},
	}, f.remote.table()...)
}

// parse returns the options that the flags set, without the file of --keys, so it finds
// mistakes before anything is opened. A command without the flags of a kind uses defaults.
func (f *sourceFlags) parse() (*kinds.Options, error) {
	known := func(k *kinds.Kind) bool { return k.Name == f.kind }
	if f.kind != kindAuto && !slices.ContainsFunc(kinds.All(), known) {
		return nil, usageErrorf("--kind %q is unknown: want %s", f.kind, kindNames())
	}
	o := &kinds.Options{CacheSize: int64(f.cacheSize), NoIndex: f.noCache, CacheBase: f.cacheBase, Held: f.held}
	o.DataCenter.World, o.DataCenter.Whole, o.DataCenter.Once = f.world, f.readWhole, f.readOnce
	o.DataCenter.SizesLater = f.sizesLater
	layout, err := parseLayout(f.layout)
	if err != nil {
		return nil, err
	}
	if !f.layoutToWrite {
		o.DataCenter.Layout = layout
	}
	if o.Packets, err = f.packets.parse(&f.optionSet); err != nil {
		return nil, err
	}
	o.Packets.Follow = f.follow
	if f.follow {
		// A host that is back is asked again soon, but not for each of the READs by which the
		// kernel tries to read a file.
		o.Remote.Failed = time.Second
	}
	if o.CASC, err = f.casc.parse(&f.optionSet); err != nil {
		return nil, err
	}
	f.remote.set(o)
	o.DataCenter.Keys, err = dataCenterKeys(&f.optionSet, f.key, f.iv)
	return o, err
}

// check finds mistakes in flags before anything is opened.
func (f *sourceFlags) check() error {
	_, err := f.parse()
	return err
}

// options returns the options for opening a source.
func (f *sourceFlags) options(log *slog.Logger, show func(done, total int64)) (*kinds.Options, error) {
	o, err := f.parse()
	if err != nil {
		return nil, err
	}
	o.Logger, o.Progress = log, show
	if o.CASC.Storage.Keys, err = f.casc.keyRing(&f.optionSet, log); err != nil {
		return o, err
	}
	o.CASC.CDN.ProductKeys, err = f.casc.productKeys()
	return o, err
}

// layoutWords are the values of --layout.
var layoutWords = []string{
	datacenter.LayoutAuto.String(), datacenter.LayoutV3.String(), datacenter.LayoutV6X86.String(), datacenter.LayoutV6X64.String(),
}

// parseLayout parses the value of --layout.
func parseLayout(text string) (datacenter.Layout, error) {
	l, err := datacenter.ParseLayout(text)
	if err != nil {
		return l, usageErrorf("--layout %q is unknown: want %s", text, orList(layoutWords))
	}
	return l, nil
}

// reading returns the flags for reading a source that will be written in their layout, which
// may differ from its own.
func (f *sourceFlags) reading() *sourceFlags {
	f.layoutToWrite = true
	return f
}

// dataCenterKeys returns the keys to try: the one that options of a command say, or else the
// published ones.
func dataCenterKeys(s *optionSet, key, iv string) ([]datacenter.Key, error) {
	if key == "" && iv == "" {
		return datacenter.DefaultKeys(), nil
	}
	k, err := keySource{s.spelled("key"), s.spelled("iv"), key, iv}.parse()
	if err != nil {
		return nil, err
	}
	return []datacenter.Key{k}, nil
}

// keySource is a key and an IV, and the names of the flags or variables that have them.
type keySource struct{ keyName, ivName, key, iv string }

func (s keySource) parse() (datacenter.Key, error) {
	switch {
	case s.key == "":
		return datacenter.Key{}, usageErrorf("%s is given without a key: the two go together, 32 hex digits each", s.ivName)
	case s.iv == "":
		return datacenter.Key{}, usageErrorf("%s is given without an IV: the two go together, 32 hex digits each", s.keyName)
	}
	k, err := datacenter.ParseKey(strings.TrimPrefix(s.keyName, "$"), s.key, s.iv)
	if err != nil {
		return k, usageErrorf("%s and %s have to be 32 hex digits each", s.keyName, s.ivName)
	}
	return k, nil
}

// packetFlags are the flags for recorded sessions and packet definitions.
type packetFlags struct {
	definitions string
	patch       string
	revision    string
	platform    string
	inline      bool
}

func (f *packetFlags) table() []option {
	only := []string{kinds.PacketsName}
	return []option{
		{name: "definitions", kinds: only, path: true, value: &f.definitions, help: "`folder` of packet definitions and maps"},
		{name: "game-patch", kinds: only, value: &f.patch, help: "`version` of the game, such as 98.02 (default: that of the revision in revisions.json, or the newest)"},
		{name: "revision", kinds: only, value: &f.revision, help: "client `revision`, which selects the map (default: that of the recorded session)"},
		{name: "platform", kinds: only, value: &f.platform, help: "`platform` whose packet definitions precede those for all, such as console or classic (default: pc)"},
		{name: "inline", kinds: only, value: &f.inline, help: "definitions that list no pointers have them where the fields stand, as in tera-proxy's (default: guessed for each)"},
	}
}

// parse returns the options that the flags set.
func (f *packetFlags) parse(s *optionSet) (kinds.PacketOptions, error) {
	patch, err := parsePatch(s, f.patch)
	// Platforms are parts of file names, and any name is allowed.
	if _, ok := protocol.ParseFileName("NAME.1." + f.platform + ".def"); err == nil && f.platform != "" && !ok {
		err = usageErrorf("%s %q: want a name such as pc, console or classic", s.spelled("platform"), f.platform)
	}
	return kinds.PacketOptions{
		Definitions: f.definitions, Patch: patch, Revision: f.revision, Platform: f.platform, Inline: f.inline,
	}, err
}

func parsePatch(s *optionSet, text string) (protocol.Patch, error) {
	if text == "" {
		return 0, nil
	}
	p, err := protocol.ParsePatch(text)
	if err != nil {
		return 0, usageErrorf("%s %q: want a version of the game such as 98 or 98.02", s.spelled("game-patch"), text)
	}
	return p, nil
}

// qualityOption returns the option of the compression of world geometry.
func qualityOption(quality *int) option {
	return option{name: "quality", kinds: []string{kinds.DataCenterName, kinds.WorldName}, value: quality, help: helpQuality}
}

// editedKinds are the kinds of sources that can be edited.
var editedKinds = kindsThat(func(k *kinds.Kind) bool { return k.Editable })

// kindsThat returns the names of the kinds with a property.
func kindsThat(have func(*kinds.Kind) bool) (names []string) {
	for _, k := range kinds.All() {
		if have(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

const helpQuality = "`quality` of the compression of edited zones and areas, 1 to 11 (default: 11, which takes up to half a minute for a zone)"

func checkQuality(quality int) error {
	if quality < 0 || quality > 11 {
		return usageErrorf("--quality %d: want 1 to 11", quality)
	}
	return nil
}

// cascFlags are the flags for CASC storages.
type cascFlags struct {
	product   string
	build     string
	cdn       string
	locale    string
	keys      string
	listFiles []string
	missing   string
	// side is 1 or 2 for one of two builds, which --build and --cdn name with a comma between
	// them; else it is 0.
	side int
	// unhidden shows what is not installed, whatever missing says. It has no flag.
	unhidden bool
	// fill has zeros for blocks whose key is not known.
	fill bool
	cdnFlags
}

// Values of --missing.
const (
	missingHide = "hide"
	missingShow = "show"
)

func (f *cascFlags) table() []option {
	f.missing = missingHide
	only := []string{kinds.CASCName}
	return slices.Concat([]option{
		{name: "product", kinds: only, value: &f.product, help: "`product` of a CASC storage with several, such as wow (default: the first active one)"},
		{name: "build", kinds: only, value: &f.build, help: "`build` of a CASC storage with several: its version, its number or the key of its configuration (default: that of .build.info, the only one, or the latest)"},
		{name: "cdn", kinds: only, value: &f.cdn, help: "`key` of the CDN configuration of a CASC storage, 32 hex digits (default: that of the build)"},
		{name: "locale", kinds: only, words: casc.LocaleNames(), value: &f.locale, help: "`language` of a CASC storage, such as enUS: leave out files for others, but take enUS for what enGB has not, and ptBR for ptPT (default: all)"},
		{name: "keys", kinds: only, path: true, value: &f.keys, help: "`file` of encryption keys of a CASC storage, of lines NAME KEY, or NAME.ak for a product that is all encrypted"},
		{name: "listfile", kinds: only, path: true, value: &f.listFiles, help: "`file` of names for a CASC storage, of lines ID;NAME or NAME; may be given again"},
		{name: "missing", kinds: only, words: []string{missingHide, missingShow}, value: &f.missing, help: "`what` to do with files of a CASC storage whose data is not local: hide or show"},
		{name: "fill-missing-keys", kinds: only, typed: true, value: &f.fill, help: "read files of a CASC storage that have blocks of unknown keys, with zeros for those blocks"},
	}, f.cdnFlags.table())
}

// parse returns the options that the flags set, without --keys.
func (f *cascFlags) parse(s *optionSet) (o kinds.CASCOptions, err error) {
	o.Storage.Product, o.ListFiles, o.ShowMissing = f.product, f.listFiles, f.unhidden || f.missing == missingShow
	o.Storage.FillMissingKeys = f.fill
	if f.locale != "" {
		if o.Storage.Locale, err = casc.ParseLocale(f.locale); err != nil {
			return o, usageErrorf("%s %q is unknown: want one such as enUS", s.spelled("locale"), f.locale)
		}
	}
	if o.CDN, err = f.cdnFlags.parse(s); err != nil {
		return o, err
	}
	if o.CDN.Build, o.CDN.CDN, err = f.configurations(s); err != nil {
		return o, err
	}
	if o.Storage.BuildKey, err = keys.Parse(o.CDN.Build); err != nil {
		o.Storage.BuildName = o.CDN.Build
	}
	if strings.EqualFold(o.CDN.Build, "latest") {
		o.CDN.Build = "" // the default
	}
	if o.CDN.CDN != "" {
		if o.Storage.CDNKey, err = keys.Parse(o.CDN.CDN); err != nil {
			return o, usageErrorf("%s %q: want a key of 32 hex digits", s.spelled("cdn"), o.CDN.CDN)
		}
	}
	switch f.missing {
	case "", missingHide, missingShow:
		return o, nil
	}
	return o, usageErrorf("%s %q is unknown: want hide or show", s.spelled("missing"), f.missing)
}

// configurations returns what --build and --cdn say or, of two builds, what they say of the one
// that is meant.
func (f *cascFlags) configurations(s *optionSet) (build, cdn string, err error) {
	texts := []string{f.build, f.cdn}
	for i, name := range []string{"build", "cdn"} {
		old, now, two := strings.Cut(texts[i], ",")
		switch {
		case !two:
		case f.side == 0:
			return "", "", usageErrorf("%s %q: only lorefs diff takes two", s.spelled(name), texts[i])
		case old == "", now == "", strings.Contains(now, ","):
			return "", "", usageErrorf("%s %q: want one, or OLD,NEW", s.spelled(name), texts[i])
		case f.side == 1:
			texts[i] = old
		default:
			texts[i] = now
		}
	}
	return texts[0], texts[1], nil
}

// keyRing reads the file of --keys. It returns nil if there is none. Lines without a key are told of,
// as other lists have them too.
func (f *cascFlags) keyRing(s *optionSet, log *slog.Logger) (blte.KeyRing, error) {
	if f.keys == "" || isProductKey(f.keys) {
		return nil, nil
	}
	text, err := os.ReadFile(f.keys)
	if err != nil {
		return nil, kinds.Unreadable(f.keys, err)
	}
	keys := blte.KeyRing{}
	bad, first := 0, error(nil)
	if err := keys.Parse(bytes.NewReader(text), func(line int, err error) {
		if bad++; bad == 1 {
			first = fmt.Errorf("line %d: %w", line, err)
		}
	}); err != nil {
		return nil, usageErrorf("%s %s: %w", s.spelled("keys"), f.keys, err)
	}
	if bad > 0 {
		log.Warn("lines of the list of keys are left out", "file", f.keys, "lines", bad, "err", first)
	}
	return keys, nil
}
