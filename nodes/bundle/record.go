package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// op is an operation of an edit. Its kind is the byte with which it begins in a record.
type op struct {
	kind byte
	name string
	// to is the other name of a rename or an exchange, text what is put.
	to   string
	text []byte
}

const (
	opPut      = 'P'
	opRemove   = 'R'
	opRename   = 'M'
	opExchange = 'X'
	opBack     = 'B'
)

// appendRecord appends the record of an edit.
func appendRecord(b []byte, ops []op) []byte {
	for _, o := range ops {
		b = append(b, o.kind)
		b = appendBytes(b, o.name)
		switch o.kind {
		case opPut:
			b = appendBytes(b, o.text)
		case opRename, opExchange:
			b = appendBytes(b, o.to)
		}
	}
	return b
}

func appendBytes[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// errRecord means that bytes are no record.
var errRecord = errors.New("no record of an edit")

// parseRecord is the inverse of appendRecord. Texts are parts of the record.
func parseRecord(b []byte) (ops []op, err error) {
	for len(b) > 0 {
		o := op{kind: b[0]}
		var name, more []byte
		name, b, err = cutBytes(b[1:])
		if err == nil && o.kind != opRemove && o.kind != opBack {
			more, b, err = cutBytes(b)
		}
		if err != nil {
			return nil, err
		}
		switch o.name = string(name); o.kind {
		case opPut:
			o.text = more
		case opRename, opExchange:
			o.to = string(more)
		case opRemove, opBack:
		default:
			return nil, fmt.Errorf("%w: an operation %q", errRecord, o.kind)
		}
		ops = append(ops, o)
	}
	if len(ops) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errRecord)
	}
	return ops, nil
}

func cutBytes(b []byte) (s, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, fmt.Errorf("%w: it is cut off", errRecord)
	}
	end := size + int(n)
	return b[size:end:end], b[end:], nil
}
