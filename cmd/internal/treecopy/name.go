package treecopy

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// checkName returns an error for a path that this system can't have. Windows would drop dots
// and spaces at the end of a name, so that two files may become one.
func checkName(name string) error {
	if runtime.GOOS != "windows" || name == "." {
		return nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !filepath.IsLocal(part) || strings.TrimRight(part, ". ") != part || strings.ContainsFunc(part, notOnWindows) {
			return fmt.Errorf("no file can have the name %q on Windows", part)
		}
	}
	return nil
}

func notOnWindows(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r) }
