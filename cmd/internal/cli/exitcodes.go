package cli

// Exit codes. Scripts rely on them, so they don't change.
const (
	ExitOK = 0
	// ExitFailure means that the command could not do everything, or what ExitMeanings says of
	// single commands.
	ExitFailure = 1
	// ExitUsage means a wrong flag or argument; diff, whose 1 means a difference, has it for
	// every failure without a code of its own.
	ExitUsage = 2
	// ExitSource means that the source does not exist, or is damaged.
	ExitSource = 3
	// ExitUnknown means that no key opens the source, or that it is nothing that lorefs knows.
	ExitUnknown = 4
	// ExitMountpoint means that the mount point can't be used.
	ExitMountpoint = 5
	// ExitBusy means that the mount is in use and was not unmounted, or that somebody else
	// edits the source.
	ExitBusy = 6
	// ExitUnsaved means that something was not saved, or edits could not be replayed. The
	// message says where they are kept.
	ExitUnsaved = 7
	// ExitInterrupted means that a signal ended the command early.
	ExitInterrupted = 130
)

// ExitMeaning explains an exit code to users, in Markdown.
type ExitMeaning struct {
	Code  int
	Means string
}

// ExitMeanings returns the table of exit codes, which the man pages and the guide to JSON
// show.
func ExitMeanings() []ExitMeaning {
	return []ExitMeaning{
		{ExitOK, "done"},
		{ExitFailure, "lorefs could not do everything, or could not write the output. It also means that " +
			"`verify` or `validate` found something, that `diff` found a difference, that `query` " +
			"found nothing, that patches conflict, or that nothing is edited (`revert`)"},
		{ExitUsage, "a wrong flag or argument; `diff` also where other commands exit with 1"},
		{ExitSource, "the source is not there, or is damaged"},
		{ExitUnknown, "no key opens the source, or it is nothing that lorefs knows"},
		{ExitMountpoint, "the mount point can't be used"},
		{ExitBusy, "the mount is in use, or somebody else edits the source"},
		{ExitUnsaved, "something was not saved; the message says where it is"},
		{ExitInterrupted, "interrupted by SIGINT, SIGTERM or SIGHUP; a mount that is up ends with 0 or 7 then"},
	}
}
