// Command archive packs a folder as a .tar.gz or a .zip whose bytes depend on nothing but the
// names, bytes and permissions in the folder and on SOURCE_DATE_EPOCH, the date of all of it.
//
//	archive FOLDER FILE
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("archive: ")
	if len(os.Args) != 3 {
		log.Fatal("usage: archive FOLDER FILE")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(folder, name string) (err error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	date := time.Unix(seconds, 0).UTC()
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	switch {
	case strings.HasSuffix(name, ".tar.gz"):
		return writeTar(out, folder, date)
	case strings.HasSuffix(name, ".zip"):
		return writeZip(out, folder, date)
	}
	return fmt.Errorf("%s: expected a name with .tar.gz or .zip", name)
}

// entry is a file, folder or symbolic link below a folder.
type entry struct {
	// name begins with the folder's own.
	name string
	path string
	mode iofs.FileMode
	size int64
	link string
}

// walk calls visit with the folder and all below it, in the order of names.
func walk(folder string, visit func(entry) error) error {
	return filepath.WalkDir(folder, func(path string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(folder), path)
		if err != nil {
			return err
		}
		e := entry{name: filepath.ToSlash(rel), path: path, mode: info.Mode(), size: info.Size()}
		if e.mode.Type() == iofs.ModeSymlink {
			if e.link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		return visit(e)
	})
}

func writeTar(out io.Writer, folder string, date time.Time) error {
	zw, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	err = walk(folder, func(e entry) error {
		h := &tar.Header{Name: e.name, Mode: int64(e.mode.Perm()), ModTime: date, Uname: "root", Gname: "root"}
		switch {
		case e.mode.IsDir():
			h.Typeflag, h.Name = tar.TypeDir, e.name+"/"
		case e.link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		default:
			h.Typeflag, h.Size = tar.TypeReg, e.size
		}
		if err := tw.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
			return err
		}
		return copyFile(tw, e.path)
	})
	return errors.Join(err, tw.Close(), zw.Close())
}

func writeZip(out io.Writer, folder string, date time.Time) error {
	zw := zip.NewWriter(out)
	err := walk(folder, func(e entry) error {
		if e.mode.IsDir() {
			return nil // its files name it
		}
		if e.link != "" {
			return fmt.Errorf("%s: a zip is for systems without symbolic links", e.path)
		}
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: date}
		h.SetMode(e.mode.Perm())
		w, err := zw.CreateHeader(h)
		if err != nil {
			return err
		}
		return copyFile(w, e.path)
	})
	return errors.Join(err, zw.Close())
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
