package mods

import (
	"fmt"

	"lorefs/cmd/internal/cli"
	"lorefs/datacenter/patch"
	"lorefs/internal/shown"
)

// Line describes what patches share in a line, and who won. names are those of the patches.
func Line(s *patch.Shared, names []string) string {
	text := s.Describe(names)
	switch s.Sharing {
	case patch.Agreed:
		return text + ": they agree"
	case patch.Preferred:
		return text + ": " + names[s.Winner] + " is preferred"
	case patch.Unfit:
		return text + ": none fits"
	default:
		return text
	}
}

// Item is what patches share, as --json prints it.
type Item struct {
	Shared string `json:"shared"`
	// Name of an attribute, or %keys or %flags.
	Name    string `json:"name,omitempty"`
	Sharing string `json:"sharing"`
	Wants   []Want `json:"wants"`
	// Winner is the patch whose value stands, if there is one.
	Winner string `json:"winner,omitempty"`
}

// Want is what a patch wants, as --json prints it.
type Want struct {
	Patch string `json:"patch"`
	Line  int    `json:"line"`
	Value string `json:"value"`
	Fits  bool   `json:"fits"`
}

// ItemOf returns what --json prints.
func ItemOf(s *patch.Shared, patches []*patch.Patch) Item {
	it := Item{Shared: s.Path, Name: s.Name, Sharing: s.Sharing.String()}
	for _, w := range s.Wants {
		it.Wants = append(it.Wants, Want{patches[w.Patch].Name, w.Line, w.Value, w.Fits})
	}
	if s.Winner >= 0 {
		it.Winner = patches[s.Winner].Name
	}
	return it
}

// Undecided is the error of values that patches want to be different, and of which nobody decides.
func Undecided(s *patch.Settlement, hint string) error {
	return &cli.Error{
		Code: cli.ExitFailure, Hint: hint,
		Err: fmt.Errorf("%s between the patches; nothing was changed", shown.Plural(s.Contested, "conflict")),
	}
}

// Counts says what came of a patch or, of a dry run, what would.
func Counts(r *patch.Result, dryRun bool) string {
	would := ""
	if dryRun {
		would = "would be "
	}
	text := fmt.Sprintf("%s %sapplied, %d already there, %s", shown.Plural(r.Applied, "change"), would, r.Already, shown.Plural(r.Conflicts, "conflict"))
	if r.Yielded > 0 {
		text += fmt.Sprintf(", %d yielded to other patches", r.Yielded)
	}
	return text
}
