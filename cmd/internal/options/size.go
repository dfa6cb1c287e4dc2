package options

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ByteSize is a flag for a number of bytes, such as 4096, 32M or 1GiB. All units are powers
// of 1024.
type ByteSize int64

var sizeUnits = []struct {
	suffix string
	shift  uint
}{{"k", 10}, {"m", 20}, {"g", 30}}

// Set implements [pflag.Value].
func (s *ByteSize) Set(text string) error {
	number, shift := strings.ToLower(text), uint(0)
	number = strings.TrimSuffix(strings.TrimSuffix(number, "ib"), "b")
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, shift = n, u.shift
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a size: want a number of bytes, or one with K, M or G", text)
	}
	*s = ByteSize(n << shift)
	return nil
}

func (s *ByteSize) String() string {
	for _, u := range slices.Backward(sizeUnits) {
		if *s != 0 && *s%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(*s)>>u.shift, 10) + strings.ToUpper(u.suffix)
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type returns the word for the value in help texts.
func (s *ByteSize) Type() string { return "size" }
