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
	crashMadeSheet:                       "tree/Crash/name",
}

const crashMadeSheet = "sheets/Crash/Crash-00000.xml"

// readSheets reads the sheets that are edited.
func readSheets(mnt string) (map[string]string, error) {
	texts := map[string]string{}
	for name := range crashSheets {
		b, err := os.ReadFile(filepath.Join(mnt, name))
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
	file := filepath.Join(e.dir, name)
	before, behind, _ := strings.Cut(e.sheets[name], firstName)
	_, behind, _ = strings.Cut(behind, `"`)
	value := fmt.Sprintf("v%d.%d", e.seed, e.n)
	text := before + firstName + value + `"` + behind
	switch _, err := os.Lstat(file); {
	case name != crashMadeSheet:
		return e.write(name, value, text, e.emptyFirst)
	case err == nil:
		fmt.Println("begin", name)
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			return err
		}
		e.done(file)
		return nil
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	fmt.Println("begin", name, value)
	return e.echo(file, text)
}

// crashedSheets is a data center that crashes while its sheets are edited as texts.
type crashedSheets struct{ crashedDataCenter }

func (d *crashedSheets) sheetTexts()     {}
func (d *crashedSheets) names() []string { return slices.Sorted(maps.Keys(crashSheets)) }

func (d *crashedSheets) value(text string) string {
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
