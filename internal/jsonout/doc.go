// Package jsonout prints the JSON of commands, which is a contract with scripts.
//
// A command prints either one object, on many lines, or a list: an object a line. The object,
// or the first line of the list, begins with schema_version. Keys that lorefs makes are
// snake_case; names that come from a source, such as those of attributes, stay as they are.
// Errors are no part of it: they go to stderr as text, and the exit code says which they are.
//
// Nothing is escaped but what JSON wants, so that names and values are found by grep.
package jsonout
