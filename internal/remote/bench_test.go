package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/remotetest"
)

// BenchmarkRanges reads an archive of 64 MiB in files of 256 KiB, sixteen at a time: from a
// local file, from a host on the loopback interface, from there with a cache that is empty, and
// from the cache.
func BenchmarkRanges(b *testing.B) {
	const (
		size     = 64 << 20
		fileSize = 256 << 10
	)
	archive := randomBytes(1, size)
	key := remote.Key{1}
	// The checksum of the caller is not what is measured.
	check := func(data []byte) error {
		if len(data) != fileSize {
			return errors.New("wrong size")
		}
		return nil
	}
	each := func(b *testing.B, read func(n int64) error) {
		var g errgroup.Group
		g.SetLimit(16)
		for n := range int64(size / fileSize) {
			g.Go(func() error { return read(n) })
		}
		if err := g.Wait(); err != nil {
			b.Error(err)
		}
	}
	b.Run("local", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "archive"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(archive); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(size)
		for b.Loop() {
			each(b, func(n int64) error {
				data := make([]byte, fileSize)
				_, err := f.ReadAt(data, n*fileSize)
				return err
			})
		}
	})
	s := remotetest.New(b, 2)
	s.Put(pathOf("data", key), archive)
	ranges := func(b *testing.B, cache *mirror.Cache) {
		c, err := remote.New(remote.Options{Path: storage, Hosts: s.Hosts(), Cache: cache})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		each(b, func(n int64) error {
			f := remote.File{Key: remote.Key{2, byte(n), byte(n >> 8)}, Archive: key, Off: n * fileSize, Size: fileSize}
			_, err := c.Range(context.Background(), f, 0, fileSize, check)
			return err
		})
	}
	open := func(b *testing.B) *mirror.Cache {
		cache, err := mirror.Open(b.TempDir(), mirror.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { cache.Close() })
		return cache
	}
	b.Run("http", func(b *testing.B) {
		// What the library for HTTP needs by itself.
		b.SetBytes(size)
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		defer client.CloseIdleConnections()
		for b.Loop() {
			each(b, func(n int64) error {
				return plainGet(client, s.Hosts()[0].URL+"/"+pathOf("data", key), n*fileSize, fileSize)
			})
		}
	})
	b.Run("remote", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			ranges(b, nil)
		}
	})
	b.Run("remote, empty cache", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			ranges(b, open(b))
		}
	})
	b.Run("cache", func(b *testing.B) {
		cache := open(b)
		ranges(b, cache)
		b.SetBytes(size)
		for b.Loop() {
			ranges(b, cache)
		}
	})
}

// plainGet fetches a range, and checks nothing but its length.
func plainGet(client *http.Client, url string, off, size int64) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+size-1))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.ReadFull(resp.Body, make([]byte, size))
	return err
}
