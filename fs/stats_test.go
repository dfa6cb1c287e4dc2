package fs

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestErrorLogSaysTheSameOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := errorLog{logger: slog.New(slog.NewTextHandler(&out, nil))}
		for range 100 {
			l.add(0, "read", "/a/b", errors.New("block 7 is damaged"), odd)
		}
		l.add(0, "read", "/a/b", errors.New("block 8 is damaged"), odd)
		l.add(0, "read", "/a/b", errors.New("no key"), plain)
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines logged, want 2:\n%s", n, out.String())
		}
		time.Sleep(logEvery)
		l.add(0, "read", "/a/b", errors.New("block 7 is damaged"), odd)
		if n := strings.Count(out.String(), "block 7"); n != 2 {
			t.Errorf("block 7 was logged %d times, want 2", n)
		}
		total, r := l.records()
		if total != 103 || len(r) != 3 || r[2].Err != "block 7 is damaged" || r[2].Path != "/a/b" || r[2].Times != 101 {
			t.Errorf("%d errors: %+v", total, r)
		}
	})
}

func TestErrorLogKeepsTheLatest(t *testing.T) {
	l := errorLog{logger: slog.New(slog.DiscardHandler)}
	for i := range 3 * maxErrors {
		l.add(0, "read", "/", fmt.Errorf("error %d", i), odd)
	}
	total, r := l.records()
	if total != 3*maxErrors || len(r) != maxErrors || r[maxErrors-1].Err != fmt.Sprintf("error %d", 3*maxErrors-1) {
		t.Errorf("%d errors, %d records, the last is %+v", total, len(r), r[len(r)-1])
	}
}

// TestErrorLogNamesAll logs few of many errors, but remembers each.
func TestErrorLogNamesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := errorLog{logger: slog.New(slog.NewTextHandler(&out, nil))}
		for i := range maxErrors {
			l.add(0, "close", fmt.Sprintf("/%d", i), fmt.Errorf("block %d is damaged", i), odd)
		}
		l.add(0, "readdir", "/", errors.New("no listing"), odd)
		if n := strings.Count(out.String(), "\n"); n != loggedPerOp+1 {
			t.Errorf("%d lines logged, want %d", n, loggedPerOp+1)
		}
		if _, r := l.records(); len(r) != maxErrors || r[0].Path != "/1" {
			t.Errorf("records = %+v", r)
		}
		time.Sleep(logEvery)
		l.add(0, "close", "/0", errors.New("block 0 is damaged"), odd)
		if n := strings.Count(out.String(), "path=/0 "); n != 2 {
			t.Errorf("/0 was logged %d times, want 2", n)
		}
	})
}

// TestErrorLogCountsAReadOnce counts what a thread repeats at once as one error, but not what
// another thread meets, or the same one later.
func TestErrorLogCountsAReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := errorLog{logger: slog.New(slog.DiscardHandler)}
		noKey := errors.New("no key")
		count := func(want int) {
			t.Helper()
			if total, r := l.records(); total != uint64(want) || r[len(r)-1].Times != want {
				t.Errorf("%d errors, want %d: %+v", total, want, r)
			}
		}
		for range 5 {
			l.add(7, "read", "/a", noKey, plain)
		}
		count(1)
		l.add(8, "read", "/a", noKey, plain)
		count(2)
		time.Sleep(repeatTime)
		l.add(8, "read", "/a", noKey, plain)
		count(3)
	})
}
