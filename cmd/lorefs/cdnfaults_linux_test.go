package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/casc/casctest"
	"lorefs/cmd/internal/cli"
	"lorefs/internal/remote/remotetest"
	"lorefs/internal/testneeds"
)

// faultyHosts are faults of hosts that are noticed at once. Those that are noticed after half a
// minute are in the tests of internal/remote, which have a clock of their own.
func faultyHosts() []remotetest.Fault {
	few := []remotetest.Fault{remotetest.Forbidden, remotetest.Dropped, remotetest.Unavailable, remotetest.Reset}
	all := append(few, remotetest.NotFound, remotetest.TooMany, remotetest.Broken, remotetest.WrongBytes,
		remotetest.HTML, remotetest.Short, remotetest.WrongRange, remotetest.Packed)
	return all[:testneeds.Cases(len(few), len(all), len(all))]
}

// newPackedRun is newCDNRun with everything in archives, so that all is looked for in two places.
func newPackedRun(t *testing.T, n, archives int) *cdnRun {
	t.Helper()
	return newRun(t, n, archives, casctest.NewPackedCDN)
}

// exported runs export, and returns what it says, its exit code, and how many requests it made.
func (r *cdnRun) exported(name string) (report filedReport, code, requests int) {
	r.t.Helper()
	r.server.Reset()
	out, code := r.run(name, "export", "--json", filepath.Join(r.dir, name))
	if err := json.Unmarshal(out, &report); err != nil && code <= cli.ExitFailure {
		r.t.Fatalf("%v: %s", err, out)
	}
	objects, indexes, _ := r.server.Asked()
	return report, code, objects + indexes
}

// filedReport is what export says with --json.
type filedReport struct{ Files, Missing, Damaged, Failed int }

// run runs a command with a folder for what is fetched, and returns its output and exit code.
func (r *cdnRun) run(cache string, args ...string) ([]byte, int) {
	r.t.Helper()
	c := r.command(filepath.Join(r.dir, "fetched-"+cache), args[0], args[1:]...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(r.dir, "cache-"+cache))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	if words := "local archives"; strings.Contains(stderr.String()+string(out), words) {
		r.t.Errorf("%v: %q of a CDN: %s", args, words, stderr.String())
	}
	return out, code
}

// TestCDNOneFaultyHost has one of two hosts do something wrong, be it the first or the second, or
// for each object another one: all comes, with an empty cache and with everything in archives, and
// at most twice as many requests are made, beside those that net/http repeats.
func TestCDNOneFaultyHost(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newPackedRun(t, 300, 3)
	right, _, least := r.exported("right")
	r.checkTree(filepath.Join(r.dir, "right"))
	modes := map[string]func(r remotetest.Request) bool{
		"first":  func(r remotetest.Request) bool { return r.Host == 0 },
		"second": func(r remotetest.Request) bool { return r.Host == 1 },
		"by turns": func(r remotetest.Request) bool {
			h := fnv.New32()
			h.Write([]byte(r.Path))
			return r.Host == int(h.Sum32()>>4&1)
		},
	}
	for _, fault := range faultyHosts() {
		for mode, faulty := range modes {
			r.server.Objects.SetFault(func(req remotetest.Request) remotetest.Fault {
				if faulty(req) {
					return fault
				}
				return remotetest.None
			})
			name := fmt.Sprintf("%v %s", fault, mode)
			report, code, requests := r.exported(name)
			if fault == remotetest.Dropped {
				requests -= r.repeated()
			}
			if code != 0 || report != right || requests > 2*least {
				t.Errorf("%s: exit code %d, %+v, %d requests, without a fault %d", name, code, report, requests, least)
			}
			r.checkTree(filepath.Join(r.dir, name))
		}
	}
}

// repeated counts the requests that net/http made once more by itself: on a connection that it had used
// before, it can't tell a host that drops it from one that was tired of waiting. More than one repeat of
// the same is not its own.
func (r *cdnRun) repeated() (n int) {
	asked := map[remotetest.Request]int{}
	for _, req := range r.server.Objects.Requests() {
		if asked[req]++; asked[req] == 2 {
			n++
		}
	}
	return n
}

// TestCDNForbids has both hosts answer 403 for what they do not have, as stores do that must not
// be listed.
func TestCDNForbids(t *testing.T) {
	t.Parallel()
	r := newPackedRun(t, 300, 3)
	r.server.Objects.SetFault(func(req remotetest.Request) remotetest.Fault {
		if _, ok := r.cdn.Files[strings.TrimPrefix(req.Path, "tpr/sample/")]; !ok {
			return remotetest.Forbidden
		}
		return remotetest.None
	})
	if report, code, requests := r.exported("out"); code != 0 || report.Failed+report.Missing+report.Damaged > 0 {
		t.Errorf("exit code %d, %+v, %d requests", code, report, requests)
	}
	r.checkTree(filepath.Join(r.dir, "out"))
}

// TestCDNLost has both hosts do something wrong with one archive, or with its index. The other
// files come, and those of the archive have failed, in the words and by the exit codes of all
// commands; if both hosts say that it is not there, they are missing. They are not asked for it
// again for each file.
func TestCDNLost(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	faults := faultyHosts()
	for i, fault := range faults[:testneeds.Cases(2, len(faults), len(faults))] {
		for _, suffix := range []string{"", ".index"} {
			name := fmt.Sprintf("%v%s", fault, suffix)
			t.Run(name, func(t *testing.T) {
				t.Parallel() // each waits before it asks again
				exported := loseInExport(t, name, suffix, fault)
				if i == 0 || !testneeds.Quick() {
					exported.checkOthers(name, fault == remotetest.NotFound)
				}
			})
		}
	}
}

// loseInExport exports all while both hosts do something wrong with the first archive, or with its
// index.
func loseInExport(t *testing.T, name, suffix string, fault remotetest.Fault) *cdnRun {
	t.Helper()
	const n = 300
	r := newCDNRun(t, n, 3)
	right, _, free := r.exported("right")
	asked := r.lose(r.cdn.Archives[0].String()+suffix, fault)
	gone := fault == remotetest.NotFound
	report, code, requests := r.exported(name)
	count := report.Failed
	if gone {
		count = report.Missing
	}
	if code != cli.ExitFailure || count == 0 || count >= n || report.Damaged > 0 || report.Files+count != right.Files {
		t.Errorf("%s: exit code %d, %+v, want %s and the others", name, code, report, lostWord(gone))
	}
	// What was sent, and was wrong, is asked for again file by file, which may be right.
	most := 40
	// What an index that is nowhere would list may lie loose.
	if refusesNothing(fault) || gone && suffix != "" {
		most += 2 * count
	}
	if n := int(asked.Load()); n > most || requests > most+free {
		t.Errorf("%s: it was asked for %d times, and there were %d requests", name, n, requests)
	}
	return r
}

func lostWord(gone bool) string {
	if gone {
		return "missing"
	}
	return "failed"
}

// checkOthers checks what the other commands say of the files that were not exported.
func (r *cdnRun) checkOthers(name string, gone bool) {
	r.t.Helper()
	word := lostWord(gone)
	out, code := r.run(name, "info", "--json", r.anyLost(name))
	if !strings.Contains(string(out), `"reason": "`+word+`"`) || (code == cli.ExitFailure) == gone {
		r.t.Errorf("%s: info: exit code %d: %s", name, code, out)
	}
	out, code = r.run(name, "verify", "--json")
	if code != cli.ExitFailure || strings.Contains(string(out), `"kind":"damaged"`) || !strings.Contains(string(out), `"kind":"`+word+`","file":"files/`) {
		r.t.Errorf("%s: verify: exit code %d: %.1000s", name, code, out)
	}
	out, code = r.run(name, "fetch", "--json", filepath.Join(r.dir, "mirror "+name))
	if code != cli.ExitFailure || strings.Contains(string(out), `"left": 0`) {
		r.t.Errorf("%s: fetch: exit code %d: %s", name, code, out)
	}
}

func refusesNothing(f remotetest.Fault) bool {
	return f != remotetest.Forbidden && f != remotetest.Dropped && f != remotetest.Unavailable && f != remotetest.Broken && f != remotetest.NotFound
}

// lose has both hosts do something wrong with an object, and returns how often they were asked.
func (r *cdnRun) lose(object string, fault remotetest.Fault) (asked *atomic.Int64) {
	asked = new(atomic.Int64)
	r.server.Objects.SetFault(func(req remotetest.Request) remotetest.Fault {
		if !strings.HasSuffix(req.Path, "/"+object) {
			return remotetest.None
		}
		asked.Add(1)
		return fault
	})
	return asked
}

// anyLost returns the path of a file that was not exported.
func (r *cdnRun) anyLost(dir string) string {
	r.t.Helper()
	for i := range r.n {
		if _, err := os.Stat(filepath.Join(r.dir, dir, r.large.Find(i))); err != nil {
			return r.large.Find(i)
		}
	}
	r.t.Fatal("all files are there")
	return ""
}

// TestCDNOffline reads with an empty cache for files: nobody was asked for them, so none is damaged.
func TestCDNOffline(t *testing.T) {
	t.Parallel()
	r := newCDNRun(t, 100, 1)
	if out, code := r.run("x", "ls", "files"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	out, code := r.run("x", "export", "--json", "--offline", filepath.Join(r.dir, "out"))
	var report filedReport
	if err := json.Unmarshal(out, &report); err != nil || code != cli.ExitFailure || report.Failed != r.n || report.Damaged+report.Missing > 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestCDNLimited exports from one host that answers two requests a second: all comes, with at most
// half as many requests again as without a limit.
func TestCDNLimited(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newPackedRun(t, 240, 6)
	r.oneHost = true
	free, _, least := r.exported("free")
	var mu sync.Mutex
	var answered []time.Time
	r.server.Objects.SetFault(func(remotetest.Request) remotetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		for len(answered) > 0 && now.Sub(answered[0]) >= time.Second {
			answered = answered[1:]
		}
		if len(answered) == 2 {
			return remotetest.TooMany
		}
		answered = append(answered, now)
		return remotetest.None
	})
	report, code, requests := r.exported("limited")
	if code != 0 || report != free || 2*requests > 3*least {
		t.Errorf("exit code %d, %+v, %d requests, without a limit %d", code, report, requests, least)
	}
	r.checkTree(filepath.Join(r.dir, "limited"))
	t.Logf("%d requests, without a limit %d", requests, least)
}

// TestCDNCut exports from one host that cuts every third connection within its answer.
func TestCDNCut(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newPackedRun(t, 240, 6)
	r.oneHost = true
	free, _, least := r.exported("free")
	var mu sync.Mutex
	asked := 0
	r.server.Objects.SetFault(func(remotetest.Request) remotetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked%3 == 0 {
			return remotetest.Reset
		}
		return remotetest.None
	})
	report, code, requests := r.exported("cut")
	if code != 0 || report != free || requests > 2*least {
		t.Errorf("exit code %d, %+v, %d requests, without cuts %d", code, report, requests, least)
	}
	r.checkTree(filepath.Join(r.dir, "cut"))
	t.Logf("%d requests, without cuts %d", requests, least)
}

// TestCDNNothing has both hosts do something wrong with everything while the cache is empty: all
// commands say that the source can't be opened, with few requests. With the hosts back, all is there.
func TestCDNNothing(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newPackedRun(t, 100, 2)
	right, _, _ := r.exported("right")
	for i, fault := range faultyHosts() {
		r.server.Objects.SetFault(func(remotetest.Request) remotetest.Fault { return fault })
		name := fault.String()
		commands := [][]string{
			{"export", "--json", filepath.Join(r.dir, name)},
			{"ls"},
			{"info", "--json"},
			{"find"},
			{"cat", r.large.Find(0)},
			{"verify", "--json"},
			{"fetch", "--json", filepath.Join(r.dir, "mirror "+name)},
		}
		if i > 0 {
			commands = commands[:1]
		}
		for _, args := range commands {
			r.server.Reset()
			out, code := r.run(name, args...)
			objects, indexes, _ := r.server.Asked()
			// The first configuration is what nothing comes without.
			if code != cli.ExitSource || len(out) > 0 || objects+indexes > 20 {
				t.Errorf("%s: %v: exit code %d, %d requests: %s", name, args, code, objects+indexes, out)
			}
		}
		r.server.Objects.SetFault(nil)
		if report, code, _ := r.exported(name); code != 0 || report != right {
			t.Errorf("%s: exit code %d, %+v, want %+v", name, code, report, right)
		}
	}
}
