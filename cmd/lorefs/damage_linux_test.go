package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/internal/testneeds"
)

const (
	// damagesVar sets how often TestJournalDamage damages a journal.
	// damagesSeedVar repeats an earlier run.
	damagesVar     = "LOREFS_JOURNAL_DAMAGES"
	damagesSeedVar = "LOREFS_JOURNAL_DAMAGES_SEED"
	syncedEdits    = 20
)

// TestJournalDamage damages the journal that a killed mount has left, with edits that were
// synced, each time in another way. Either all edits are saved, or none is, the exit code
// says so, and the journal is kept.
func TestJournalDamage(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.t.Cleanup(func() { detachBelow(filepath.Dir(x.mnt)) })
	d := &damagedJournal{trouble: x}
	d.make()
	seed := uint64(fromEnvironment(t, damagesSeedVar, 1))
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range int(fromEnvironment(t, damagesVar, int64(testneeds.Cases(8, 16, 200)))) {
		what, broken := d.damage(r, i)
		d.check(fmt.Sprintf("damage %d, %s", i, what), broken, i%4 == 3)
	}
	t.Logf("%d times all was saved, %d times nothing, of which %d times a part was salvaged", d.whole, d.refused, d.salvaged)
	if d.refused == 0 || d.salvaged == 0 {
		t.Error("nothing was refused, or nothing salvaged")
	}
}

// damagedJournal is a source and the journal of its edits.
type damagedJournal struct {
	*trouble
	// journal is the path of the journal, and synced its content.
	journal string
	synced  []byte
	// Counts of what happened.
	whole, refused, salvaged int
}

// editName returns the name of the attribute that an edit makes. Each makes its own, since edits
// of one value would be listed as one.
func editName(edit int) string { return fmt.Sprintf("edit%02d", edit) }

// edits returns the number of edits that a source has. If these are not the first ones, it
// returns -1.
func (d *damagedJournal) edits(source []byte) (count int) {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "a.dat")
	if err := os.WriteFile(path, source, 0o600); err != nil {
		d.t.Fatal(err)
	}
	names := strings.Fields(d.lorefs(cli.ExitOK, "ls", path, "tree/"+filepath.Dir(troubledFile)))
	for i := range syncedEdits {
		switch {
		case !slices.Contains(names, editName(i+1)):
		case count != i:
			return -1
		default:
			count++
		}
	}
	return count
}

// make edits through a mount, syncs each edit, and kills the process.
func (d *damagedJournal) make() {
	d.t.Helper()
	d.put(d.original)
	mount := launch(d.t, "lorefs", "mount", "-f", "--rw", d.path, d.mnt)
	dir := filepath.Join(d.mnt, "tree", filepath.Dir(troubledFile))
	await(d.t.Fatalf, "the mount", func() bool {
		_, line, err := mounted.Talk(d.mnt, daemon.Request{Do: daemon.Status}, nil)
		return err == nil && line.Close() == nil
	})
	for i := range syncedEdits {
		f, err := os.OpenFile(filepath.Join(dir, editName(i+1)), os.O_WRONLY|os.O_CREATE, 0o600)
		if err := fill(f, "value", err); err != nil {
			d.t.Fatal(err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := mount.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
	_ = mount.wait() // it was killed
	clearDead(d.t, d.mnt)
	journals, err := filepath.Glob(filepath.Join(d.state, "lorefs", "journal", "*.journal"))
	if err != nil || len(journals) != 1 {
		d.t.Fatalf("journals: %q, %v", journals, err)
	}
	d.journal = journals[0]
	if d.synced, err = os.ReadFile(d.journal); err != nil {
		d.t.Fatal(err)
	}
}

// damage flips bits, cuts off the end, or zeroes a range; half the time among the records,
// which are at the end.
func (d *damagedJournal) damage(r *rand.Rand, i int) (string, []byte) {
	b := slices.Clone(d.synced)
	const records = 600
	from := r.IntN(len(b))
	if r.IntN(2) == 0 {
		from = len(b) - 1 - r.IntN(min(records, len(b)))
	}
	switch i % 3 {
	case 0:
		b[from] ^= 1 << r.IntN(8)
		return fmt.Sprintf("byte %d flipped", from), b
	case 1:
		return fmt.Sprintf("cut to %d bytes", from), b[:from]
	}
	to := from + 1 + r.IntN(len(b)-from)
	clear(b[from:to])
	return fmt.Sprintf("zeros from %d to %d", from, to), b
}

// listed matches the number of edits of a damaged journal that are intact, and the number of
// unreadable bytes. It has none if it is only unknown whether there were more edits.
var listed = regexp.MustCompile(`(?m)^damaged +([0-9]+) edits?( \([1-9][0-9]* bytes unreadable\))?  `)

// check treats a damaged journal as its owner might: it mounts it, or replays it.
func (d *damagedJournal) check(what string, broken []byte, mount bool) {
	d.t.Helper()
	d.put(d.original)
	if err := os.WriteFile(d.journal, broken, 0o600); err != nil {
		d.t.Fatal(err)
	}
	list := d.lorefs(cli.ExitOK, "journal", "list")
	code := d.save(mount)
	source, err := os.ReadFile(d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	switch code {
	case cli.ExitOK:
		d.whole++
		if got := d.edits(source); got != syncedEdits {
			d.t.Errorf("%s: all is well, it says, and there are %d edits", what, got)
		}
	case cli.ExitUnsaved:
		d.refused++
		if !bytes.Equal(source, d.original) {
			d.t.Errorf("%s: the source was changed", what)
		}
		d.wantKept(what, d.journal, broken)
		d.salvage(what, broken, list)
	default:
		d.t.Errorf("%s: exit code %d", what, code)
	}
	d.clean()
}

// save saves the edits of the journal, and returns the exit code.
func (d *damagedJournal) save(mount bool) int {
	d.t.Helper()
	if !mount {
		return d.exitCode("journal", "replay", d.path)
	}
	if code := d.exitCode("mount", "--rw", d.path, d.mnt); code != cli.ExitOK {
		return code
	}
	return d.exitCode("unmount", d.mnt)
}

func (d *damagedJournal) exitCode(args ...string) int {
	d.t.Helper()
	err := exec.CommandContext(d.t.Context(), "lorefs", args...).Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return cli.ExitOK
}

// salvage salvages the edits of a journal that was listed.
func (d *damagedJournal) salvage(what string, broken []byte, list string) {
	d.t.Helper()
	found := listed.FindStringSubmatch(list)
	if found == nil || found[2] == "" && !strings.Contains(list, "more may be missing at the end") {
		d.t.Errorf("%s: it is listed as %s", what, list)
		return
	}
	edits, err := strconv.Atoi(found[1])
	if err != nil {
		d.t.Fatal(err)
	}
	code := d.exitCode("journal", "replay", "--salvage", d.path)
	source, err := os.ReadFile(d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	if got := d.edits(source); got != edits || (code == cli.ExitOK) != (edits > 0) {
		d.t.Errorf("%s: salvaged %d edits with exit code %d, but %d were listed", what, got, code, edits)
	}
	if edits > 0 {
		d.salvaged++
	}
	if kept, err := filepath.Glob(d.journal + ".damaged"); err != nil || len(kept) == 0 {
		d.wantKept(what, d.journal, broken) // none of it can be read
		return
	}
	d.wantKept(what, d.journal+".damaged", broken)
}

func (d *damagedJournal) wantKept(what, path string, want []byte) {
	d.t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		d.t.Errorf("%s: %s is not what is left of the journal: %v", what, filepath.Base(path), err)
	}
}

// clean removes what the last round has left.
func (d *damagedJournal) clean() {
	d.t.Helper()
	left, err := filepath.Glob(d.journal + "*")
	for _, path := range append(left, d.path+".bak") {
		if rmErr := os.Remove(path); !errors.Is(rmErr, os.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}
	if err != nil {
		d.t.Fatal(err)
	}
}
