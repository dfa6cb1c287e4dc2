package resource

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName is the longest name that file systems have, in bytes.
const maxName = 255

// notInNames are the characters that lead to another folder on some system.
const notInNames = `/\:`

// CheckName returns an error unless a name is one of a file in a folder, on any system.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a file without a name")
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes: want up to %d", len(name), maxName)
	case name == "." || name == "..":
		return fmt.Errorf("the name %q: want one of a file", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name %q: want UTF-8", name)
	case strings.ContainsAny(name, notInNames):
		return fmt.Errorf(`the name %q: want one without / \ :, since files are in no folder`, name)
	case strings.ContainsFunc(name, isControl):
		return fmt.Errorf("the name %q: want one without control characters", name)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' }

// windowsName returns what keeps Windows from having a file of a name, or "".
func windowsName(name string) string {
	if i := strings.IndexAny(name, `<>"|?*`); i >= 0 {
		return fmt.Sprintf("it has a %c", name[i])
	}
	if strings.TrimRight(name, ". ") != name {
		return "it ends in a dot or a space"
	}
	return ""
}
