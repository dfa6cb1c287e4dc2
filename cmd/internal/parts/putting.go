package parts

import (
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/treeput"
	"lorefs/datacenter/partof"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/nodes"
)

// sheetsView is the view of a data center that a folder of sheets shows.
const sheetsView = "sheets"

// Put puts the files of a folder into a source that is being edited. The folder is what export writes of the
// source, whole or in part. Of a data center it may be that of its sheets. With remove, files are removed that
// were exported and are not in the folder any more.
func Put(ctx context.Context, s *kinds.Source, dir string, remove bool, done func(files int64)) (*treeput.Report, error) {
	tree, ok := s.Tree.(nodes.Mutable)
	if !ok {
		return nil, kinds.ErrReadOnly
	}
	o, from, root := treeput.Options{Done: done}, pack.Dir(dir), nodes.Root
	if s.Kind.Sheets {
		mark, err := dckind.MarkOf(dir)
		if err != nil {
			return nil, err
		}
		below := ""
		if info, err := iofs.Stat(from, sheetsView); err == nil && info.IsDir() {
			below = sheetsView + "/"
		} else if e, err := tree.Lookup(ctx, nodes.Root, sheetsView); err == nil {
			root = e.ID
		} else {
			return nil, err
		}
		o.Takes = func(file string) bool {
			file, in := strings.CutPrefix(file, below)
			return in && (isSheet(file) || isSchema(file))
		}
		o.First = isSchema
		if remove {
			o.Removes = func(file string) bool {
				file, in := strings.CutPrefix(file, below)
				return in && isSheet(file) && exported(mark, file)
			}
		}
	} else if remove {
		o.Removes = func(string) bool { return true }
	}
	return treeput.Put(ctx, tree, root, from, o)
}

// isSheet reports whether a file below sheets/ has the name of a sheet.
func isSheet(file string) bool {
	dir, name := path.Split(file)
	_, ok := sheets.FileOrdinal(path.Clean(dir), name)
	return ok
}

// isSchema reports whether a file has the name of a schema of sheets.
func isSchema(file string) bool {
	dir, name := path.Split(file)
	return dir != "" && name == path.Base(dir)+".xsd"
}

// exported reports whether a sheet was once in the folder of a mark. Without a mark the folder had all of a kind.
func exported(mark *partof.Mark, file string) bool {
	if mark == nil {
		return true
	}
	dir, name := path.Split(file)
	number, _ := sheets.FileOrdinal(path.Clean(dir), name)
	return mark.Sheets(path.Clean(dir)).Has(number)
}

// Refused returns an error for what a source has not taken of a folder, or nil.
func Refused(s *kinds.Source, r *treeput.Report) error {
	left := s.LeftOut()
	var errs []error
	for i := range left.Refused {
		errs = append(errs, errors.New(left.Refused[i].String()))
	}
	for i := range left.Failed {
		errs = append(errs, errors.New(left.Failed[i].String()))
	}
	if len(errs) == 0 {
		errs = r.Problems
	}
	return errors.Join(errs...)
}
