package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// Definition is one .def file as a tree. It must not be changed after a [Table] is made
// from it.
type Definition struct {
	// Name is the packet's name, such as S_CHAT.
	Name string `json:"name"`
	// Version counts from 1. It is 0 if the file's name has none.
	Version int `json:"version"`
	// Platform is pc, console, classic or whatever the file's name says; empty for all.
	Platform string `json:"platform,omitempty"`
	// Patches are the patches that the file says it is good for.
	Patches PatchRange `json:"patches,omitzero"`
	// Fields are the lines without indentation, each with the fields below it.
	Fields []Field `json:"fields"`
	// Warnings are remarks on what is odd but unambiguous.
	Warnings []Diagnostic `json:"warnings,omitempty"`

	// includes is set for a definition with @include.
	includes bool
}

// Field is one line of a definition.
type Field struct {
	// Name is empty for the elements of array<T> and T[n].
	Name string `json:"name,omitempty"`
	Type Type   `json:"type"`
	// Elem is the type T of array<T> and T[n]; nil for an array of objects.
	Elem *Field `json:"of,omitempty"`
	// Len is the n of T[n].
	Len int `json:"length,omitempty"`
	// Fields are the fields of an object, and of an array without Elem.
	Fields []Field `json:"fields,omitempty"`
	// Interleaved is set for array[interleaved]: the elements of such arrays that follow
	// one another alternate.
	Interleaved bool `json:"interleaved,omitempty"`
	// Default is encoded if there is no value; empty means zero.
	Default string `json:"default,omitempty"`
	// Patches are the patches in which the field exists.
	Patches PatchRange `json:"patches,omitzero"`
	// Comment follows the # in the line.
	Comment string `json:"comment,omitempty"`
	// Line counts from 1, in the definition or in the file it includes.
	Line int `json:"-"`
	// File is the name of the file with the line.
	File string `json:"-"`
}

// String returns the type as in a definition, such as array<int32>.
func (f *Field) String() string {
	var lens strings.Builder
	for f.Type == TypeFixed && f.Elem != nil {
		fmt.Fprintf(&lens, "[%d]", f.Len)
		f = f.Elem
	}
	s := f.Type.String()
	if f.Elem != nil {
		s += "<" + f.Elem.String() + ">"
	}
	if f.Interleaved {
		s += "[interleaved]"
	}
	return s + lens.String()
}

// checkDefault checks the default in the line.
func (f *Field) checkDefault() error {
	if f.Default == "" || !f.Type.scalar() {
		return fmt.Errorf("%v %s: want a value behind =, and a type that is one number", f, f.Name)
	}
	_, err := f.defaultValue()
	return err
}

// defaultValue returns the value of Default, if there is one.
func (f *Field) defaultValue() (Value, error) {
	if f.Default == "" {
		return Value{}, nil
	}
	v, err := scalarFromText(f.Type, f.Default)
	if err != nil {
		return Value{}, fmt.Errorf("%s=%s: %w", f.Name, strconv.Quote(f.Default), err)
	}
	return v, nil
}

// FileName is the parsed name of a definition's file, NAME.VERSION[.PLATFORM].def.
type FileName struct {
	Name     string
	Version  int
	Platform string
	// Script is set for .js, code that reads the packet. lorefs never runs it.
	Script bool
}

// ParseFileName parses the name of a definition's file. ok is false for other names.
func ParseFileName(name string) (n FileName, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) < 3 || len(parts) > 4 {
		return n, false
	}
	ext := parts[len(parts)-1]
	version, err := strconv.ParseUint(parts[1], 10, 31)
	if err != nil || (ext != "def" && ext != "js") || !isName(parts[0]) {
		return n, false
	}
	n = FileName{Name: parts[0], Version: int(version), Script: ext == "js"}
	if len(parts) == 4 {
		n.Platform = parts[2]
		if !isName(n.Platform) {
			return n, false
		}
	}
	// Two spellings of one number would be one definition twice.
	return n, strconv.Itoa(n.Version) == parts[1]
}

// String returns NAME.VERSION or NAME.VERSION.PLATFORM, without the extension.
func (n FileName) String() string {
	s := n.Name + "." + strconv.Itoa(n.Version)
	if n.Platform != "" {
		s += "." + n.Platform
	}
	return s
}

// isName reports whether s is an identifier: letters, digits and _, no digit first.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
