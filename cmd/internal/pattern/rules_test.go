package pattern_test

import (
	"strings"
	"testing"

	"lorefs/cmd/internal/pattern"
)

// TestRules has the examples of rclone's manual, and some of its order.
func TestRules(t *testing.T) {
	for _, test := range []struct{ rules, yes, no string }{
		{"", "a a/b", ""},
		{"+file.jpg", "file.jpg dir/file.jpg", "afile.jpg dir/afile.jpg file.jpg/x"},
		{"+/file.jpg", "file.jpg", "afile.jpg dir/file.jpg"},
		{"+*.jpg", "file.jpg dir/file.jpg", "file.png"},
		{"+/*.jpg", "file.jpg", "dir/file.jpg file.png"},
		{"+*.{jpg,png}", "file.jpg dir/file.png", "file.gif"},
		{"+dir/**", "dir/any sub/dir/subsub/any", "dir any sub/any"},
		{"+*.t?t", "file.txt dir/file.tzt", "file.qxt dir/file.png"},
		{"+*.[a-z]", "file.a dir/file.b", "file.0 dir/file.1"},
		{"+a/*.jpg", "a/x.jpg b/a/x.jpg", "x.jpg a/b/x.jpg ba/x.jpg"},
		{"+/a/**.jpg", "a/x.jpg a/b/x.jpg", "b/a/x.jpg x.jpg"},
		{"-*.bak", "a a/b", "a.bak a/b.bak"},
		{"-/dir/**", "a a/dir/b dir", "dir/a dir/b/c"},
		{"-dir/", "a dir", "dir/a a/dir/b/c"},
		{"+/dir/", "dir/a dir/b/c", "dir a a/dir/b"},
		{"-secret* +*.txt", "a.txt a/b.txt", "secret.txt a/secret.txt a.png"},
		{"+*.txt -secret*", "a.txt secret.txt", "secret.png a.png"},
		{"-/a/b/ +/a/", "a/x a/c/x", "a/b/x b/x x"},
		{"+/a/b/x -/a/", "a/b/x", "a/x a/b/y b/x"},
		{"-*", "", "a a/b"},
		{"+x -**", "x a/x", "a a/b"},
	} {
		var r pattern.Rules
		for text := range strings.FieldsSeq(test.rules) {
			if err := r.Add(text[1:], text[0] == '+', false); err != nil {
				t.Fatal(err)
			}
		}
		for name := range strings.FieldsSeq(test.yes) {
			if !r.File(name) {
				t.Errorf("%s leaves out %s", test.rules, name)
			}
			for i, c := range name {
				if c == '/' && !r.Dir(name[:i]) {
					t.Errorf("%s does not enter %s", test.rules, name[:i])
				}
			}
		}
		for name := range strings.FieldsSeq(test.no) {
			if r.File(name) {
				t.Errorf("%s takes %s", test.rules, name)
			}
		}
	}
}

// TestRulesPrune checks that directories of which nothing is taken are not walked.
func TestRulesPrune(t *testing.T) {
	for _, test := range []struct{ rules, yes, no string }{
		{"+/a/*.txt", "a", "b a/b"},
		{"-dir/", "a a/b", "dir a/dir a/dir/b"},
		{"-*/x/** +/b/", "b", "a/x b/x/y c"},
		{"-**", "", "a a/b"},
		{"+/a/b/c -/a/", "a a/b", "a/c a/b/d b"},
	} {
		var r pattern.Rules
		for text := range strings.FieldsSeq(test.rules) {
			if err := r.Add(text[1:], text[0] == '+', false); err != nil {
				t.Fatal(err)
			}
		}
		for dir := range strings.FieldsSeq(test.yes) {
			if !r.Dir(dir) {
				t.Errorf("%s does not enter %s", test.rules, dir)
			}
		}
		for dir := range strings.FieldsSeq(test.no) {
			if r.Dir(dir) {
				t.Errorf("%s enters %s", test.rules, dir)
			}
		}
	}
}
