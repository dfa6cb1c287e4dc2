// Command lorefs mounts game archives as ordinary directories, and reads them without a
// mount. The guides in cmd/internal/manual describe how to use it.
//
// Each subcommand has a file of its own here, but that set.go has those that edit by an
// expression, and decode.go has encode; apply_folder.go is apply with a folder; main.go lists them all, and helper.go is what mount(8)
// starts. They stand on packages that deal with users, from the ground up:
//
//   - cmd/internal/cli: errors, exit codes, what is printed, signals
//   - cmd/internal/options: the table behind flags, -o, the environment and the file of settings
//   - cmd/internal/reach: finds mounts by paths, opens sources and what is mounted
//   - cmd/internal/filing, parts and codec: what several commands do with folders and packets
//   - cmd/internal/help: help, man pages and completion
//
// Only these use standard output and exit codes. Package cmd/internal/kinds knows the kinds of
// sources, cmd/internal/mounted what a mount answers, and cmd/internal/daemon how a mount lives in
// the background.
package main
