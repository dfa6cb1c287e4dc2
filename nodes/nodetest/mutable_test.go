package nodetest_test

import (
	"fmt"
	"strings"
	"testing"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// numbersOnly accepts decimal numbers, and anything for names that begin with a dot.
func numbersOnly(name string, content []byte) error {
	text := strings.TrimSuffix(string(content), "\n")
	if !strings.HasPrefix(name, ".") && (text == "" || strings.Trim(text, "0123456789") != "") {
		return fmt.Errorf("%q is no number: %w", content, nodes.ErrInvalid)
	}
	return nil
}

func TestMutable(t *testing.T) {
	edits := nodetest.Edits{Dir: []string{"a", "b"}, Files: [2]string{"x", "y"}, Dirs: [2]string{"d", "e"}, Valid: [2]string{"1002\n", "7\n"}}
	open := func(*testing.T) nodes.Mutable { return nodetest.NewMutable(map[string]string{"a/b/": "", "a/z": "z"}) }
	nodetest.RunMutable(t, open, edits)
	t.Run("strict", func(t *testing.T) {
		edits.Invalid = "seven\n"
		nodetest.RunMutable(t, func(*testing.T) nodes.Mutable {
			m := nodetest.NewMutable(map[string]string{"a/b/": ""})
			m.Valid = numbersOnly
			return m
		}, edits)
	})
}

func TestMutableIsATree(t *testing.T) {
	nodetest.Run(t, nodetest.NewMutable(map[string]string{"a/b/c": "text", "a/d": "", "e/": "", "f": "more"}))
}
