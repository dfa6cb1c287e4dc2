// Package testneeds checks whether a test's requirements are met. If not, the test is
// skipped with the reason, or fails if LOREFS_REQUIRE_ALL is set, as on machines that
// should meet all of them.
//
// testneeds.go has the requirements; read it first. amount.go says how much is tested, parallel.go and
// alone.go what may run at once, and race.go whether the race detector watches.
package testneeds
