package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// FlagError returns the error for a flag or its value in words for users: strconv's are for
// programmers.
func FlagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	cause := invalid.Unwrap()
	if _, ok := errors.AsType[*strconv.NumError](cause); ok {
		cause = fmt.Errorf("want %s", wanted(invalid.GetFlag().Value.Type()))
	}
	value := strconv.Quote(invalid.GetValue())
	if strings.HasPrefix(cause.Error(), value) {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, cause)
	}
	return fmt.Errorf("--%s %s: %w", invalid.GetFlag().Name, value, cause)
}

// wanted says what the value of a flag of a type of pflag is.
func wanted(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "uint16":
		return "0 to 65535"
	}
	return "a whole number"
}
