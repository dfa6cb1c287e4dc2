// Package cli is what all commands have in common when they deal with users. Begin with what a
// command ends with:
//
//   - errors.go: [Error] has an exit code and a hint, which [AsError] finds for the errors of other
//     packages; exitcodes.go lists the codes
//   - print.go: standard output, and how an error is printed; written.go tells of a file that was
//     written, answer.go what came of edits, json.go adds --json
//   - args.go and flagerrors.go: mistakes in arguments and flags; near.go guesses what was meant
//   - interrupt.go: what a signal does to a command
//   - progress.go: bars; log.go: what is logged
//   - stdout_linux.go: whether a shell has closed standard output
//
// Package cmd/internal/options has the flags themselves.
package cli
