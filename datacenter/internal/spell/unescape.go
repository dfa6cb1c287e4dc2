package spell

import (
	"bytes"
	"fmt"
	"strconv"

	"lorefs/datacenter"
	"lorefs/internal/wtf8"
)

// UnescapeValue is the inverse of escaping a value that XML can't hold.
func UnescapeValue(s []byte) ([]byte, error) {
	plain := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			plain = append(plain, s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\\' {
			plain = append(plain, '\\')
			i++
			continue
		}
		unit, ok := uint16(0), false
		if i+6 <= len(s) && s[i+1] == 'u' {
			unit, ok = hexUnit(s[i+2 : i+6])
		}
		if !ok {
			return nil, fmt.Errorf(`%w: a \ that begins neither \\ nor \uHHHH`, datacenter.ErrValue)
		}
		plain = wtf8.Append(plain, []byte{byte(unit), byte(unit >> 8)})
		i += 5
	}
	plain = wtf8.Append(nil, wtf8.AppendUTF16(nil, string(plain))) // two halves may have met
	_, err := datacenter.StringValue(string(plain))
	return plain, err
}

// hexUnit reads four hex digits.
func hexUnit(digits []byte) (uint16, bool) {
	n, err := strconv.ParseUint(string(digits), 16, 16)
	return uint16(n), err == nil
}

// UnescapeName is the inverse of escaping a name in a sheet with dc:names="escaped".
func UnescapeName(s []byte) []byte {
	if !bytes.Contains(s, []byte("_x")) {
		return s
	}
	if string(s) == "_x_" {
		return nil
	}
	var units []byte
	rest := s
	for {
		i := bytes.Index(rest, []byte("_x"))
		if i < 0 {
			break
		}
		units = wtf8.AppendUTF16(units, string(rest[:i]))
		rest = rest[i:]
		const length = len("_xHHHH_")
		if len(rest) >= length && rest[length-1] == '_' {
			if unit, ok := hexUnit(rest[2 : length-1]); ok {
				units = append(units, byte(unit), byte(unit>>8))
				rest = rest[length:]
				continue
			}
		}
		units = append(units, '_', 0)
		rest = rest[1:]
	}
	units = wtf8.AppendUTF16(units, string(rest))
	return wtf8.Append(nil, units)
}
