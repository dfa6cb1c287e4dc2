package pattern

import "strings"

// Rules select files by patterns as rclone does: the first rule that matches a path decides. If
// none does, the file is taken, unless there is a rule that includes.
//
// A pattern that begins with a slash is for whole paths; any other is for the end of a path, from
// a name on. One that ends with a slash is for all that is in the directory. The zero value takes
// everything. Rules are safe for parallel use, but not while Add is called.
type Rules struct {
	rules    []rule
	includes bool
}

type rule struct {
	include bool
	files   *Pattern
	// dirs matches directories of which the rule is for everything; nil if there are none.
	dirs *Pattern
}

// Add adds a rule behind the others. With fold it ignores case.
func (r *Rules) Add(text string, include, fold bool) error {
	if strings.HasSuffix(text, "/") {
		text += "**"
	}
	if !strings.HasPrefix(text, "/") {
		text = "**/" + text
	}
	x := rule{include: include}
	var err error
	if x.files, err = Compile(text, fold); err != nil {
		return err
	}
	if dir, ok := strings.CutSuffix(text, "/**"); ok {
		if x.dirs, err = Compile(dir, fold); err != nil {
			return err
		}
	}
	r.rules = append(r.rules, x)
	r.includes = r.includes || include
	return nil
}

// File tells whether a file is taken.
func (r *Rules) File(path string) bool {
	for _, x := range r.rules {
		if x.files.Match(path) {
			return x.include
		}
	}
	return !r.includes
}

// Dir tells whether something in a directory may be taken.
func (r *Rules) Dir(path string) bool {
	for _, x := range r.rules {
		switch {
		case x.include && x.files.Below(path):
			return true
		case !x.include && x.dirs != nil && x.dirs.Covers(path):
			return false
		}
	}
	return !r.includes
}
