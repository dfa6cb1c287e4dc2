package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// licenseNames reads the table of modules and their licenses in the file NOTICE.
func licenseNames(notice string) (map[string][]string, error) {
	text, err := os.ReadFile(notice)
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(text), "\nmodule ")
	if !found {
		return nil, fmt.Errorf("%s: expected a table of modules", notice)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	names := make(map[string][]string)
	for _, line := range strings.Split(table, "\n")[1:] {
		path, licenses, _ := strings.Cut(line, " ")
		names[path] = strings.Split(strings.TrimSpace(licenses), ", ")
	}
	return names, nil
}

// licenseFile matches the names of files that have to go with a program.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)[^/]*$`)

// licenseTexts returns the texts of the licenses of all modules of a program, and of Go's
// library.
func licenseTexts(info *debug.BuildInfo) ([]byte, error) {
	folders, err := packageFolders(info)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, m := range info.Deps {
		path := module(m).Path
		files := make(map[string]bool)
		for _, f := range folders[path] {
			if err := addLicenseFiles(files, f); err != nil {
				return nil, err
			}
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no text of a license is found in %s", path)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := appendText(&out, path, name); err != nil {
				return nil, err
			}
		}
	}
	root, err := goOutput(nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	err = appendText(&out, "the standard library of Go", filepath.Join(strings.TrimSpace(root), "LICENSE"))
	return out.Bytes(), err
}

// folder is the folder of a package, and of the module that has it.
type folder struct{ pkg, module string }

// packageFolders returns where the packages lie that a program is built from, by the paths of
// their modules.
func packageFolders(info *debug.BuildInfo) (map[string][]folder, error) {
	env := []string{
		"GOOS=" + setting(info, "GOOS"), "GOARCH=" + setting(info, "GOARCH"),
		"CGO_ENABLED=" + cmp.Or(setting(info, "CGO_ENABLED"), "0"),
	}
	const format = "{{$dir := .Dir}}{{with .Module}}{{with .Replace}}{{.Path}}{{else}}{{.Path}}{{end}}\t{{.Dir}}\t{{$dir}}{{end}}"
	out, err := goOutput(env, "list", "-deps", "-f", format, info.Path)
	if err != nil {
		return nil, err
	}
	folders := make(map[string][]folder)
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 3 {
			folders[fields[0]] = append(folders[fields[0]], folder{pkg: fields[2], module: fields[1]})
		}
	}
	return folders, nil
}

// addLicenseFiles adds the licenses in the folder of a package and in those above it: a module
// may contain packages by others.
func addLicenseFiles(files map[string]bool, f folder) error {
	for dir := f.pkg; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if licenseFile.MatchString(e.Name()) && !e.IsDir() && filepath.Ext(e.Name()) != ".go" {
				files[filepath.Join(dir, e.Name())] = true
			}
		}
		if dir == f.module {
			return nil
		}
		if len(dir) <= len(f.module) {
			return fmt.Errorf("package %s is not in its module, %s", f.pkg, f.module)
		}
	}
}

// appendText appends a file below a heading.
func appendText(out *bytes.Buffer, of, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	heading := of + ": " + filepath.Base(name)
	out.WriteString(heading + "\n" + strings.Repeat("=", len(heading)) + "\n\n")
	out.Write(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
	out.WriteString("\n\n")
	return nil
}

// goOutput returns what the go command prints.
func goOutput(env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}
