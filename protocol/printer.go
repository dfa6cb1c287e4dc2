package protocol

import "fmt"

// AppendText appends the definition in its canonical form to dst: its patches, then a line
// for each field with one space between the words, LF at the end, included files in the
// place of their @include. Comments in lines of their own are not kept.
//
// Parsing the text makes the same fields again.
func (d *Definition) AppendText(dst []byte) ([]byte, error) {
	if r := d.Patches; r != (PatchRange{}) {
		dst = append(dst, "# "...)
		switch {
		case r.Before == 0:
			dst = fmt.Appendf(dst, "majorPatchVersion >= %v", r.Min)
		case r.Min == 0:
			dst = fmt.Appendf(dst, "majorPatchVersion < %v", r.Before)
		default:
			dst = fmt.Appendf(dst, "majorPatchVersion >= %v && majorPatchVersion < %v", r.Min, r.Before)
		}
		dst = append(dst, "\n\n"...)
	}
	return appendFields(dst, d.Fields, 0)
}

func appendFields(dst []byte, fields []Field, depth int) ([]byte, error) {
	if depth > maxNesting {
		return dst, fmt.Errorf("protocol: fields are nested deeper than %d", maxNesting)
	}
	for i := range fields {
		f := &fields[i]
		for range depth {
			dst = append(dst, "- "...)
		}
		dst = append(dst, f.String()...)
		dst = append(dst, ' ')
		dst = append(dst, f.Name...)
		if f.Default != "" {
			dst = append(append(dst, '='), f.Default...)
		}
		dst = f.Patches.appendFlag(dst)
		if f.Comment != "" {
			dst = append(append(dst, " # "...), f.Comment...)
		}
		dst = append(dst, '\n')
		var err error
		if dst, err = appendFields(dst, f.Fields, depth+1); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendFlag appends the range as behind a field's name.
func (r PatchRange) appendFlag(dst []byte) []byte {
	if r == (PatchRange{}) {
		return dst
	}
	dst = append(append(dst, " ^"...), r.Min.String()...)
	if r.Before != 0 {
		dst = append(append(dst, '-'), r.Before.String()...)
	}
	return dst
}
