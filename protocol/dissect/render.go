package dissect

import (
	"encoding/hex"
	"strconv"
	"time"

	"lorefs/internal/wtf8"
	"lorefs/protocol/capture"
)

// Outcome says what became of a packet.
type Outcome uint8

// Decoded packets fit their definition. Failed ones do not, or are damaged, or have a wrong
// definition. Unknown ones have none.
const (
	Decoded Outcome = iota
	Failed
	Unknown
)

// AppendJSON appends packet i of the log as a line of JSON: its number, time, sender and
// name, and its fields. A packet that is not decoded has its bytes in hex, and damage, the
// error of reading it, or why it does not fit, as "error".
func (r *Recording) AppendJSON(dst []byte, i int, p *capture.Packet, damage error) ([]byte, Outcome) {
	var c clock
	return r.appendJSON(dst, &c, i, p, damage)
}

// appendJSON is AppendJSON with a clock, which may be used again.
func (r *Recording) appendJSON(dst []byte, clock *clock, i int, p *capture.Packet, damage error) ([]byte, Outcome) {
	dst = append(dst, `{"number":`...)
	dst = strconv.AppendInt(dst, int64(i), 10)
	if !p.Time.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = append(clock.append(dst, p.Time), '"')
	}
	if p.From != capture.Unknown {
		dst = append(dst, `,"from":"`...)
		dst = append(append(dst, p.From.String()...), '"')
	}
	if p.Fake {
		dst = append(dst, `,"fake":true`...)
	}
	c := r.codes[r.log.Code(i)]
	var is Outcome
	if damage != nil {
		dst = append(append(dst, c.named...), `,"error":`...)
		dst, is = wtf8.AppendJSON(dst, damage.Error()), Failed
	} else {
		dst, is = c.appendFields(dst, p.Data)
	}
	return append(dst, "}\n"...), is
}

// clock writes times. It keeps the text of a second, because many packets are of the same.
type clock struct {
	second int64
	text   []byte
}

// append appends a time as [time.RFC3339Nano] does. It has whole milliseconds, and is of UTC.
func (c *clock) append(dst []byte, t time.Time) []byte {
	if s := t.Unix(); s != c.second || c.text == nil {
		c.second, c.text = s, t.AppendFormat(c.text[:0], "2006-01-02T15:04:05")
	}
	dst = append(dst, c.text...)
	if ms := t.Nanosecond() / 1e6; ms > 0 {
		dst = append(dst, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return append(dst, 'Z')
}

// appendFields appends the name and the fields of a packet, or its bytes in hex.
func (c *Code) appendFields(dst, packet []byte) ([]byte, Outcome) {
	err := c.Err
	if c.Table != nil {
		before := len(dst)
		dst = append(dst, c.decoded...)
		if dst, err = c.Table.AppendJSON(dst, packet); err == nil {
			return dst, Decoded
		}
		dst = dst[:before]
	}
	dst = append(append(dst, c.named...), c.defined...)
	is := Unknown
	if err != nil {
		dst, is = wtf8.AppendJSON(append(dst, `,"error":`...), err.Error()), Failed
	}
	dst = append(dst, `,"hex":"`...)
	dst = hex.AppendEncode(dst, packet)
	return append(dst, '"'), is
}
