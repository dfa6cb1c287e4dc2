package main

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
)

// crashSheets are the sheets that are edited as texts, with the attribute in tree/ that changes.
// The last one does not exist at first.
var crashSheets = map[string]string{
	"sheets/ItemData/ItemData-00000.xml": "tree/ItemData/Item/name",
	"sheets/ItemData/ItemData-00001.xml": "tree/ItemData.1/Item/name",
	crashLastSheet:                       "tree/ItemData.5/Item/name",
	crashMadeSheet:                       "tree/Crash/name",
}

const (
	crashMadeSheet = "sheets/Crash/Crash-00000.xml"
	// crashMoreSheet is made for a moment, to replace crashMadeSheet. crashMoreNode begins its
	// files in tree/.
	crashMoreSheet = "sheets/Crash/Crash-00001.xml"
	crashMoreNode  = "tree/Crash.1"
	// crashLastSheet has the last number of its kind. It gets the next one now and then, which a
	// save takes back.
	crashLastSheet = "sheets/ItemData/ItemData-00005.xml"
	crashNextSheet = "sheets/ItemData/ItemData-00006.xml"
)

// lastSheet returns the name that a sheet has in a mount.
func lastSheet(mnt, name string) string {
	if name == crashLastSheet {
		if _, err := os.Lstat(filepath.Join(mnt, crashNextSheet)); err == nil {
			return crashNextSheet
		}
	}
	return name
}

// readSheets reads the sheets that are edited.
func readSheets(mnt string) (map[string]string, error) {
	texts := map[string]string{}
	for name := range crashSheets {
		b, err := os.ReadFile(filepath.Join(mnt, lastSheet(mnt, name)))
		if name == crashMadeSheet {
			b, err = []byte(`<Crash name="" />`), nil
		}
		if err != nil {
			return nil, err
		}
		texts[name] = string(b)
	}
	return texts, nil
}

// firstName precedes the value that is edited in a sheet.
const firstName = ` name="`

// sheet sets the first name in a sheet, or makes or removes one.
func (e *editor) sheet() error {
	names := slices.Sorted(maps.Keys(e.sheets))
	name := names[e.r.IntN(len(names))]
	before, behind, _ := strings.Cut(e.sheets[name], firstName)
	_, behind, _ = strings.Cut(behind, `"`)
	value := fmt.Sprintf("v%d.%d", e.seed, e.n)
	text := before + firstName + value + `"` + behind
	switch name {
	case crashMadeSheet:
		return e.madeSheet(value, text)
	case crashLastSheet:
		if e.r.IntN(2) == 0 {
			return e.renumber()
		}
		// What is done is told by the one name.
		fmt.Println("begin", name, value)
		file := filepath.Join(e.dir, lastSheet(e.dir, name))
		if err := e.replaceText(file, text); err != nil {
			return err
		}
		e.done(filepath.Join(e.dir, name))
		return nil
	}
	return e.write(name, value, text, e.emptyFirst)
}

// replaceText writes a text by a name of no sheet, and renames that.
func (e *editor) replaceText(file, text string) error {
	temp := filepath.Join(filepath.Dir(file), fmt.Sprintf("%s%d_%d", sedTemp, e.seed, e.n))
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, file)
}

// renumber gives the last sheet another number, by which it holds the same.
func (e *editor) renumber() error {
	from := lastSheet(e.dir, crashLastSheet)
	to := crashNextSheet
	if from == to {
		to = crashLastSheet
	}
	text, err := os.ReadFile(filepath.Join(e.dir, from))
	if err != nil {
		return err
	}
	fmt.Println("begin", crashLastSheet, nameIn(string(text)))
	if err := os.Rename(filepath.Join(e.dir, from), filepath.Join(e.dir, to)); err != nil {
		return err
	}
	e.done(filepath.Join(e.dir, crashLastSheet))
	return nil
}

// madeSheet makes a sheet, has another one take its place, or removes it.
func (e *editor) madeSheet(value, text string) error {
	file, more := filepath.Join(e.dir, crashMadeSheet), filepath.Join(e.dir, crashMoreSheet)
	_, err := os.Lstat(file)
	switch {
	case err == nil && e.r.IntN(2) == 0:
		fmt.Println("begin", crashMadeSheet, value)
		if err := os.WriteFile(more, []byte(text), 0o600); err != nil {
			return err
		}
		if err := os.Rename(more, file); err != nil {
			return err
		}
		e.done(file)
		return nil
	case err == nil:
		if err := os.Remove(more); err != nil && !errors.Is(err, iofs.ErrNotExist) { // it would get the first number
			return err
		}
		fmt.Println("begin", crashMadeSheet)
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			return err
		}
		e.done(file)
		return nil
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	fmt.Println("begin", crashMadeSheet, value)
	return []func(string, string) error{e.echo, e.syncTwice}[e.r.IntN(2)](file, text)
}

// crashedSheets is a data center that crashes while its sheets are edited as texts.
type crashedSheets struct{ crashedDataCenter }

func (d *crashedSheets) sheetTexts()     {}
func (d *crashedSheets) names() []string { return slices.Sorted(maps.Keys(crashSheets)) }

func (d *crashedSheets) nameIn(mnt, name string) string { return lastSheet(mnt, name) }

func (d *crashedSheets) value(text string) string { return nameIn(text) }

// nameIn returns the first name in a sheet.
func nameIn(text string) string {
	_, behind, _ := strings.Cut(text, firstName)
	value, _, _ := strings.Cut(behind, `"`)
	return value
}

func (d *crashedSheets) values() map[string]string {
	all, values := d.contents(), map[string]string{}
	for name, attribute := range crashSheets {
		values[name] = all[attribute]
	}
	return values
}

func (d *crashedSheets) unchanged() {
	edited := slices.Collect(maps.Values(crashSheets))
	d.unchangedBut(append(edited, path.Dir(crashSheets[crashMadeSheet])))
}

// TestCrashSheets is TestCrash for sheets that are edited as texts.
func TestCrashSheets(t *testing.T) {
	d := newCrashedSheets(t)
	d.run(d, testneeds.Cases(5, 25, 300))
}

// TestCrashCommitSheets is TestCrashCommit for sheets that are edited as texts.
func TestCrashCommitSheets(t *testing.T) {
	d := newCrashedSheets(t)
	d.runCommits(d, testneeds.Cases(2, 6, 300))
}

func newCrashedSheets(t *testing.T) *crashedSheets {
	t.Helper()
	d := &crashedSheets{crashedDataCenter{crash: newCrash(t, "DataCenter_Final_Sample.dat")}}
	d.original = d.contents()
	return d
}
