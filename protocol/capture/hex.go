package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxLine is the longest line of a hex log: the longest packet with a space between its
// bytes, and what precedes it.
const maxLine = 3*maxPacket + 1024

// maxLabel is the longest name of a packet in a line, so that a line has room for it.
const maxLabel = 255

// isHex reports whether a file may be text with packets in hex.
func isHex(head []byte) bool {
	text := strings.TrimLeft(string(head), "\ufeff \t\r\n")
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && len(text) >= utf8.UTFMax || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		text = text[n:]
	}
	return true
}

// maxRemarks is how many bytes of comments may stand before the first packet in a file that
// Detect recognizes.
const maxRemarks = 64 << 10

// beginsWithPacket reports whether the first line that is no comment has a packet.
func beginsWithPacket(w *window) (bool, error) {
	for off := int64(0); off < min(w.size, maxRemarks); {
		line, err := w.upTo(off, maxLine)
		if err != nil {
			return false, err
		}
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		if _, ok, err := parseHex(line, nil); ok || err != nil {
			return ok, nil // some other kind of text
		}
		off += int64(len(line))
	}
	return false, nil
}

func (l *Log) openHex(w *window) error {
	l.info.Format = Hex
	l.read, l.more = (*Log).readHex, (*Log).addLines
	return l.addLines(w)
}

// addLines adds line after line. If the last line has no packet, the recording was cut off
// there. Any other such line means that the file is no log, or a damaged one.
func (l *Log) addLines(w *window) error {
	for l.end < w.size {
		line, err := w.upTo(l.end, maxLine+1)
		if err != nil {
			return err
		}
		end := bytes.IndexByte(line, '\n') + 1
		ended := end > 0
		if !ended {
			end = len(line)
		}
		if end > maxLine {
			return badf(l.end, "line %d is longer than %d bytes", l.lines+1, maxLine)
		}
		add := l.addLine
		if l.unended {
			add = l.endLine
		}
		whole, err := add(line[:end], ended)
		if err != nil {
			return l.cutLine(w, end, err)
		}
		if !whole {
			return nil
		}
		l.end += int64(end)
		if l.unended = !ended; ended {
			l.lines++
		}
	}
	return nil
}

// errUnended means that the last line may go on.
var errUnended = errors.New("the line has no end, and its packet not the length that it states")

// addLine adds the packet of the line at end, if it has one. A line without its end may be a
// part of what is still being written: it is whole only if its packet is.
func (l *Log) addLine(line []byte, ended bool) (whole bool, err error) {
	p, ok, err := parseHex(line, nil)
	if err != nil || !ok {
		return ended, err
	}
	if isObject := bytes.HasSuffix(bytes.TrimSpace(line), []byte("}")); !ended && !isObject && !p.stated() {
		return false, errUnended
	}
	if err := l.add(l.end, p.Code()); err != nil {
		return false, err
	}
	l.rememberName(p.Code(), &p)
	return true, nil
}

// endLine passes over the end of a line whose packet was added before.
func (l *Log) endLine(rest []byte, _ bool) (whole bool, err error) {
	if len(bytes.TrimSpace(rest)) > 0 {
		return false, badf(l.end, "line %d goes on behind what was a whole packet", l.lines+1)
	}
	return true, nil
}

// cutLine returns the error of the line at end, of n bytes. If it is the last one, the log
// is good up to there.
func (l *Log) cutLine(w *window, n int, err error) error {
	if _, format := errors.AsType[*FormatError](err); format || l.wanted() != nil {
		return err
	}
	last, readErr := onlySpace(w, l.end+int64(n))
	if readErr != nil {
		return readErr
	}
	bad := &FormatError{Off: l.end, What: "line " + strconv.Itoa(l.lines+1), Err: err}
	if !last || len(l.index) == 0 && !errors.Is(err, errUnended) {
		return bad
	}
	l.info.Incomplete = bad
	return nil
}

// stated reports whether the packet has the length that its header states.
func (p *Packet) stated() bool {
	return len(p.Data) >= packetHeader && int(binary.LittleEndian.Uint16(p.Data)) == len(p.Data)
}

// onlySpace reports whether only a few empty lines follow off.
func onlySpace(w *window, off int64) (bool, error) {
	rest, err := w.upTo(off, headSize)
	return len(bytes.TrimSpace(rest)) == 0 && off+int64(len(rest)) >= w.size, err
}

func (l *Log) readHex(i int, buf []byte) (Packet, error) {
	end := l.size
	if i+1 < len(l.index) {
		end = l.Offset(i + 1)
	}
	line := make([]byte, min(maxLine, end-l.Offset(i)))
	if err := l.readAt(line, l.Offset(i)); err != nil {
		return Packet{}, err
	}
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	p, ok, err := parseHex(line, buf)
	if err != nil || !ok {
		return Packet{}, &FormatError{Off: l.Offset(i), What: "the line changed since the log was opened", Err: err}
	}
	return p, nil
}

// ParseLine reads a line of a log of hex lines. ok is false if it is empty, or a comment.
func ParseLine(line string) (p Packet, ok bool, err error) {
	return parseHex([]byte(line), nil)
}

// parseHex reads a line; ok is false if it has no packet.
func parseHex(line, buf []byte) (p Packet, ok bool, err error) {
	text := strings.Trim(string(line), "\ufeff \t\r\n")
	switch {
	case text == "" || text[0] == '#':
		return p, false, nil
	case text[0] == '{':
		p, err = parseJSONLine(text)
		return p, err == nil, err
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == ';' })
	if len(words) == 0 {
		return p, false, errors.New("want a packet in hex")
	}
	first := len(words) - 1
	for len(words[first]) == 2 && first > 0 && len(words[first-1]) == 2 && isHexDigits(words[first-1]) {
		first--
	}
	digits := strings.Join(words[first:], "")
	if p.Data, err = decodeHex(digits, buf); err != nil {
		return p, false, err
	}
	for _, word := range words[:first] {
		p.label(word)
	}
	if p.From == Unknown {
		p.From = byName(p.Name)
	}
	return p, true, nil
}

func isHexDigits(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func decodeHex(digits string, buf []byte) ([]byte, error) {
	n := len(digits) / 2
	if n < packetHeader || n > maxPacket || !isHexDigits(digits) || len(digits)%2 != 0 {
		return nil, fmt.Errorf("want a packet of 4 to 65535 bytes in hex digits, got %.20q", digits)
	}
	data := room(buf, n)
	_, err := hex.Decode(data, []byte(digits))
	return data, err
}

// label reads a word before the packet. It skips unknown words, since logs have all kinds
// of remarks.
func (p *Packet) label(word string) {
	if d := direction(word); d != Unknown {
		p.From = d
		return
	}
	if t, ok := parseTime(word); ok {
		p.Time = t
		return
	}
	name, version, _ := strings.Cut(word, ".")
	if p.Name == "" && strings.Contains(name, "_") && len(name) <= maxLabel {
		p.Name = name
		if n, err := strconv.ParseUint(version, 10, 16); err == nil {
			p.Version = int(n)
		}
	}
}

// byName guesses who sends packets of a name.
func byName(name string) Direction {
	prefix, _, _ := strings.Cut(name, "_")
	switch prefix {
	case "C", "CU":
		return FromClient
	case "S", "SU":
		return FromServer
	}
	return Unknown
}

func direction(word string) Direction {
	switch strings.ToLower(word) {
	case "c->s", "c", "client", ">", "->", "out":
		return FromClient
	case "s->c", "s", "server", "<", "<-", "in":
		return FromServer
	}
	return Unknown
}

// parseTime reads Unix milliseconds or RFC 3339.
func parseTime(word string) (time.Time, bool) {
	if ms, err := strconv.ParseInt(word, 10, 64); err == nil {
		t := fromMillis(ms)
		return t, !t.IsZero()
	}
	t, err := time.Parse(time.RFC3339Nano, word)
	if err != nil {
		return time.Time{}, false
	}
	t = fromMillis(t.UnixMilli())
	return t, !t.IsZero()
}

// parseJSONLine reads a line that is a JSON object.
func parseJSONLine(text string) (p Packet, err error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return p, err
	}
	pick := func(keys ...string) string {
		for _, key := range keys {
			if raw, ok := doc[key]; ok {
				var s string
				if json.Unmarshal(raw, &s) != nil {
					s = string(raw) // a number
				}
				return s
			}
		}
		return ""
	}
	if p.Data, err = decodeHex(pick("hex", "data"), nil); err != nil {
		return p, err
	}
	if name := pick("name"); len(name) <= maxLabel {
		p.Name = name
	}
	if n, err := strconv.ParseUint(pick("version"), 10, 16); err == nil {
		p.Version = int(n)
	}
	p.Fake = slices.Contains([]string{"true", "1"}, pick("fake"))
	p.Time, _ = parseTime(pick("time", "timestamp"))
	if p.From = direction(pick("direction", "dir", "from")); p.From == Unknown {
		p.From = byName(p.Name)
	}
	return p, nil
}

func appendHex(dst []byte, p *Packet) []byte {
	switch p.From {
	case FromClient:
		dst = append(dst, "C->S "...)
	case FromServer:
		dst = append(dst, "S->C "...)
	}
	if !p.Time.IsZero() {
		dst = append(p.Time.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00"), ' ')
	}
	if p.Name != "" {
		dst = append(dst, p.Name...)
		if p.Version != 0 {
			dst = strconv.AppendInt(append(dst, '.'), int64(p.Version), 10)
		}
		dst = append(dst, ' ')
	}
	dst = hex.AppendEncode(dst, p.Data)
	return append(dst, '\n')
}
