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

// Input is what one .zgd or .apd file can be packed from: a JSON text, or two files
// of the original server.
type Input struct {
	// Name is that of the file to pack, such as x1002y1006.zgd.
	Name string
	// Files are the paths of those it is packed from.
	Files []string
	from  inputKind
}

// inputKind tells how an input is read.
type inputKind uint8

const (
	zoneText inputKind = iota
	areaText
	originalZone
	originalArea
)

// pathdataPrefix is what the original server's files of areas are called by.
const pathdataPrefix = "pathdata_"

// Inputs finds what can be packed in a folder: zones/*.json and areas/*.json, as a
// mount shows them, the same in the folder itself, and .idx with .geo and .gdi with
// .nod files there. They are in the order of the names of what they make; two that
// make the same are an error. Hidden are the paths of files that are left out because
// their names begin with a dot, as those that systems and editors leave behind do.
func Inputs(fsys iofs.FS) (all []Input, hidden []string, err error) {
	for _, dir := range []string{".", "zones", "areas"} {
		entries, err := iofs.ReadDir(fsys, dir)
		if err != nil && dir == "." {
			return nil, nil, err
		}
		for _, e := range entries { // none, if there is no such folder
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

// IsFile tells by their names the files that hold a zone or an area from others.
func IsFile(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".zgd" || ext == ".apd"
}

// isHidden tells of a file that looks like an input but for the dot in front.
func isHidden(e iofs.DirEntry) bool {
	ext := strings.ToLower(path.Ext(e.Name()))
	return !e.IsDir() && e.Name()[0] == '.' && (ext == ".json" || ext == ".idx" || ext == ".gdi")
}

// inputOf tells what an entry of a directory can be packed as.
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

// saysArea tells whether a JSON text says that it is an area; anything can be
// called NAME.json.
func saysArea(fsys iofs.FS, file string) (bool, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	head, err := io.ReadAll(io.LimitReader(f, 1<<10))
	return bytes.Contains(head, []byte(`"`+areaFormat+`"`)), err
}

// partner is the file that belongs to another of the same name.
func partner(name, ext string, entries []iofs.DirEntry) (string, error) {
	want := strings.TrimSuffix(name, path.Ext(name)) + ext
	for _, e := range entries {
		if strings.EqualFold(e.Name(), want) {
			return e.Name(), nil
		}
	}
	return "", fmt.Errorf("geometry: %s is there without %s", name, want)
}

// maxInput is the size of the largest file that is read as a whole.
const maxInput = 1 << 30

// Pack writes the file. Errors that are the input's name the file: a [JSONError] or
// a [FormatError].
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
