package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/filing"
	"lorefs/cmd/internal/following"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/mods"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/parts"
	"lorefs/cmd/internal/refs"
	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/tally"
	"lorefs/datacenter/diff"
	"lorefs/internal/jsonout/jsontest"
	"lorefs/nodes/worldtree"
)

// cmdValid runs "valid DEFINITION". It checks that the output of the last command, of which there
// has to be some, is as the schema says.
func cmdValid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: valid DEFINITION")
	}
	out := ts.ReadFile("stdout")
	if out == "" {
		ts.Fatalf("nothing was printed")
	}
	ts.Check(jsontest.Output(args[0], []byte(out)))
}

// withoutJSON are the commands that print no report, or nothing but one of a form of its own.
var withoutJSON = []string{
	"cat", "completion_bash", "completion_fish", "completion_powershell", "completion_zsh", "decode", "encode", "help", "journal", "man", "patch",
}

// TestJSONOfCommands checks that every command that prints has --json, that the schema has its
// definition, and that a script holds its output against that.
func TestJSONOfCommands(t *testing.T) {
	names, err := jsontest.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, dir := range []string{"script", "mountscript"} {
		text, err := os.ReadFile(filepath.Join("testdata", dir, "json"+strings.TrimSuffix(dir, "script")+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "valid "); ok {
				tried[strings.TrimSpace(name)] = true
			}
		}
	}
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "lorefs "), " ", "_")
		has := c.Flags().Lookup("json") != nil
		switch {
		case !c.Runnable() || c == root:
		case has == slices.Contains(withoutJSON, name):
			t.Errorf("%s: that it has --json is %v", name, has)
		case has && !slices.Contains(names, name):
			t.Errorf("%s has no definition", name)
		case has && !tried[name]:
			t.Errorf("no script holds the output of %s against its definition", name)
		}
	}
	check(root)
}

// TestJSONStructs checks that the schema has the members of what is printed.
func TestJSONStructs(t *testing.T) {
	for name, v := range map[string]any{
		"amended": amended{}, "apply_folder": appliedFolder{}, "apply_part": appliedItem{}, "apply_not_saved": unsavedPatches{}, "difference": diff.Difference{}, "place_count": tally.Place{}, "edit_undone": following.Undone{}, "edits_saved": following.Saved{}, "not_compared": parts.NotCompared{}, "export_planned": filing.PlannedFile{}, "export_written": filing.Filed{},
		"info_folder": heldSources{}, "journal_drop": droppedJournal{}, "journal_list": save.Journal{}, "ls": jsonEntry{}, "pack_data_center": packedSheets{}, "pack_folder": packedFolder{},
		"pack_world": packedWorld{}, "query_count": jsonCount{}, "query_match": jsonMatch{}, "refs": refs.Ref{}, "repack": cli.WrittenFile{},
		"sample": sampleFile{}, "saved": cli.EditsOutcome{}, "shared": mods.Item{}, "want": mods.Want{}, "build": mods.Report{}, "build_conflict": mods.Conflict{}, "built_patch": mods.BuiltPatch{}, "patch_merge": mods.MergedPatch{}, "unmerged": mods.Unmerged{}, "remote": kinds.RemoteStatus{}, "remote_host": kinds.HostStatus{}, "status": mounted.Status{}, "fetch": casckind.Fetched{}, "validate": jsonProblem{},
		"version": jsonVersion{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
	// What was and what is are JSON already.
	if err := jsontest.Struct("world_edit", worldtree.Edit{}); err != nil {
		t.Error(err)
	}
}
