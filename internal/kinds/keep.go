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

// refusedFolder is the folder that has a folder for each mount that texts were kept of.
const refusedFolder = "refused"

// RefusedPath is where that folder is. Where it can't be made, it is told by its name.
func RefusedPath() string {
	d, err := userdir.State(refusedFolder)
	if err != nil {
		return refusedFolder
	}
	defer d.Close()
	return d.Path()
}

// mostLosses is how many texts are told of that could not be kept.
const mostLosses = 20

// KeepTexts writes what would go with a mount to a folder of the user's state: somebody
// has written it, and most tools say little of why it was not taken. Where that can't be, as
// where the disk is full that the journal is on, it writes beside the source. The name of the
// folder begins with name. It gives the folders, and an error of the texts that are lost.
func (s *Source) KeepTexts(ctx context.Context, name string, now time.Time, log *slog.Logger) (folders []string, lost error) {
	suffix := "-" + now.UTC().Format("20060102-150405.000")
	k := keeper{name: name + suffix}
	for _, e := range s.Editors {
		k.beside = e.Path() + refusedMark + suffix
		for _, r := range e.Refused() {
			folder, err := k.keep(ctx, r)
			if err != nil {
				k.lose(r.Path, err)
				continue
			}
			log.Warn("a text that is not saved is kept", "file", r.Path, "in", folder, "err", r.Problem)
		}
	}
	return k.folders, k.lost()
}

// refusedMark stands behind the source's name in that of the folder beside it.
const refusedMark = ".refused"

// keeper keeps texts.
type keeper struct {
	// name is that of the folder in refusedFolder, and beside the path of the one that is
	// taken where that can't be. folders are those that were made.
	name, beside string
	folders      []string
	// losses are why texts could not be kept, the first mostLosses, and more how many
	// others there are.
	losses []error
	more   int
}

// keep keeps a text.
func (k *keeper) keep(ctx context.Context, r overlay.Refused) (folder string, err error) {
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

// lose notes that a text is lost.
func (k *keeper) lose(path string, err error) {
	if len(k.losses) == mostLosses {
		k.more++
		return
	}
	k.losses = append(k.losses, fmt.Errorf("the text of %s is lost, it could not be kept: %w", path, err))
}

// lost is the error of texts that could not be kept, nil if there are none.
func (k *keeper) lost() error {
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

// keepBeside keeps a text in a folder that is not in the user's state.
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
