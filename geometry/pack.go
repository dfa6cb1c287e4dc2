package geometry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
)

// Input can be packed to one .zgd or .apd file: a JSON text, or two files of the
// original server.
type Input struct {
	// Name is the name of the packed file, such as x1002y1006.zgd.
	Name string
	// Files are the paths of the files to pack.
	Files []string
	from  inputKind
}

// inputKind says how an input is read.
type inputKind uint8

const (
	zoneText inputKind = iota
	areaText
	originalZone
	originalArea
)

// pathdataPrefix begins the names of the original server's files of areas.
const pathdataPrefix = "pathdata_"

// Inputs finds what can be packed in a folder: zones/*.json and areas/*.json, as in a
// mount, the same files in the folder itself, and pairs of .idx and .geo or .gdi and .nod
// files there. They are sorted by the names of the packed files; two inputs for one name
// are an error. hidden are the paths of files that are skipped because their names begin
// with a dot, such as those that systems and editors leave behind.
func Inputs(fsys iofs.FS) (all []Input, hidden []string, err error) {
	for _, dir := range []string{".", "zones", "areas"} {
		entries, err := iofs.ReadDir(fsys, dir)
		if err != nil && dir == "." {
			return nil, nil, err
		}
		for _, e := range entries { // empty if there is no such folder
			if isHidden(e) {
				hidden = append(hidden, path.Join(dir, e.Name()))
				continue
			}
			in, ok, err := inputOf(fsys, dir, e, entries)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				all = append(all, in)
			}
		}
	}
	slices.SortFunc(all, func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			return nil, nil, fmt.Errorf("geometry: %s and %s would both be packed as %s",
				all[i-1].Files[0], all[i].Files[0], all[i].Name)
		}
	}
	return all, hidden, nil
}

// IsFile reports whether a file is called like one that holds a zone or an area.
func IsFile(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".zgd" || ext == ".apd"
}

// isHidden reports whether a file would be an input if its name did not begin with a dot.
func isHidden(e iofs.DirEntry) bool {
	ext := strings.ToLower(path.Ext(e.Name()))
	return !e.IsDir() && e.Name()[0] == '.' && (ext == ".json" || ext == ".idx" || ext == ".gdi")
}

// inputOf returns the input that an entry of a directory makes.
func inputOf(fsys iofs.FS, dir string, e iofs.DirEntry, entries []iofs.DirEntry) (in Input, ok bool, err error) {
	if e.IsDir() {
		return in, false, nil
	}
	file, ext := path.Join(dir, e.Name()), path.Ext(e.Name())
	name := strings.ToLower(strings.TrimSuffix(e.Name(), ext))
	at, isZone := ParseZoneName(name)
	switch ext = strings.ToLower(ext); {
	case ext == ".json" && isZone && dir != "areas":
		return Input{at.String() + ".zgd", []string{file}, zoneText}, true, nil
	case ext == ".json" && dir == "areas":
		return Input{name + ".apd", []string{file}, areaText}, true, nil
	case ext == ".json" && dir == ".":
		ok, err = saysArea(fsys, file)
		return Input{name + ".apd", []string{file}, areaText}, ok, err
	case ext == ".idx" && isZone && dir == ".":
		second, err := partner(e.Name(), ".geo", entries)
		return Input{at.String() + ".zgd", []string{file, second}, originalZone}, err == nil, err
	case ext == ".gdi" && dir == ".":
		second, err := partner(e.Name(), ".nod", entries)
		return Input{strings.TrimPrefix(name, pathdataPrefix) + ".apd", []string{file, second}, originalArea}, err == nil, err
	}
	return in, false, nil
}

// saysArea reports whether a JSON text says that it is an area. The name NAME.json does not
// say it.
func saysArea(fsys iofs.FS, file string) (bool, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	head, err := io.ReadAll(io.LimitReader(f, 1<<10))
	return bytes.Contains(head, []byte(`"`+areaFormat+`"`)), err
}

// partner returns the file with the same name and another extension.
func partner(name, ext string, entries []iofs.DirEntry) (string, error) {
	want := strings.TrimSuffix(name, path.Ext(name)) + ext
	for _, e := range entries {
		if strings.EqualFold(e.Name(), want) {
			return e.Name(), nil
		}
	}
	return "", fmt.Errorf("geometry: %s is there without %s", name, want)
}

// maxInput is the size of the largest input file in bytes.
const maxInput = 1 << 30

// Pack writes the file. Errors in the input name its file: a [JSONError] or a
// [FormatError].
func (in Input) Pack(ctx context.Context, fsys iofs.FS, w io.Writer, opts EncodeOptions) error {
	var data [2][]byte
	for i, file := range in.Files {
		var err error
		if data[i], err = readInput(fsys, file); err != nil {
			return err
		}
	}
	encode, err := in.decode(data[0], data[1])
	if err != nil {
		return fmt.Errorf("%s: %w", in.Files[0], err)
	}
	return encode(ctx, w, opts)
}

func (in Input) decode(first, second []byte) (encode func(context.Context, io.Writer, EncodeOptions) error, err error) {
	var z *Zone
	var a *Area
	switch in.from {
	case zoneText:
		z, err = DecodeZoneJSON(first, JSONOptions{})
	case originalZone:
		z, err = ParseOriginalZone(first, second)
	case areaText:
		a, err = DecodeAreaJSON(first)
	case originalArea:
		a, err = ParseOriginalArea(first, second)
	}
	if err != nil {
		return nil, err
	}
	if z != nil {
		return z.Encode, nil
	}
	return a.Encode, nil
}

func readInput(fsys iofs.FS, file string) ([]byte, error) {
	info, err := iofs.Stat(fsys, file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxInput {
		return nil, fmt.Errorf("%s has %d bytes: %w", file, info.Size(), ErrTooLarge)
	}
	return iofs.ReadFile(fsys, file)
}
