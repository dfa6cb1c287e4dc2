// Package help is what lorefs says about itself. help.go prints the help of a command, with the
// examples of examples.go. guides.go prints the guides of cmd/internal/manual, and manpages.go makes
// man pages of both. completion.go offers words to a shell. unknown.go answers for commands and flags
// that do not exist.
package help
