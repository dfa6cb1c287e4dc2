package options

import (
	"time"

	"github.com/spf13/pflag"
)

// MountFlags are the flags of mount.
type MountFlags struct {
	Source     SourceFlags
	Foreground bool
	AllowOther bool
	ReadWrite  bool
	NoBackup   bool
	Quality    int
	LogFile    string
	Mkdir      bool
	Idle       time.Duration
	UID, GID   ID
	Umask      Mode
	Lists      []string
	AsJSON     bool
}

// Add adds the flags to those of a command.
func (f *MountFlags) Add(flags *pflag.FlagSet) {
	f.Source.Add(flags)
	f.Source.AddTo(flags, f.table())
	flags.BoolVarP(&f.Foreground, "foreground", "f", false, "stay in the foreground until unmounted")
	flags.StringArrayVarP(&f.Lists, "options", "o", nil, "`options` as mount(8) passes them, such as ro,cache_size=64M; write \\, for a comma in a value")
}

// table returns the options of a mount besides its source.
func (f *MountFlags) table() []Option {
	return []Option{
		{Name: "allow-other", Value: &f.AllowOther, Help: "let other users see the mount"},
		{Name: "rw", listed: listedEdit, Typed: true, Value: &f.ReadWrite, Help: "make the files editable; unmounting saves the edits"},
		{Name: "no-backup", Kinds: EditedKinds, Value: &f.NoBackup, Help: "with --rw, do not keep the old source as NAME.bak"},
		QualityOption(&f.Quality),
		{Name: "mkdir", Value: &f.Mkdir, Help: "make MOUNTPOINT if it is missing, and remove at the end what was made"},
		{Name: "idle", Value: &f.Idle, Help: "unmount after this `time` without use, such as 15m, once nothing is open; what was edited is saved first, and if that fails it stays mounted"},
		{Name: "uid", Value: &f.UID, Help: "`number` of the user whom all files belong to (default: yours); for --allow-other"},
		{Name: "gid", Value: &f.GID, Help: "`number` of the group that all files belong to (default: yours)"},
		{Name: "umask", Value: &f.Umask, Help: "permissions that no file has, an octal `mode` (default: 022)"},
		{Name: "log-file", Path: true, made: true, Value: &f.LogFile, Help: "append errors of the mount to this `file`"},
	}
}

// listedEdit is the name of --rw in -o. mount(8) passes rw to every file system that is not
// ro, so that can't be it.
const listedEdit = "edit"
