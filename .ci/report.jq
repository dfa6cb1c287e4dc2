# From a log of go test -json: each test or package that ended as $ending, and
# below its name the last $lines of what it printed, without go test's own.
[.[] | .Package //= .ImportPath] | group_by([.Package, .Test])[]
| select(any(.[]; .Action == $ending or .Action == "build-" + $ending))
| [.[].Output // empty | select(test("^\\s*(===|---) ") | not) | rtrimstr("\n")][-$lines:] as $printed
| "\($ending): \(.[0].Package) \(.[0].Test // "")", ($printed[] | "  " + .)
