package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"net/http"
	"strings"
	"sync"

	"lorefs/internal/remote"
)

const (
	// IndexName is the file of a web server that has the paths of all others.
	IndexName = "index.txt"
	// maxIndex bounds that file, in bytes, and maxListed the files of a folder.
	maxIndex  = 64 << 20
	maxListed = 1 << 18
	// maxName bounds a path, in bytes, and maxDepth its parts. There are no more folders than files.
	maxName  = 4 << 10
	maxDepth = 128
	// maxAsked is how many requests learn the sizes of files at a time.
	maxAsked = 8
)

// Top yields the names that lie at the top of the source: files, and folders with a slash at
// their end. A web server without an index has none: the error matches [iofs.ErrNotExist].
func (s *Store) Top(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.place.list != nil {
			for l, err := range s.place.list(ctx, s.client, "", false) {
				if !yield(l.path, named(s.shown(""), err)) || err != nil {
					return
				}
			}
			return
		}
		names, err := s.index(ctx)
		if err != nil {
			yield("", err)
			return
		}
		before := map[string]bool{}
		for _, name := range names {
			if top, _, below := strings.Cut(name, "/"); below {
				name = top + "/"
			}
			if !before[name] && !yield(name, nil) {
				return
			}
			before[name] = true
		}
	}
}

// Below yields the paths of all objects with a prefix, if the server lists them.
func (s *Store) Below(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.place.list == nil {
			yield("", fmt.Errorf("%s: a web server lists nothing: %w", s.shown(""), errors.ErrUnsupported))
			return
		}
		for l, err := range s.place.list(ctx, s.client, prefix, true) {
			if !yield(l.path, named(s.shown(""), err)) || err != nil {
				return
			}
		}
	}
}

// index reads the index of a web server.
func (s *Store) index(ctx context.Context) ([]string, error) {
	data, err := s.client.Exchange(ctx, remote.Exchange{
		Name: s.shown(IndexName), URL: s.place.at(IndexName),
		Read: func(resp *http.Response, body io.Reader) ([]byte, error) {
			if resp.StatusCode != http.StatusOK {
				return nil, statusError(resp, body)
			}
			if isPage(resp) {
				return nil, remote.Final(errors.New("a page of HTML came, not a list of files"))
			}
			data, err := io.ReadAll(io.LimitReader(body, maxIndex+1))
			switch {
			case err != nil:
				return nil, short(err)
			case len(data) > maxIndex:
				return nil, remote.Final(fmt.Errorf("the index has more than %d bytes", maxIndex))
			case resp.ContentLength >= 0 && int64(len(data)) != resp.ContentLength:
				return nil, short(io.ErrUnexpectedEOF)
			}
			return data, nil
		},
	})
	if err != nil {
		return nil, named(s.shown(IndexName), err)
	}
	names, err := parseIndex(data)
	return names, named(s.shown(IndexName), err)
}

// parseIndex reads the lines of an index.
func parseIndex(data []byte) (names []string, err error) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		name := strings.TrimPrefix(strings.TrimRight(string(line), "\r\n"), "./")
		switch {
		case name == "" || name == IndexName:
			continue
		case !iofs.ValidPath(name) || name == ".":
			return nil, fmt.Errorf("line %d: %.80q: want the path of a file, relative to the index", number, name)
		case isLong(name):
			return nil, fmt.Errorf("line %d: %.80q: %w", number, name, errLong)
		case len(names) == maxListed:
			return nil, tooMany()
		}
		names = append(names, name)
	}
	return names, nil
}

// isLong reports whether a path is longer than any that is meant.
func isLong(name string) bool { return len(name) > maxName || strings.Count(name, "/") >= maxDepth }

var errLong = fmt.Errorf("a path has at most %d bytes and %d parts", maxName, maxDepth)

func tooMany() error { return fmt.Errorf("more than %d files are too many for a folder", maxListed) }

// all returns the objects below the source with their pins.
func (s *Store) all(ctx context.Context) (found []listed, err error) {
	if s.place.list == nil {
		return s.askAll(ctx)
	}
	for l, err := range s.place.list(ctx, s.client, "", true) {
		switch {
		case err != nil:
			return nil, named(s.shown(""), err)
		case !iofs.ValidPath(l.path) || l.path == ".":
			continue // some clients make an object of the name DIR/ for a folder
		case isLong(l.path):
			return nil, named(s.shown(""), fmt.Errorf("%.80q: %w", l.path, errLong))
		case l.pin.size < 0 || l.pin.size > maxObject:
			return nil, named(s.shown(l.path), fmt.Errorf("the server says that it has %d bytes", l.pin.size))
		}
		found = append(found, l)
	}
	return found, nil
}

// askAll asks for the pins of all files that an index names.
func (s *Store) askAll(ctx context.Context) ([]listed, error) {
	names, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make([]listed, len(names))
	errs := make([]error, maxAsked)
	var asking sync.WaitGroup
	for worker := range maxAsked {
		asking.Go(func() {
			for i := worker; i < len(names) && errs[worker] == nil; i += maxAsked {
				found, err := s.stat(ctx, names[i])
				if err == nil && found.whole {
					err = errors.New("the server sends no ranges of it, or neither an ETag nor a time")
				}
				if all[i] = (listed{names[i], found.pin}); err != nil {
					errs[worker] = named(s.shown(names[i]), err)
					cancel()
				}
			}
		})
	}
	asking.Wait()
	return all, firstCause(errs)
}

// firstCause returns the first error that isn't the end that another one has caused.
func firstCause(errs []error) error {
	var ended error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		ended = errors.Join(ended, err)
	}
	return ended
}
