package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lorefs/internal/links"
	"lorefs/internal/replace"
	"lorefs/internal/shown"
	"lorefs/internal/userdir"
	"lorefs/nodes/overlay"
)

// refusedFolder is the folder with the texts that could not be saved, in a folder for each
// mount.
const refusedFolder = "refused"

// RefusedPath returns the path of refusedFolder, or only its name if it can't be made.
func RefusedPath() string {
	d, err := userdir.State(refusedFolder)
	if err != nil {
		return refusedFolder
	}
	defer d.Close()
	return d.Path()
}

// mostLosses is the largest number of lost texts that an error lists.
const mostLosses = 20

// KeepTexts writes the texts that were not saved to a folder of the user's state, because
// they would be lost with the mount, and most programs do not show why a text was refused.
// If that fails, for example because the disk is full, it writes them beside the source. The
// names of the folders begin with name. It returns the folders, and an error for the texts
// that are lost.
func (s *Source) KeepTexts(ctx context.Context, name string, now time.Time, log *slog.Logger) (folders []string, lost error) {
	suffix := "-" + now.UTC().Format("20060102-150405.000")
	k := textKeeper{name: name + suffix}
	for _, e := range s.Sessions {
		k.beside = e.Path() + refusedMark + suffix
		for _, r := range e.Refused() {
			folder, err := k.keep(ctx, r)
			if err != nil {
				k.lose(r.Path, err)
				continue
			}
			log.Warn("a text that was not saved is kept", "file", r.Path, "in", folder, "err", r.Problem)
		}
	}
	return k.folders, k.lost()
}

// refusedMark follows the name of the source in the name of the folder beside it.
const refusedMark = ".refused"

// textKeeper writes texts that were not saved to folders.
type textKeeper struct {
	// name is the name of the folder in refusedFolder, and beside is the path of the folder
	// to use if that one can't be written. folders are the folders that were made.
	name, beside string
	folders      []string
	// losses has an error for each of the first mostLosses texts that are lost, and more
	// counts the others.
	losses []error
	more   int
}

func (k *textKeeper) keep(ctx context.Context, r overlay.Refused) (folder string, err error) {
	folder, err = keepText(k.name, r)
	if err != nil {
		if besideErr := keepBeside(ctx, k.beside, r); besideErr != nil {
			return "", errors.Join(err, besideErr)
		}
		folder = k.beside
	}
	if !slices.Contains(k.folders, folder) {
		k.folders = append(k.folders, folder)
	}
	return folder, nil
}

// lose remembers that a text is lost.
func (k *textKeeper) lose(path string, err error) {
	if len(k.losses) == mostLosses {
		k.more++
		return
	}
	k.losses = append(k.losses, fmt.Errorf("the text of %s is lost, it could not be kept: %w", path, err))
}

// lost returns an error for the texts that are lost, or nil.
func (k *textKeeper) lost() error {
	if len(k.losses) == 0 {
		return nil
	}
	err := errors.Join(k.losses...)
	if k.more > 0 {
		err = errors.Join(err, fmt.Errorf("and so %s %d more", shown.Is(k.more), k.more))
	}
	return err
}

func keepText(name string, r overlay.Refused) (folder string, err error) {
	top, err := userdir.State(refusedFolder, name)
	if err != nil {
		return "", err
	}
	defer top.Close()
	dir, file := path.Split(r.Path)
	in := strings.FieldsFunc(dir, func(c rune) bool { return c == '/' })
	d, err := userdir.State(append([]string{refusedFolder, name}, in...)...)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return top.Path(), d.WriteFile(file, r.Text)
}

// keepBeside writes a text to a folder outside of the user's state.
func keepBeside(ctx context.Context, folder string, r overlay.Refused) error {
	const perm = 0o700
	dir, file := filepath.Split(filepath.Join(folder, filepath.FromSlash(r.Path)))
	dir, err := links.MakeDir(dir, perm)
	if err != nil {
		return err
	}
	return replace.Create(ctx, filepath.Join(dir, file), nil, replace.Options{Private: true}, func(w io.Writer) error {
		_, err := w.Write(r.Text)
		return err
	}, nil)
}
