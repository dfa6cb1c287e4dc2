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
		path := func() string { return "/a/b" }
		for range 100 {
			l.add("read", path, errors.New("block 7 is damaged"))
		}
		l.add("read", path, errors.New("block 8 is damaged"))
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines logged, want 2:\n%s", n, out.String())
		}
		time.Sleep(logEvery)
		l.add("read", path, errors.New("block 7 is damaged"))
		if n := strings.Count(out.String(), "block 7"); n != 2 {
			t.Errorf("block 7 was logged %d times, want 2", n)
		}
		if r := l.records(); len(r) != 2 || r[1].Err != "block 7 is damaged" || r[1].Path != "/a/b" {
			t.Errorf("records = %+v", r)
		}
	})
}

func TestErrorLogKeepsTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := errorLog{logger: slog.New(slog.DiscardHandler)}
		for i := range 3 * keptErrors {
			l.add("read", func() string { return "/" }, fmt.Errorf("error %d", i))
			time.Sleep(logEvery)
		}
		r := l.records()
		if len(r) != keptErrors || r[keptErrors-1].Err != fmt.Sprintf("error %d", 3*keptErrors-1) {
			t.Errorf("%d records, the last is %+v", len(r), r[len(r)-1])
		}
	})
}

func TestErrorLogIsBoundedByOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := errorLog{logger: slog.New(slog.NewTextHandler(&out, nil))}
		paths := 0
		path := func() string { paths++; return "/" }
		for range 10 {
			for i := range 2 * keptErrors {
				l.add("read", path, fmt.Errorf("block %d is damaged", i))
			}
		}
		l.add("readdir", path, errors.New("no listing"))
		if n := strings.Count(out.String(), "\n"); n != loggedPerOp+1 || paths != n {
			t.Errorf("%d lines logged and %d paths asked for, want %d", n, paths, loggedPerOp+1)
		}
		time.Sleep(logEvery)
		l.add("read", path, errors.New("block 99 is damaged"))
		if r := l.records(); len(r) != loggedPerOp+2 || r[len(r)-1].Err != "block 99 is damaged" {
			t.Errorf("a minute later the records are %+v", r)
		}
	})
}

// TestErrorLogKeepsAllFailedChanges logs few of them, but remembers each file's.
func TestErrorLogKeepsAllFailedChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := errorLog{logger: slog.New(slog.NewTextHandler(&out, nil))}
		for range 3 {
			for i := range 2 * loggedPerOp {
				l.addChange("close", fmt.Sprintf("/%d", i), errors.New("no number"))
			}
		}
		if n := strings.Count(out.String(), "\n"); n != loggedPerOp {
			t.Errorf("%d lines logged, want %d", n, loggedPerOp)
		}
		if r := l.records(); len(r) != 2*loggedPerOp || r[0].Path != "/0" {
			t.Errorf("records = %+v", r)
		}
		time.Sleep(logEvery)
		l.addChange("close", "/0", errors.New("no number"))
		if n := strings.Count(out.String(), "path=/0 "); n != 2 {
			t.Errorf("/0 was logged %d times, want 2", n)
		}
		if r := l.records(); len(r) != 2*loggedPerOp || r[len(r)-1].Path != "/0" {
			t.Errorf("records = %+v", r)
		}
	})
}
