package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/internal/remote"
)

// limited is a host that answers so many requests in a second, and refuses the others.
type limited struct {
	most   int
	status int
	after  string

	mu       sync.Mutex // guards the rest
	answered []time.Time
	requests int
}

func (l *limited) RoundTrip(*http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	now := time.Now()
	for len(l.answered) > 0 && now.Sub(l.answered[0]) >= time.Second {
		l.answered = l.answered[1:]
	}
	if len(l.answered) >= l.most {
		resp, err := respond(l.status, text(""))
		if l.after != "" {
			resp.Header.Set("Retry-After", l.after)
		}
		return resp, err
	}
	l.answered = append(l.answered, now)
	return respond(http.StatusOK, text("right"))
}

// TestLimitedHost reads from a host that limits how often it is asked, by many readers at once: all
// comes, with few requests more than there are objects, and not much slower than the host allows.
func TestLimitedHost(t *testing.T) {
	for _, test := range []struct {
		most, status, objects int
		after                 string
	}{
		{2, http.StatusTooManyRequests, 240, "2"},
		{2, http.StatusTooManyRequests, 20, "2"},
		{2, http.StatusServiceUnavailable, 240, "2"},
		{2, http.StatusTooManyRequests, 240, ""},
		{1, http.StatusTooManyRequests, 100, "30"},
		{20, http.StatusTooManyRequests, 1000, "1"},
	} {
		t.Run(fmt.Sprintf("%d,%d,%d,%s", test.most, test.status, test.objects, test.after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := &limited{most: test.most, status: test.status, after: test.after}
				c := fakeClient(t, host.RoundTrip)
				start := time.Now()
				var next atomic.Int64
				var wg sync.WaitGroup
				for range 16 {
					wg.Go(func() {
						for i := next.Add(1); i <= int64(test.objects); i = next.Add(1) {
							f := remote.File{Key: remote.Key{byte(i), byte(i >> 8)}}
							if _, err := c.Loose(t.Context(), f, equals([]byte("right"))); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
				if host.requests > test.objects*3/2 {
					t.Errorf("%d requests for %d objects", host.requests, test.objects)
				}
				least := time.Duration(test.objects/test.most) * time.Second
				if took := time.Since(start); took > 4*least+2*time.Minute {
					t.Errorf("it took %v, the host allows %v", took, least)
				}
				t.Logf("%d requests for %d objects, %v", host.requests, test.objects, time.Since(start))
			})
		})
	}
}

// TestLimitedTogether has a host refuse, and cut, requests for many files at once: they are made
// again as they were.
func TestLimitedTogether(t *testing.T) {
	archive := randomBytes(5, 100_000)
	var files []remote.File
	for i := range 100 {
		files = append(files, remote.File{Key: remote.Key{1, byte(i)}, Archive: remote.Key{9}, Off: int64(i) * 1000, Size: 1000})
	}
	check := func(i int, b []byte) error { return equals(archive[i*1000:][:1000])(b) }
	for name, fault := range map[string]func() (*http.Response, error){
		"refused": func() (*http.Response, error) {
			resp, err := respond(http.StatusTooManyRequests, text(""))
			resp.Header.Set("Retry-After", "20")
			return resp, err
		},
		"cut": func() (*http.Response, error) {
			resp, err := respond(http.StatusPartialContent, io.MultiReader(bytes.NewReader(archive[:50_000]), cutReader{}))
			resp.Header.Set("Content-Range", "bytes 0-99999/100000")
			return resp, err
		},
		"failed": func() (*http.Response, error) { return respond(http.StatusInternalServerError, text("")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
					requests++
					if got := r.Header.Get("Range"); got != "bytes=0-99999" {
						t.Errorf("it was asked for %s", got)
					}
					if requests < 4 {
						return fault()
					}
					resp, err := respond(http.StatusPartialContent, bytes.NewReader(archive))
					resp.Header.Set("Content-Range", "bytes 0-99999/100000")
					return resp, err
				})
				got, err := c.Together(t.Context(), remote.Key{9}, files, 0, check)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if check(i, got[i]) != nil {
						t.Errorf("file %d is not there", i)
					}
				}
				if requests != 4 {
					t.Errorf("%d requests", requests)
				}
			})
		})
	}
}

// cutReader is the end of a connection that was cut.
type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestFailedStays checks that what no host gave is asked for again after half a minute, and what
// all have forbidden is asked for once.
func TestFailedStays(t *testing.T) {
	for status, each := range map[int]int{http.StatusInternalServerError: 4, http.StatusForbidden: 1} {
		synctest.Test(t, func(t *testing.T) {
			requests, down := 0, true
			c := fakeClient(t, func(*http.Request) (*http.Response, error) {
				requests++
				if down {
					return respond(status, text(""))
				}
				return respond(http.StatusOK, text("right"))
			})
			for range 10 {
				if _, err := loose(t.Context(), c, 1); err == nil {
					t.Fatal("it was read")
				}
			}
			if requests != each {
				t.Errorf("status %d: %d requests, want %d", status, requests, each)
			}
			down = false
			if _, err := loose(t.Context(), c, 2); err != nil {
				t.Errorf("another object: %v", err)
			}
			time.Sleep(29 * time.Second)
			if _, err := loose(t.Context(), c, 1); err == nil {
				t.Error("it was asked for too early")
			}
			time.Sleep(2 * time.Second)
			if _, err := loose(t.Context(), c, 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBusyEnds checks that a host which only ever wants to be left alone is given up, and that
// nobody has to wait for that.
func TestBusyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fakeClient(t, func(*http.Request) (*http.Response, error) {
			resp, err := respond(http.StatusTooManyRequests, text(""))
			resp.Header.Set("Retry-After", "3600")
			return resp, err
		})
		start := time.Now()
		if _, err := loose(t.Context(), c, 1); err == nil || time.Since(start) > 6*time.Minute {
			t.Errorf("given up after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := loose(ctx, c, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
