// Package mounted is a source while it is mounted. It answers requests of other processes
// (answer.go), reports its status (status.go), lists and takes back edits (edits.go), applies
// patches (apply.go), saves what was edited (save.go), and ends when nobody uses it (idle.go).
// Package cmd/internal/daemon puts it into the background, finds it and unmounts it.
//
// Begin with mounted.go, which has a mount from its start to its end, then answer.go.
package mounted
