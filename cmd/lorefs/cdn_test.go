package main

import (
	"os"
	"slices"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"lorefs/casc/casctest"
	"lorefs/casc/config"
	"lorefs/cmd/internal/kinds/cdntest"
	"lorefs/internal/remote/remotetest"
)

// cmdCDN runs "cdn WHAT [ARG...]":
//
//	cdn serve LIST        starts two hosts, which are HOST1 and HOST2, and VERSIONS; the names are
//	                      in the file LIST, two of the files in FILE1 and FILE2, and FILEINDEX is
//	                      where the index of loose files lies
//	cdn fault HOST FAULT  lets a host, 1 or 2 or all, do something wrong
//	cdn asked MOST        fails if more than so many objects were asked for since the last time;
//	                      indexes don't count
//	cdn newer             has the service name another build
//	cdn stop              ends all hosts
func cmdCDN(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: cdn WHAT [ARG...]")
	}
	if args[0] == "serve" {
		serveCDN(ts, args[1])
		return
	}
	s := ts.Value(held{}).(*held).cdn
	switch args[0] {
	case "fault":
		i := slices.IndexFunc(remotetest.Faults, func(f remotetest.Fault) bool { return f.String() == args[2] })
		if i < 0 {
			ts.Fatalf("no fault is called %s", args[2])
		}
		s.Objects.SetFault(func(r remotetest.Request) remotetest.Fault {
			if args[1] == "all" || strconv.Itoa(r.Host+1) == args[1] {
				return remotetest.Faults[i]
			}
			return remotetest.None
		})
	case "asked":
		most, err := strconv.Atoi(args[1])
		ts.Check(err)
		objects, indexes, tables := s.Asked()
		ts.Logf("%d objects, %d indexes, %d tables", objects, indexes, tables)
		if objects+tables > most {
			ts.Fatalf("%d objects and %d tables were asked for: %v", objects, tables, s.Objects.Requests())
		}
		s.Reset()
	case "newer":
		_, c, err := casctest.NewLargeCDN(500, 1)
		ts.Check(err)
		s.Put(c, "1.0.0.2", "")
	case "stop":
		s.Close()
	default:
		ts.Fatalf("cdn %s is unknown", args[0])
	}
}

func serveCDN(ts *testscript.TestScript, list string) {
	l, c, err := casctest.NewLargeCDN(2000, 3)
	ts.Check(err)
	s := cdntest.Start(2, c, "1.0.0.1")
	ts.Defer(s.Close)
	ts.Value(held{}).(*held).cdn = s
	ts.Check(os.WriteFile(ts.MkAbs(list), []byte(l.List), 0o600))
	ts.Setenv("HOST1", s.Hosts()[0])
	ts.Setenv("HOST2", s.Hosts()[1])
	ts.Setenv("VERSIONS", s.VersionHost())
	ts.Setenv("BUILD", c.Build.String())
	ts.Setenv("FILEINDEX", config.Path("data", c.FileIndex)+".index")
	ts.Setenv("FILE1", l.Find(0))
	ts.Setenv("FILE2", l.Find(1000))
}
