package options

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
	"lorefs/casc/db2/dbd"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/datacenter"
	"lorefs/protocol"
)

// KindAuto is the value of --kind that lets lorefs recognize the kind.
const KindAuto = "auto"

// kindWords returns the values of --kind.
func kindWords() []string {
	names := []string{KindAuto}
	for _, k := range registry.All() {
		names = append(names, k.Name)
	}
	return names
}

// kindNames returns the values of --kind for messages.
func kindNames() string { return cli.OrList(kindWords()) }

// SourceFlags are the flags of all commands that open a source.
type SourceFlags struct {
	Kind      string
	Key, IV   string
	Layout    string
	CacheSize ByteSize
	NoCache   bool
	remote    RemoteFlags
	World     string
	packets   PacketFlags
	arrays    string
	CASC      CASCFlags
	Set

	// layoutToWrite says that the layout is for what is written, and the source's is found out.
	layoutToWrite bool
	// ReadWhole says that the command reads all of a data center.
	ReadWhole bool
	// ReadOnce says that the command goes through all of a data center, once.
	ReadOnce bool
	// AsFile says that the command reads a data center as a file, not as trees.
	AsFile bool
	// SizesLater says that it needs no sizes of sheets before it has read them.
	SizesLater bool
	// Pinned says that the source is read as it was when it was opened, although others save it.
	Pinned bool
	// Follow says that a recorded session is shown as it grows.
	Follow bool
	// CacheBase replaces the user's cache folder for indexes in tests. It has no flag.
	CacheBase string
}

// DefaultCacheSize is enough for all blocks of a data center of the usual size.
const DefaultCacheSize = 256 << 20

// Add adds the flags for commands that open any kind of source.
func (f *SourceFlags) Add(flags *pflag.FlagSet) { f.AddTo(flags, f.Table()) }

// AddDataCenter adds the flags for commands that only open data centers.
func (f *SourceFlags) AddDataCenter(flags *pflag.FlagSet) {
	f.AddTo(flags, f.dataCenterTable())
	f.Kind = kinds.DataCenterName
}

// AddDiffable adds the flags for diff: of a data center, of a session, and of a CASC storage of which
// no file is read.
func (f *SourceFlags) AddDiffable(flags *pflag.FlagSet) {
	f.Kind = KindAuto
	about := slices.DeleteFunc(f.CASC.table(), func(o Option) bool {
		return slices.Contains(OfContents, o.Name)
	})
	f.AddTo(flags, slices.Concat(f.dataCenterTable(), f.packets.Table(), about))
	for _, name := range []string{"build", "cdn"} {
		flag := flags.Lookup(name)
		flag.Usage = strings.Replace(flag.Usage, " (default:", "; OLD,NEW for two builds (default:", 1)
	}
}

// OfContents are the options that say which contents of a CASC storage can be read, and how.
var OfContents = []string{"missing", "fill-missing-keys", "csv-arrays"}

// AddEditable adds the flags for commands that are about edits.
func (f *SourceFlags) AddEditable(flags *pflag.FlagSet) { f.AddTo(flags, f.editableTable()) }

// onlyDataCenters reports whether the flags are those of [SourceFlags.AddDataCenter].
func (f *SourceFlags) onlyDataCenters() bool {
	return f.Kind == kinds.DataCenterName && f.Flags != nil && f.Flags.Lookup("kind") == nil
}

// Table returns all options of a source.
func (f *SourceFlags) Table() []Option {
	return slices.Concat(f.editableTable(), f.packets.Table(), f.CASC.table(), f.tablesTable())
}

// Values of --csv-arrays.
const (
	arraysBrackets    = "brackets"
	arraysUnderscores = "underscores"
)

// tablesTable returns the options of client tables that nothing else has.
func (f *SourceFlags) tablesTable() []Option {
	f.arrays = arraysBrackets
	return []Option{
		{Name: "csv-arrays", Kinds: []string{kinds.TablesName, kinds.CASCName}, Words: []string{arraysBrackets, arraysUnderscores}, Value: &f.arrays, Help: "`form` of names of CSV columns for arrays in client tables: brackets (Name[0]) or underscores (Name_0)"},
	}
}

// tables returns the options of client tables that the flags set.
func (f *SourceFlags) tables() (kinds.TableOptions, error) {
	build, _ := f.CASC.gameBuild(&f.Set) // Reach sees that it is one if the source has no build of its own
	o := kinds.TableOptions{
		Definitions: f.packets.Definitions, Asked: f.Given("definitions"), Build: build, Locale: f.CASC.locale, Underscores: f.arrays == arraysUnderscores,
	}
	switch f.arrays {
	case "", arraysBrackets, arraysUnderscores:
		return o, nil
	}
	return o, cli.UsageErrorf("%s %q is unknown: want brackets or underscores", f.spelled("csv-arrays"), f.arrays)
}

// editableTable returns the options of a source that can be edited.
func (f *SourceFlags) editableTable() []Option {
	f.Kind = KindAuto
	return slices.Concat(
		[]Option{{Name: "kind", Typed: true, Words: kindWords(), Value: &f.Kind, Help: "`kind` of the source: " + kindNames()}},
		f.dataCenterTable(),
		[]Option{{Name: "world", Kinds: []string{kinds.DataCenterName}, Path: true, Value: &f.World, Help: "`folder` of world geometry to show with a data center, as world/"}},
	)
}

// dataCenterTable returns the options of a data center. Those for memory, the index and other
// machines are for all kinds.
func (f *SourceFlags) dataCenterTable() []Option {
	f.CacheSize, f.Layout = DefaultCacheSize, datacenter.LayoutAuto.String()
	only := []string{kinds.DataCenterName}
	return append([]Option{
		{Name: "key", Kinds: only, With: "iv", Value: &f.Key, Help: "data center `key`, 32 hex digits (default: the published ones)"},
		{Name: "iv", Kinds: only, With: "key", Value: &f.IV, Help: "data center `IV`, 32 hex digits (default: the published ones)"},
		{Name: "layout", Kinds: only, Typed: true, Words: LayoutWords, Value: &f.Layout, Help: "data center `layout`: " + cli.OrList(LayoutWords)},
		{Name: "cache-size", Value: &f.CacheSize, Help: "memory for inflated data"},
		{Name: "no-cache", Value: &f.NoCache, Help: "neither read nor write the index that makes the next start quick"},
	}, f.remote.Table()...)
}

// Parse returns the options that the flags set, without the file of --keys, so it finds
// mistakes before anything is opened. A command without the flags of a kind uses defaults.
func (f *SourceFlags) Parse() (*kinds.Options, error) {
	known := func(k *kinds.Kind) bool { return k.Name == f.Kind }
	if f.Kind != KindAuto && !slices.ContainsFunc(registry.All(), known) {
		return nil, cli.UsageErrorf("--kind %q is unknown: want %s", f.Kind, kindNames())
	}
	o := &kinds.Options{CacheSize: int64(f.CacheSize), NoIndex: f.NoCache, CacheBase: f.CacheBase, Pinned: f.Pinned}
	o.DataCenter.World, o.DataCenter.Whole, o.DataCenter.Once = f.World, f.ReadWhole, f.ReadOnce
	o.DataCenter.SizesLater = f.SizesLater
	layout, err := ParseLayout(f.Layout)
	if err != nil {
		return nil, err
	}
	if !f.layoutToWrite {
		o.DataCenter.Layout = layout
	}
	if o.Packets, err = f.packets.Parse(&f.Set); err != nil {
		return nil, err
	}
	o.Packets.Follow = f.Follow
	if o.Tables, err = f.tables(); err != nil {
		return nil, err
	}
	if f.Follow {
		// A host that is back is asked again soon, but not for each of the READs by which the
		// kernel tries to read a file.
		o.Remote.Failed = time.Second
	}
	if o.CASC, err = f.CASC.parse(&f.Set); err != nil {
		return nil, err
	}
	f.remote.Set(o)
	o.DataCenter.Keys, err = DataCenterKeys(&f.Set, f.Key, f.IV)
	return o, err
}

// Check finds mistakes in flags before anything is opened.
func (f *SourceFlags) Check() error {
	_, err := f.Parse()
	return err
}

// Options returns the options for opening a source.
func (f *SourceFlags) Options(log *slog.Logger, show func(done, total int64)) (*kinds.Options, error) {
	o, err := f.Parse()
	if err != nil {
		return nil, err
	}
	o.Logger, o.Progress = log, show
	if o.CASC.Storage.Keys, err = f.CASC.keyRing(&f.Set, log); err != nil {
		return o, err
	}
	o.CASC.CDN.ProductKeys, err = f.CASC.productKeys()
	return o, err
}

// LayoutWords are the values of --layout.
var LayoutWords = []string{
	datacenter.LayoutAuto.String(), datacenter.LayoutV3.String(), datacenter.LayoutV6X86.String(), datacenter.LayoutV6X64.String(),
}

// ParseLayout parses the value of --layout.
func ParseLayout(text string) (datacenter.Layout, error) {
	l, err := datacenter.ParseLayout(text)
	if err != nil {
		return l, cli.UsageErrorf("--layout %q is unknown: want %s", text, cli.OrList(LayoutWords))
	}
	return l, nil
}

// Reading returns the flags for reading a source that will be written in their layout, which
// may differ from its own.
func (f *SourceFlags) Reading() *SourceFlags {
	f.layoutToWrite = true
	return f
}

// DataCenterKeys returns the keys to try: the one that options of a command say, or else the
// published ones.
func DataCenterKeys(s *Set, key, iv string) ([]datacenter.Key, error) {
	if key == "" && iv == "" {
		return datacenter.DefaultKeys(), nil
	}
	k, err := KeySource{s.spelled("key"), s.spelled("iv"), key, iv}.Parse()
	if err != nil {
		return nil, err
	}
	return []datacenter.Key{k}, nil
}

// KeySource is a key and an IV, and the names of the flags or variables that have them.
type KeySource struct{ KeyName, IVName, Key, IV string }

// Parse returns the key.
func (s KeySource) Parse() (datacenter.Key, error) {
	switch {
	case s.Key == "":
		return datacenter.Key{}, cli.UsageErrorf("%s is given without a key: the two go together, 32 hex digits each", s.IVName)
	case s.IV == "":
		return datacenter.Key{}, cli.UsageErrorf("%s is given without an IV: the two go together, 32 hex digits each", s.KeyName)
	}
	k, err := datacenter.ParseKey(strings.TrimPrefix(s.KeyName, "$"), s.Key, s.IV)
	if err != nil {
		return k, cli.UsageErrorf("%s and %s have to be 32 hex digits each", s.KeyName, s.IVName)
	}
	return k, nil
}

// PacketFlags are the flags for recorded sessions and packet definitions.
type PacketFlags struct {
	Definitions string
	patch       string
	revision    string
	Platform    string
	Inline      bool
}

// Table returns the options of recorded sessions and packet definitions.
func (f *PacketFlags) Table() []Option {
	only := []string{kinds.PacketsName}
	return []Option{
		{Name: "definitions", Kinds: []string{kinds.PacketsName, kinds.TablesName, kinds.CASCName}, Path: true, Value: &f.Definitions, Help: "`folder` of packet definitions and maps, or of definitions of client tables (WoWDBDefs)"},
		{Name: "game-patch", Kinds: only, Value: &f.patch, Help: "`version` of the game, such as 98.02 (default: that of the revision in revisions.json, or the newest)"},
		{Name: "revision", Kinds: only, Value: &f.revision, Help: "client `revision`, which selects the map (default: that of the recorded session)"},
		{Name: "platform", Kinds: only, Value: &f.Platform, Help: "`platform` whose packet definitions precede those for all, such as console or classic (default: pc)"},
		{Name: "inline", Kinds: only, Value: &f.Inline, Help: "definitions that list no pointers have them where the fields stand, as in tera-proxy's (default: guessed for each)"},
	}
}

// Parse returns the options that the flags set.
func (f *PacketFlags) Parse(s *Set) (kinds.PacketOptions, error) {
	patch, err := parsePatch(s, f.patch)
	// Platforms are parts of file names, and any name is allowed.
	if _, ok := protocol.ParseFileName("NAME.1." + f.Platform + ".def"); err == nil && f.Platform != "" && !ok {
		err = cli.UsageErrorf("%s %q: want a name such as pc, console or classic", s.spelled("platform"), f.Platform)
	}
	return kinds.PacketOptions{
		Definitions: f.Definitions, Patch: patch, Revision: f.revision, Platform: f.Platform, Inline: f.Inline,
	}, err
}

func parsePatch(s *Set, text string) (protocol.Patch, error) {
	if text == "" {
		return 0, nil
	}
	p, err := protocol.ParsePatch(text)
	if err != nil {
		return 0, cli.UsageErrorf("%s %q: want a version of the game such as 98 or 98.02", s.spelled("game-patch"), text)
	}
	return p, nil
}

// QualityOption returns the option of the compression of world geometry.
func QualityOption(quality *int) Option {
	return Option{Name: "quality", Kinds: []string{kinds.DataCenterName, kinds.WorldName}, Value: quality, Help: HelpQuality}
}

// EditedKinds are the kinds of sources that can be edited.
var EditedKinds = KindsThat(func(k *kinds.Kind) bool { return k.Editable })

// KindsThat returns the names of the kinds with a property.
func KindsThat(have func(*kinds.Kind) bool) (names []string) {
	for _, k := range registry.All() {
		if have(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// HelpQuality is the help of --quality.
const HelpQuality = "`quality` of the compression of edited zones and areas, 1 to 11 (default: 11, which takes up to half a minute for a zone)"

// CheckQuality returns an error for a value that --quality can't have.
func CheckQuality(quality int) error {
	if quality < 0 || quality > 11 {
		return cli.UsageErrorf("--quality %d: want 1 to 11", quality)
	}
	return nil
}

// CASCFlags are the flags for CASC storages.
type CASCFlags struct {
	product   string
	Build     string
	CDN       string
	locale    string
	keys      string
	listFiles []string
	Missing   string
	// Side is 1 or 2 for one of two builds, which --build and --cdn name with a comma between
	// them; else it is 0.
	Side int
	// Unhidden shows what is not installed, whatever missing says. It has no flag.
	Unhidden bool
	// fill has zeros for blocks whose key is not known.
	fill bool
	CDNFlags
}

// Values of --missing.
const (
	MissingHide = "hide"
	MissingShow = "show"
)

func (f *CASCFlags) table() []Option {
	f.Missing = MissingHide
	only, withTables := []string{kinds.CASCName}, []string{kinds.CASCName, kinds.TablesName}
	return slices.Concat([]Option{
		{Name: "product", Kinds: only, Value: &f.product, Help: "`product` of a CASC storage with several, such as wow (default: the first active one)"},
		{Name: "build", Kinds: withTables, Value: &f.Build, Help: "`build` of a CASC storage with several: its version, its number or the key of its configuration (default: that of .build.info, the only one, or the latest); version of the game of client tables"},
		{Name: "cdn", Kinds: only, Value: &f.CDN, Help: "`key` of the CDN configuration of a CASC storage, 32 hex digits (default: that of the build)"},
		{Name: "locale", Kinds: withTables, Words: root.LocaleNames(), Value: &f.locale, Help: "`language` of a CASC storage, such as enUS: leave out files for others, but take enUS for what enGB has not, and ptBR for ptPT; of client tables, texts for others (default: all)"},
		{Name: "keys", Kinds: only, Path: true, Value: &f.keys, Help: "`file` of encryption keys of a CASC storage, of lines NAME KEY, or NAME.ak for a product that is all encrypted"},
		{Name: "listfile", Kinds: only, Path: true, Value: &f.listFiles, Help: "`file` of names for a CASC storage, of lines ID;NAME or NAME; may be given again"},
		{Name: "missing", Kinds: only, Words: []string{MissingHide, MissingShow}, Value: &f.Missing, Help: "`what` to do with files of a CASC storage whose data is not local: hide or show"},
		{Name: "fill-missing-keys", Kinds: only, Typed: true, Value: &f.fill, Help: "read files of a CASC storage that have blocks of unknown keys, with zeros for those blocks"},
	}, f.CDNFlags.table())
}

// parse returns the options that the flags set, without --keys.
func (f *CASCFlags) parse(s *Set) (o kinds.CASCOptions, err error) {
	o.Storage.Product, o.ListFiles, o.ShowMissing = f.product, f.listFiles, f.Unhidden || f.Missing == MissingShow
	o.Storage.FillMissingKeys = f.fill
	if f.locale != "" {
		if o.Storage.Locale, err = root.ParseLocale(f.locale); err != nil {
			return o, cli.UsageErrorf("%s %q is unknown: want one such as enUS", s.spelled("locale"), f.locale)
		}
	}
	if o.CDN, err = f.CDNFlags.parse(s); err != nil {
		return o, err
	}
	build := ""
	if build, o.CDN.CDN, err = f.configurations(s); err != nil {
		return o, err
	}
	SetBuild(&o, build)
	if o.CDN.CDN != "" {
		if o.Storage.CDNKey, err = keys.Parse(o.CDN.CDN); err != nil {
			return o, cli.UsageErrorf("%s %q: want a key of 32 hex digits", s.spelled("cdn"), o.CDN.CDN)
		}
	}
	switch f.Missing {
	case "", MissingHide, MissingShow:
		return o, nil
	}
	return o, cli.UsageErrorf("%s %q is unknown: want hide or show", s.spelled("missing"), f.Missing)
}

// SetBuild has options open a build, as --build names it.
func SetBuild(o *kinds.CASCOptions, build string) {
	var err error
	o.CDN.Build, o.Storage.BuildName = build, ""
	if o.Storage.BuildKey, err = keys.Parse(build); err != nil {
		o.Storage.BuildName = build
	}
	if strings.EqualFold(build, "latest") {
		o.CDN.Build = "" // the default
	}
}

// configurations returns what --build and --cdn say or, of two builds, what they say of the one
// that is meant.
func (f *CASCFlags) configurations(s *Set) (build, cdn string, err error) {
	texts := []string{f.Build, f.CDN}
	for i, name := range []string{"build", "cdn"} {
		old, now, two := strings.Cut(texts[i], ",")
		switch {
		case !two:
		case f.Side == 0:
			return "", "", cli.UsageErrorf("%s %q: only lorefs diff takes two", s.spelled(name), texts[i])
		case old == "", now == "", strings.Contains(now, ","):
			return "", "", cli.UsageErrorf("%s %q: want one, or OLD,NEW", s.spelled(name), texts[i])
		case f.Side == 1:
			texts[i] = old
		default:
			texts[i] = now
		}
	}
	return texts[0], texts[1], nil
}

// gameBuild returns what --build says if it is a version of the game. ok is true for that, and if it
// says nothing.
func (f *CASCFlags) gameBuild(s *Set) (b dbd.Build, ok bool) {
	text, _, err := f.configurations(s)
	b, ok = dbd.ParseBuild(text)
	return b, ok || err == nil && text == ""
}

// keyRing reads the file of --keys. It returns nil if there is none. Lines without a key are told of,
// as other lists have them too.
func (f *CASCFlags) keyRing(s *Set, log *slog.Logger) (blte.KeyRing, error) {
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
		return nil, cli.UsageErrorf("%s %s: %w", s.spelled("keys"), f.keys, err)
	}
	if bad > 0 {
		log.Warn("lines of the list of keys are left out", "file", f.keys, "lines", bad, "err", first)
	}
	return keys, nil
}
