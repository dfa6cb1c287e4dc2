package protocol

import "math"

// Angle is a direction: 65536 units are a full turn.
type Angle int16

// angleUnit is one unit of an angle in radians.
const angleUnit = math.Pi / 32768

// Radians returns the angle in radians, from -pi to below pi.
func (a Angle) Radians() float64 { return float64(a) * math.Pi / 32768 }

// AngleOf returns the nearest angle. ok is false outside -pi to pi.
func AngleOf(radians float64) (a Angle, ok bool) {
	// Round, though the reference truncates: truncating changes 8 of the 65536 angles when
	// they are written again.
	n := math.Round(radians / angleUnit)
	if !(n >= -32768 && n <= 32768) {
		return 0, false
	}
	return Angle(uint16(int32(n))), true // pi is the same direction as -pi
}

// Vec3 is a place or a direction: x, y and z in units of the world.
type Vec3 [3]float32

// Vec3FA is a rotation: three angles in units of pi/32768 radians. They may have fractions,
// unlike an [Angle].
type Vec3FA [3]float32

// SkillID is the number of a skill and the flags packed into it. In a packet:
//
//	         skillid, 8 bytes   skillid32, 4 bytes
//	ID       bits 0-27          bits 0-25
//	Type     bits 28-31         bits 26-29
//	NPC      bit 32             bit 30
//	Reserved bits 33-63         bit 31
//
// For a skill of an NPC whose Type is 1, an action, only bits 0-15 are the ID; the others
// are HuntingZone.
type SkillID struct {
	ID          uint32
	HuntingZone uint16
	Type        uint8
	NPC         bool
	Reserved    uint32
}

// skillAction is the SkillID.Type of NPC skills with a hunting zone.
const skillAction = 1

// skillShape says where the parts lie.
type skillShape struct {
	idBits, typeBits, reservedBits uint
}

var (
	skill64 = skillShape{28, 4, 31}
	skill32 = skillShape{26, 4, 1}
)

func (s skillShape) unpack(raw uint64) SkillID {
	take := func(bits uint) uint64 {
		v := raw & (1<<bits - 1)
		raw >>= bits
		return v
	}
	id := SkillID{ID: uint32(take(s.idBits)), Type: uint8(take(s.typeBits)), NPC: take(1) == 1, Reserved: uint32(take(s.reservedBits))}
	if id.zoned() {
		id.ID, id.HuntingZone = id.ID&0xffff, uint16(id.ID>>16)
	}
	return id
}

// zoned reports whether a part of the number is a hunting zone.
func (id SkillID) zoned() bool { return id.NPC && id.Type == skillAction }

// pack is the inverse of unpack; ok is false if a part is too large.
func (s skillShape) pack(id SkillID) (raw uint64, ok bool) {
	number, bits := uint64(id.ID), s.idBits
	if id.zoned() {
		if number > 0xffff || uint64(id.HuntingZone)>>(bits-16) != 0 {
			return 0, false
		}
		number |= uint64(id.HuntingZone) << 16
	} else if id.HuntingZone != 0 {
		return 0, false
	}
	if number>>bits != 0 || id.Type>>s.typeBits != 0 || uint64(id.Reserved)>>s.reservedBits != 0 {
		return 0, false
	}
	raw = number | uint64(id.Type)<<bits
	bits += s.typeBits
	if id.NPC {
		raw |= 1 << bits
	}
	return raw | uint64(id.Reserved)<<(bits+1), true
}

// Customize is the look of a character: eight choices in the order of customizeKeys.
type Customize [8]byte

var customizeKeys = [8]string{"unk", "skinColor", "faceStyle", "faceDecal", "hairStyle", "hairColor", "voice", "tattoos"}
