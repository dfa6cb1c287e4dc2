package packetjson

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lorefs/internal/shown"
	"lorefs/protocol"
)

// envelopeKeys are the members of the object that decode and a mount show for a packet. It
// has packet, or hex if the packet could not be decoded.
var envelopeKeys = []string{"number", "time", "from", "fake", "name", "definition", "packet", "error", "hex"}

// Encode appends a packet as a line of hex digits.
func (k *Codec) Encode(dst, value []byte) ([]byte, error) {
	members, err := objectMembers(value)
	if err != nil {
		return dst, err
	}
	_, decoded := members["packet"]
	_, raw := members["hex"]
	if !decoded && !raw {
		return k.appendEncoded(dst, Name{}, value, members)
	}
	if decoded && raw {
		return dst, errors.New("both packet and hex are given: want one of them")
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(envelopeKeys, key) {
			return dst, fmt.Errorf("there is no member %s beside packet or hex", shown.Quote(key))
		}
	}
	if raw {
		return appendRaw(dst, members["hex"])
	}
	named, err := namedBy(members)
	if err != nil {
		return dst, err
	}
	packet := members["packet"]
	if members, err = objectMembers(packet); err != nil {
		return dst, err
	}
	return k.appendEncoded(dst, named, packet, members)
}

// objectMembers returns the members of an object. A member that is there twice is an error,
// because it is unknown which one counts.
func objectMembers(value []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want a packet, which is an object")
	}
	members := make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("want a packet: %w", err)
		}
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("%s is there twice", shown.Quote(name))
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("want a packet: %w", err)
		}
		members[name] = v
	}
	return members, nil
}

func appendRaw(dst, digits []byte) ([]byte, error) {
	var text string
	if err := json.Unmarshal(digits, &text); err != nil {
		return dst, fmt.Errorf("the member hex: %w", err)
	}
	packet, err := hex.DecodeString(text)
	if err != nil {
		return dst, fmt.Errorf("the member hex: %w", err)
	}
	return appendHexLine(dst, packet), nil
}

// namedBy returns the definition that an object names, or only the name of its packet. It
// may have neither.
func namedBy(members map[string]json.RawMessage) (named Name, err error) {
	for _, key := range []string{"definition", "name"} {
		value, ok := members[key]
		if !ok {
			continue
		}
		var text string
		if err = json.Unmarshal(value, &text); err == nil {
			named, err = ParseName(text)
		}
		if err != nil {
			err = fmt.Errorf("the member %s: %w", key, err)
		}
		break
	}
	return named, err
}

// appendEncoded appends the packet that value describes; members are its members.
func (k *Codec) appendEncoded(dst []byte, named Name, value []byte, members map[string]json.RawMessage) ([]byte, error) {
	var code *uint16
	if text, ok := members["code"]; ok {
		if err := json.Unmarshal(text, &code); err != nil {
			return dst, fmt.Errorf("want a code of 0 to 65535: %w", err)
		}
	}
	packet, err := k.encodePacket(named, code, value)
	return appendHexLine(dst, packet), err
}

func appendHexLine(dst, packet []byte) []byte {
	return append(hex.AppendEncode(dst, packet), '\n')
}

func (k *Codec) encodePacket(named Name, code *uint16, value []byte) ([]byte, error) {
	known := uint16(0)
	if code != nil {
		known = *code
	}
	table, err := k.table(named, known)
	if err != nil {
		return nil, err
	}
	m, err := table.ParseJSON(value)
	if err != nil {
		return nil, err
	}
	if code == nil {
		if m.Code, err = k.codeOf(table); err != nil {
			return nil, err
		}
	}
	return encodeMessage(table, m)
}

// encodeMessage encodes a message. Its error says how to mend a packet that does not fit its
// definition.
func encodeMessage(table *protocol.Table, m *protocol.Message) ([]byte, error) {
	packet, err := table.Encode(m)
	if errors.Is(err, protocol.ErrLayout) {
		err = fmt.Errorf("%w (without the member layout it can be encoded)", err)
	}
	return packet, err
}
