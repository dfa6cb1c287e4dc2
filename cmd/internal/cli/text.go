package cli

import (
	"strconv"
	"strings"
)

// Amount returns a number of bytes for people, in units of powers of 1024.
func Amount(n int64) string {
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

// OrList returns words for a message that wants one of them.
func OrList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// AsList returns a list that is not null in JSON.
func AsList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
