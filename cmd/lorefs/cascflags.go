package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"lorefs/blte"
	"lorefs/casc"
)

// cascFlags are the flags for CASC storages.
type cascFlags struct {
	product   string
	build     string
	cdn       string
	locale    string
	keys      string
	listFiles []string
	missing   string
}

// The values of --missing.
const (
	missingHide = "hide"
	missingShow = "show"
)

func (f *cascFlags) table() []option {
	f.missing = missingHide
	only := []string{kindCASC}
	return []option{
		{name: "product", kinds: only, value: &f.product, help: "`product` of a CASC storage with several, such as wow (default: the first active one)"},
		{name: "build", kinds: only, value: &f.build, help: "`key` of the build configuration of a CASC storage with several, 32 hex digits (default: that of .build.info, or the only one)"},
		{name: "cdn", kinds: only, value: &f.cdn, help: "`key` of the CDN configuration of a CASC storage, as --build"},
		{name: "locale", kinds: only, value: &f.locale, help: "`language` of a CASC storage, such as enUS: leave out files for other languages (default: all)"},
		{name: "keys", kinds: only, value: &f.keys, help: "`file` of encryption keys of a CASC storage, of lines NAME KEY"},
		{name: "listfile", kinds: only, value: &f.listFiles, help: "`file` of names for a CASC storage, of lines ID;NAME or NAME; may be given again"},
		{name: "missing", kinds: only, value: &f.missing, help: "`what` to do with files of a CASC storage whose data is not local: hide or show"},
	}
}

// check finds mistakes before anything is opened. A command without these flags has
// none.
func (f *cascFlags) check() error {
	if f.locale != "" {
		if _, err := casc.ParseLocale(f.locale); err != nil {
			return usageErrorf("--locale %q is unknown: want one such as enUS", f.locale)
		}
	}
	for _, k := range [][2]string{{"--build", f.build}, {"--cdn", f.cdn}} {
		if k[1] == "" {
			continue
		}
		if _, err := casc.ParseKey(k[1]); err != nil {
			return usageErrorf("%s %q: want a key of 32 hex digits", k[0], k[1])
		}
	}
	switch f.missing {
	case "", missingHide, missingShow:
		return nil
	}
	return usageErrorf("--missing %q is unknown: want hide or show", f.missing)
}

// options are what a storage is opened with.
func (f *cascFlags) options() (opts casc.Options, err error) {
	opts.Product = f.product
	if f.locale != "" {
		if opts.Locale, err = casc.ParseLocale(f.locale); err != nil {
			return opts, err
		}
	}
	for _, k := range []struct {
		text string
		key  *casc.Key
	}{{f.build, &opts.BuildKey}, {f.cdn, &opts.CDNKey}} {
		if k.text == "" {
			continue
		}
		if *k.key, err = casc.ParseKey(k.text); err != nil {
			return opts, err
		}
	}
	if f.keys == "" {
		return opts, nil
	}
	text, err := os.ReadFile(f.keys)
	if err != nil {
		return opts, explainOpen(f.keys, err)
	}
	if opts.Keys, err = blte.ParseKeys(text); err != nil {
		return opts, usageErrorf("--keys %s: %w", f.keys, err)
	}
	return opts, nil
}

// lists opens the list files when they are needed. That one is not there is told at
// once.
func (f *cascFlags) lists() (lists []func() (io.ReadCloser, error), err error) {
	for _, name := range f.listFiles {
		if _, err := os.Stat(name); err != nil {
			return nil, explainOpen(name, err)
		}
		lists = append(lists, func() (io.ReadCloser, error) { return os.Open(name) })
	}
	return lists, nil
}

// names reads all list files as one, of which the first that has a name counts. It is
// nil if there are none.
func (f *cascFlags) names() (names *casc.ListFile, err error) {
	if len(f.listFiles) == 0 {
		return nil, nil
	}
	var parts []io.Reader
	size := int64(0)
	for _, name := range f.listFiles {
		file, err := os.Open(name)
		if err != nil {
			return nil, explainOpen(name, err)
		}
		defer file.Close()
		size += fileSize(".", name)
		parts = append(parts, withoutMark(file), strings.NewReader("\n"))
	}
	// A mount tells of lines that are left out; verify is about the storage.
	names, err = casc.ReadListFile(io.MultiReader(parts...), size, func(int, error) {})
	if err != nil {
		err = &commandError{code: exitSource, err: fmt.Errorf("--listfile: %w", err)}
	}
	return names, err
}

// withoutMark takes a byte order mark off, which only the beginning of all may have.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	const mark = "\ufeff"
	if head, err := b.Peek(len(mark)); err == nil && string(head) == mark {
		_, _ = b.Discard(len(mark)) // they are there
	}
	return b
}
