package main

import (
	"errors"
	"strconv"
)

// maybeID is a flag for the number of a user or a group; it is nil if it is not given.
type maybeID struct{ value *uint32 }

// Set implements [pflag.Value].
func (i *maybeID) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return errors.New("want a number")
	}
	i.value = new(uint32(n))
	return nil
}

func (i *maybeID) String() string {
	if i.value == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*i.value), 10)
}

// Type returns the word for the value in help texts.
func (i *maybeID) Type() string { return "number" }

// maybeMode is a flag for permissions; it is nil if it is not given.
type maybeMode struct{ value *uint32 }

// Set implements [pflag.Value].
func (m *maybeMode) Set(text string) error {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o777 {
		return errors.New("want an octal number up to 777, such as 027")
	}
	m.value = new(uint32(n))
	return nil
}

func (m *maybeMode) String() string {
	if m.value == nil {
		return ""
	}
	return "0" + strconv.FormatUint(uint64(*m.value), 8)
}

// Type returns the word for the value in help texts.
func (m *maybeMode) Type() string { return "mode" }
