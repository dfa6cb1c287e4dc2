package filing

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/partof"
	"lorefs/internal/jsonout"
)

// recordAbout tells people who find the file what it is for.
const recordAbout = "lorefs export --update wrote these files. It removes no others."

// maxRecordLine bounds a line of a record.
const maxRecordLine = 1 << 20

// recordHead is the first line of a record.
type recordHead struct {
	About  string `json:"about"`
	Format int    `json:"format"`
}

const recordFormat = 1

// recordLine is each other line: a file by its path, the MD5 of what was written, and the directory
// of the source that the path is below.
type recordLine struct {
	Path string `json:"path"`
	MD5  string `json:"md5"`
	From string `json:"from"`
}

// recorded is what is known of a file.
type recorded struct {
	sum  treecopy.Sum
	from string
}

// record is what exports have written to a folder, so that another one can remove what the source does not
// have any more, and nothing else. It is safe for parallel use.
type record struct {
	from string
	mu   sync.Mutex
	// files are by their paths. seen are those that the source has now.
	files map[string]recorded
	seen  map[string]bool
}

// readRecord reads the record of a folder, in which there need be none.
func readRecord(dir, from string) (*record, error) {
	r := &record{from: from, files: map[string]recorded{}, seen: map[string]bool{}}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(partof.Record)
	if errors.Is(err, iofs.ErrNotExist) {
		return r, nil
	}
	if err == nil && !info.Mode().IsRegular() { // to open it may block forever
		err = errors.New("not a regular file")
	}
	if err == nil {
		err = r.read(root)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and lorefs removes no file that was exported until now", filepath.Join(dir, partof.Record), err)
	}
	return r, nil
}

func (r *record) read(root *os.Root) error {
	f, err := root.Open(partof.Record)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxRecordLine)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			var head recordHead
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil || head.Format != recordFormat {
				return errors.New("want what lorefs export --update writes")
			}
			continue
		}
		if err := r.readLine(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

func (r *record) readLine(text []byte) error {
	var line recordLine
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	file := recorded{from: line.From}
	if n, err := hex.Decode(file.sum[:], []byte(line.MD5)); err != nil || n != len(file.sum) || len(line.MD5) != 2*n {
		return fmt.Errorf("%q is no MD5", line.MD5)
	}
	r.files[line.Path] = file
	return nil
}

// see notes that the source has a file.
func (r *record) see(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[name] = true
}

// stands notes that a file is in the folder as the source has it.
func (r *record) stands(name string, sum treecopy.Sum) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[name] = recorded{sum, r.from}
}

// write writes the record to its folder, which is there.
func (r *record) write(dir string) error {
	if len(r.files) == 0 {
		if _, err := os.Lstat(filepath.Join(dir, partof.Record)); errors.Is(err, iofs.ErrNotExist) {
			return nil
		}
	}
	var text bytes.Buffer
	out := jsonout.NewLines(&text)
	if err := out.Write(recordHead{recordAbout, recordFormat}); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		file := r.files[name]
		if err := out.Write(recordLine{name, hex.EncodeToString(file.sum[:]), file.from}); err != nil {
			return err
		}
	}
	files := func(yield func(treecopy.File) bool) {
		yield(treecopy.File{Path: partof.Record, Write: func(_ context.Context, w io.Writer) error {
			_, err := text.WriteTo(w)
			return err
		}})
	}
	// What was written is noted also if the user has interrupted it.
	_, err := treecopy.Write(context.Background(), files, dir, treecopy.Options{Overwrite: true})
	return err
}

// gone returns the files of the record that the source does not have any more, as far as this export is about
// them: those below the same directory of the source that takes has nothing against.
func (r *record) gone(takes func(string) bool) (names []string) {
	folded := map[string]bool{}
	for name := range r.seen {
		folded[strings.ToLower(name)] = true
	}
	for name, file := range r.files {
		// On some systems names that differ only in case are of one file.
		if file.from == r.from && !folded[strings.ToLower(name)] && (takes == nil || takes(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// removal says which files of a folder were removed.
type removal struct {
	// removed are gone. kept were written by an export, but are not what that wrote any more.
	removed, kept []string
}

// remove removes files of a folder that are what an export has written, and folders that are empty then. With dry it
// only says which. What can't be removed is in the error.
func (r *record) remove(dir string, names []string, dry bool) (done removal, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	defer root.Close()
	var errs []error
	for _, name := range names {
		sum, is, err := treecopy.SumAt(root, name)
		switch {
		case errors.Is(err, iofs.ErrNotExist): // somebody has removed it
			delete(r.files, name)
			continue
		case err == nil && (!is || sum != r.files[name].sum):
			done.kept = append(done.kept, name)
			continue
		case err == nil && !dry:
			err = removeFile(root, name)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		delete(r.files, name)
		done.removed = append(done.removed, name)
	}
	return done, errors.Join(errs...)
}

// removeFile removes a file, and the folders that are empty then.
func removeFile(root *os.Root, name string) error {
	err := treecopy.Remove(root, name)
	for up := path.Dir(name); err == nil && up != "."; up = path.Dir(up) {
		if treecopy.Remove(root, up) != nil {
			break // something else is in it
		}
	}
	return err
}
