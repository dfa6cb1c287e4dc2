package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/internal/remote"
	"lorefs/internal/testneeds"
)

// transport answers requests without a network, so that the tests here run on a false clock.
type transport func(r *http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func respond(status int, body io.Reader) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1}, nil
}

func text(b string) io.Reader { return bytes.NewReader([]byte(b)) }

var one, two = remote.Host{URL: "http://one.example.com"}, remote.Host{URL: "http://two.example.com"}

// fakeClient returns a client of one host, or of several.
func fakeClient(t *testing.T, tr transport, hosts ...remote.Host) *remote.Client {
	t.Helper()
	if len(hosts) == 0 {
		hosts = []remote.Host{one}
	}
	c, err := remote.New(remote.Options{Path: storage, Hosts: hosts, Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func loose(ctx context.Context, c *remote.Client, n byte) ([]byte, error) {
	return c.Loose(ctx, remote.File{Key: remote.Key{n}}, equals([]byte("right")))
}

// TestSingleFlight checks that all who want the same at the same time share a request.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests, answer := 0, make(chan struct{})
		c := fakeClient(t, func(*http.Request) (*http.Response, error) {
			requests++
			<-answer
			return respond(http.StatusOK, text("right"))
		})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if got, err := loose(t.Context(), c, 1); err != nil || string(got) != "right" {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		synctest.Wait()
		close(answer)
		wg.Wait()
		if requests != 1 {
			t.Errorf("%d requests", requests)
		}
	})
}

// TestLeaving checks that a waiter leaves when its context ends, that the others go on
// waiting, and that the request is cancelled when the last one has left.
func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan struct{})
		c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			close(cancelled)
			return nil, r.Context().Err()
		})
		start := time.Now()
		wait := func(ctx context.Context) <-chan error {
			done := make(chan error, 1)
			go func() { _, err := loose(ctx, c, 1); done <- err }()
			return done
		}
		first, leave := context.WithCancel(t.Context())
		second, end := context.WithTimeout(t.Context(), 5*time.Second)
		defer end()
		one, two := wait(first), wait(second)
		synctest.Wait()
		leave()
		if err := <-one; !errors.Is(err, context.Canceled) || time.Since(start) != 0 {
			t.Errorf("the first waiter left after %v: %v", time.Since(start), err)
		}
		synctest.Wait()
		select {
		case <-cancelled:
			t.Error("the request was cancelled while somebody was waiting")
		default:
		}
		if err := <-two; !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
			t.Errorf("the second waiter left after %v: %v", time.Since(start), err)
		}
		<-cancelled
		if failures := c.Stats().Failures; failures != 0 {
			t.Errorf("%d failures are blamed on the host", failures)
		}
		ended, endNow := context.WithCancel(t.Context())
		endNow()
		if err := <-wait(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that had ended: %v", err)
		}
	})
}

// TestStall checks that a host which sends nothing, or hardly anything, is given up, and one which is
// only slow is not.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := fakeClient(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		dripping := fakeClient(t, func(r *http.Request) (*http.Response, error) {
			return respond(http.StatusOK, &slowly{Reader: zeros{}, ctx: r.Context(), each: 1})
		})
		for c, most := range map[*remote.Client]time.Duration{silent: 165 * time.Second, dripping: 400 * time.Second} {
			start := time.Now()
			_, err := loose(t.Context(), c, 1)
			failed, ok := errors.AsType[*remote.Error](err)
			if took := time.Since(start); !ok || len(failed.Failures) != 1 || took < 160*time.Second || took > most {
				t.Errorf("a host was given up after %v: %v", took, err)
			}
		}
		content := make([]byte, 100<<10)
		slow := fakeClient(t, func(r *http.Request) (*http.Response, error) {
			return respond(http.StatusOK, &slowly{Reader: bytes.NewReader(content), ctx: r.Context(), each: 8 << 10})
		})
		_, err := slow.Loose(t.Context(), remote.File{Key: remote.Key{1}}, equals(content))
		if err != nil || slow.Stats().Requests != 1 {
			t.Errorf("a slow host was given up: %v", err)
		}
	})
}

// slowly gives so many bytes each 29 seconds while ctx has not ended.
type slowly struct {
	io.Reader
	ctx  context.Context //nolint:containedctx // that of the request
	each int
	here int
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.here == 0 {
		select {
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case <-time.After(29 * time.Second):
			s.here = s.each
		}
	}
	n, err := s.Reader.Read(p[:min(len(p), s.here)])
	s.here -= n
	return n, err
}

// TestVain asks hosts that keep a client busy without an end: what they send is fast enough, or each
// object fails by itself. The client gives them up after half an hour, and asks for nothing more until
// half a minute later.
func TestVain(t *testing.T) {
	hosts := map[string]func(r *http.Request) (*http.Response, error){
		"endless": func(r *http.Request) (*http.Response, error) {
			return respond(http.StatusOK, &slowly{Reader: zeros{}, ctx: r.Context(), each: 16 << 10})
		},
		"silent": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
	}
	for name, bad := range hosts {
		synctest.Test(t, func(t *testing.T) {
			requests, well := 0, false
			c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
				requests++
				if well {
					return respond(http.StatusOK, text("right"))
				}
				return bad(r)
			})
			start := time.Now()
			for i := range byte(100) {
				if _, err := loose(t.Context(), c, i); !remote.IsFailure(err) {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if took := time.Since(start); took < 30*time.Minute || took > 31*time.Minute || requests == 0 {
				t.Errorf("%s: given up after %v and %d requests", name, took, requests)
			}
			well = true
			before := requests
			if _, err := loose(t.Context(), c, 200); err == nil || requests > before {
				t.Errorf("%s: asked again at once: %v", name, err)
			}
			time.Sleep(31 * time.Second)
			if _, err := loose(t.Context(), c, 201); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestVainRequests checks that a client does not ask without an end if all fails at once, and that
// one success in between is enough.
func TestVainRequests(t *testing.T) {
	testneeds.Slow(t, "it makes 160,000 requests")
	synctest.Test(t, func(t *testing.T) {
		requests, right := 0, 60_000
		c := fakeClient(t, func(*http.Request) (*http.Response, error) {
			if requests++; requests == right {
				return respond(http.StatusOK, text("right"))
			}
			return respond(http.StatusOK, text("wrong"))
		})
		for i, before := 0, -1; before < requests; i++ {
			before = requests
			f := remote.File{Key: remote.Key{byte(i), byte(i >> 8), byte(i >> 16)}, Guess: true}
			_, _ = c.Loose(t.Context(), f, equals([]byte("right")))
			time.Sleep(time.Millisecond)
		}
		if requests != right+100_000 {
			t.Errorf("%d requests", requests)
		}
	})
}

// TestNoPause has a client ask again without a pause.
func TestNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := remote.New(remote.Options{
			Path: storage, Hosts: []remote.Host{one}, Times: remote.Times{Pause: 1},
			Transport: transport(func(*http.Request) (*http.Response, error) { return respond(http.StatusServiceUnavailable, text("")) }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := loose(t.Context(), c, 1); err == nil || c.Stats().Requests != 4 {
			t.Errorf("%d requests: %v", c.Stats().Requests, err)
		}
	})
}

// TestPauses checks how long a client waits before it asks again.
func TestPauses(t *testing.T) {
	quarter := 250 * time.Millisecond
	cases := map[string]struct {
		after    string
		from, to [3]time.Duration
	}{
		"none":    {"", [3]time.Duration{quarter / 2, quarter, 2 * quarter}, [3]time.Duration{quarter * 3 / 2, quarter * 3, quarter * 6}},
		"seconds": {"7", same(7 * time.Second), same(7 * time.Second)},
		"long":    {"3600", same(30 * time.Second), same(30 * time.Second)},
		// The date is four seconds after each answer.
		"date": {"date", same(4 * time.Second), same(4 * time.Second)},
		"bad":  {"soon", [3]time.Duration{quarter / 2, quarter, 2 * quarter}, [3]time.Duration{quarter * 3 / 2, quarter * 3, quarter * 6}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Time
				c := fakeClient(t, func(*http.Request) (*http.Response, error) {
					asked = append(asked, time.Now())
					resp, err := respond(http.StatusTooManyRequests, text(""))
					after := test.after
					if after == "date" {
						after = time.Now().Add(4 * time.Second).UTC().Format(http.TimeFormat)
					}
					resp.Header.Set("Retry-After", after)
					return resp, err
				})
				if _, err := loose(t.Context(), c, 1); err == nil || len(asked) != 10 {
					t.Fatalf("%d requests, %v", len(asked), err)
				}
				for i := range 3 {
					// A date has no fractions of a second.
					if gap := asked[i+1].Sub(asked[i]); gap < test.from[i]-time.Second && name == "date" ||
						gap < test.from[i] && name != "date" || gap > test.to[i] {
						t.Errorf("pause %d is %v", i, gap)
					}
				}
			})
		})
	}
}

func same(d time.Duration) [3]time.Duration { return [3]time.Duration{d, d, d} }

// TestBadHost checks that a host which failed comes after the others for five minutes.
func TestBadHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Hostname()[:3])
			if r.URL.Hostname()[:3] == "one" && len(asked) == 1 {
				return respond(http.StatusOK, text("wrong"))
			}
			return respond(http.StatusOK, text("right"))
		}, one, two)
		for i := range byte(3) {
			if _, err := loose(t.Context(), c, i); err != nil {
				t.Fatal(err)
			}
			time.Sleep(149 * time.Second)
		}
		if _, err := loose(t.Context(), c, 9); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(asked); got != "[one two two two one]" {
			t.Errorf("asked %v", got)
		}
	})
}

// TestLimits checks how many requests hosts get at the same time: eight, or what their list
// says, sixteen in all, and none for a fallback host while others work.
func TestLimits(t *testing.T) {
	fallback, few := remote.Host{URL: "http://back.example.com", Fallback: true}, two
	few.MaxHosts = 3
	three := remote.Host{URL: "http://three.example.com"}
	cases := map[string]struct {
		hosts []remote.Host
		most  map[string]int
		all   int
	}{
		"one host":     {[]remote.Host{one, fallback}, map[string]int{one.URL: 8}, 8},
		"listed":       {[]remote.Host{few, one, fallback}, map[string]int{few.URL: 3, one.URL: 8}, 11},
		"three hosts":  {[]remote.Host{one, two, three}, map[string]int{one.URL: 8, two.URL: 8}, 16},
		"few of three": {[]remote.Host{few, one, three}, map[string]int{few.URL: 3, one.URL: 8, three.URL: 5}, 16},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				busy, most, all, mostAll := map[string]int{}, map[string]int{}, 0, 0
				c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
					host := "http://" + r.URL.Host
					mu.Lock()
					busy[host]++
					all++
					most[host], mostAll = max(most[host], busy[host]), max(mostAll, all)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					busy[host]--
					all--
					return respond(http.StatusOK, text("right"))
				}, test.hosts...)
				var wg sync.WaitGroup
				for i := range byte(100) {
					wg.Go(func() {
						if _, err := loose(t.Context(), c, i); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if fmt.Sprint(most) != fmt.Sprint(test.most) || mostAll != test.all {
					t.Errorf("at most %v, and %d in all", most, mostAll)
				}
			})
		})
	}
}

// TestEndless checks that a host which never ends an answer fills neither the memory nor the
// line with it.
func TestEndless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]bool{}
		c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
			if asked[r.URL.Path] {
				return respond(http.StatusNotFound, text("")) // once is enough
			}
			asked[r.URL.Path] = true
			return respond(http.StatusOK, zeros{})
		})
		if _, err := c.Config(t.Context(), remote.Key{1}); err == nil {
			t.Error("an endless configuration was read")
		}
		if _, err := c.Get(t.Context(), "summary", equals(nil)); err == nil {
			t.Error("an endless answer was read")
		}
		if n := c.Stats().Bytes; n == 0 || n > 50<<20 {
			t.Errorf("%d bytes were read", n)
		}
	})
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestRedirects checks that a host leads to itself at most, and never away from https.
func TestRedirects(t *testing.T) {
	secure := remote.Host{URL: "https://one.example.com"}
	for _, test := range []struct {
		from remote.Host
		to   string
		ok   bool
	}{
		{one, "https://one.example.com/other", true},
		{one, "http://two.example.com/other", false},
		{one, "http://127.0.0.1/other", false},
		{secure, "http://one.example.com/other", false},
		{one, "http://one.example.com/again", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := fakeClient(t, func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/other" {
					return respond(http.StatusOK, text("right"))
				}
				resp, err := respond(http.StatusFound, text(""))
				resp.Header.Set("Location", test.to)
				return resp, err
			}, test.from)
			if _, err := loose(t.Context(), c, 1); (err == nil) != test.ok {
				t.Errorf("from %s to %s: %v", test.from.URL, test.to, err)
			}
		})
	}
}
