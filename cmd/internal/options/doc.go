// Package options is the table of options, and where their values come from. Begin with the table,
// then read how it is filled:
//
//   - option.go: an [Option] is a flag, a word of -o, an environment variable and a setting at once;
//     a [Set] holds those of a command
//   - settings.go: the environment, the file of settings, and which of them counts
//   - listed.go: the lists of -o, as mount(8) passes them
//   - source.go and cdn.go: the options of all commands that open a source; sourcekind.go finds the
//     kind of a source, and which of them are for it
//   - mount.go, writing.go, logging.go: those of a mount, of what is written, of the log
//   - size.go, owner.go: values such as 64M, and numbers that may be missing
//
// An option that is for one command stands with that command, in cmd/lorefs.
package options
