package options

import (
	"errors"
	"strconv"
)

// ID is a flag for the number of a user or a group; it is nil if it is not given.
type ID struct{ Value *uint32 }

// Set implements [pflag.Value].
func (i *ID) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return errors.New("want a number")
	}
	i.Value = new(uint32(n))
	return nil
}

func (i *ID) String() string {
	if i.Value == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*i.Value), 10)
}

// Type returns the word for the value in help texts.
func (i *ID) Type() string { return "number" }

// Mode is a flag for permissions; it is nil if it is not given.
type Mode struct{ Value *uint32 }

// Set implements [pflag.Value].
func (m *Mode) Set(text string) error {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o777 {
		return errors.New("want an octal number up to 777, such as 027")
	}
	m.Value = new(uint32(n))
	return nil
}

func (m *Mode) String() string {
	if m.Value == nil {
		return ""
	}
	return "0" + strconv.FormatUint(uint64(*m.Value), 8)
}

// Type returns the word for the value in help texts.
func (m *Mode) Type() string { return "mode" }
