package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// byteSize is a flag for a number of bytes, such as 4096, 32M or 1GiB. All units are powers
// of 1024.
type byteSize int64

var sizeUnits = []struct {
	suffix string
	shift  uint
}{{"k", 10}, {"m", 20}, {"g", 30}}

func (s *byteSize) Set(text string) error {
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
	*s = byteSize(n << shift)
	return nil
}

func (s *byteSize) String() string {
	for _, u := range slices.Backward(sizeUnits) {
		if *s != 0 && *s%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(*s)>>u.shift, 10) + strings.ToUpper(u.suffix)
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type returns the word for the value in help texts.
func (s *byteSize) Type() string { return "size" }

// amount returns a number of bytes for people, in units of powers of 1024.
func amount(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	size, unit := float64(n)/(1<<10), 0
	for ; size >= 1000 && unit < len(units)-1; unit++ {
		size /= 1 << 10
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + units[unit]
}
