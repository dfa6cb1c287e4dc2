package diablo3

import (
	"fmt"
	"path"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/root"
	"lorefs/internal/cursor"
)

const (
	coreTOC  format.Name = "CoreTOC.dat"
	packages format.Name = "Packages.dat"
)

const (
	// coreGroups is the number of kinds of assets in CoreTOC.dat.
	coreGroups    = 70
	coreEntrySize = 12
	packagesMagic = 0xAABB0002
)

// diabloKinds are the folder and extension of each kind of assets.
var diabloKinds = map[uint32][2]string{
	0x01: {"Actor", "acr"}, 0x02: {"Adventure", "adv"}, 0x05: {"AmbientSound", "ams"}, 0x06: {"Anim", "ani"},
	0x07: {"Anim2D", "an2"}, 0x08: {"AnimSet", "ans"}, 0x09: {"Appearance", "app"}, 0x0B: {"Cloth", "clt"},
	0x0C: {"Conversation", "cnv"}, 0x0E: {"EffectGroup", "efg"}, 0x0F: {"Encounter", "enc"}, 0x11: {"Explosion", "xpl"},
	0x13: {"Font", "fnt"}, 0x14: {"GameBalance", "gam"}, 0x15: {"Globals", "glo"}, 0x16: {"LevelArea", "lvl"},
	0x17: {"Light", "lit"}, 0x18: {"MarkerSet", "mrk"}, 0x19: {"Monster", "mon"}, 0x1A: {"Observer", "obs"},
	0x1B: {"Particle", "prt"}, 0x1C: {"Physics", "phy"}, 0x1D: {"Power", "pow"}, 0x1F: {"Quest", "qst"},
	0x20: {"Rope", "rop"}, 0x21: {"Scene", "scn"}, 0x22: {"SceneGroup", "scg"}, 0x24: {"ShaderMap", "shm"},
	0x25: {"Shaders", "shd"}, 0x26: {"Shakes", "shk"}, 0x27: {"SkillKit", "skl"}, 0x28: {"Sound", "snd"},
	0x29: {"SoundBank", "sbk"}, 0x2A: {"StringList", "stl"}, 0x2B: {"Surface", "srf"}, 0x2C: {"Textures", "tex"},
	0x2D: {"Trail", "trl"}, 0x2E: {"UI", "ui"}, 0x2F: {"Weather", "wth"}, 0x30: {"Worlds", "wrl"},
	0x31: {"Recipe", "rcp"}, 0x33: {"Condition", "cnd"}, 0x38: {"Act", "act"}, 0x39: {"Material", "mat"},
	0x3A: {"QuestRange", "qsr"}, 0x3B: {"Lore", "lor"}, 0x3C: {"Reverb", "rev"}, 0x3D: {"PhysMesh", "phm"},
	0x3E: {"Music", "mus"}, 0x3F: {"Tutorial", "tut"}, 0x40: {"BossEncounter", "bos"}, 0x42: {"Accolade", "aco"},
}

// diabloNames has the names of assets by ID.
type diabloNames struct {
	assets map[uint32]diabloAsset
	// full has names with their extensions, by the name without, in lower case.
	full map[string]string
}

type diabloAsset struct {
	kind uint32
	name string
}

// name returns the path of an entry below its folder.
func (n *diabloNames) name(e *diabloEntry) string {
	if e.name != "" {
		return e.name
	}
	a, ok := n.assets[e.id]
	if !ok {
		if e.numbered {
			return fmt.Sprintf("%d/%04d", e.id, e.number)
		}
		return fmt.Sprint(e.id)
	}
	kind, ok := diabloKinds[a.kind]
	if !ok {
		kind = [2]string{fmt.Sprintf("Asset%02d", a.kind), fmt.Sprintf("a%02d", a.kind)}
	}
	p := path.Join(kind[0], root.CleanName(a.name))
	if e.numbered {
		p = fmt.Sprintf("%s/%04d", p, e.number)
	}
	if full, ok := n.full[strings.ToLower(p)]; ok {
		return full
	}
	return p + "." + kind[1]
}

// parseCoreTOC reads, for each kind of assets, its entries kind:4 id:4 name:4 and the names
// behind them. The header has the number of entries of each kind, their places behind the
// header, and numbers that are not understood.
func (n *diabloNames) parseCoreTOC(data []byte) error {
	const header = (3*coreGroups + 1) * 4
	c := cursor.New(data)
	var counts, offs [coreGroups]uint32
	for _, a := range []*[coreGroups]uint32{&counts, &offs} {
		for i := range a {
			a[i] = c.LE32()
		}
	}
	c.Bytes(header - c.Off())
	if err := coreTOC.Ends(c, 0); err != nil {
		return err
	}
	n.assets = map[uint32]diabloAsset{}
	body := data[header:]
	for i := range coreGroups {
		off, size := int64(offs[i]), int64(counts[i])*coreEntrySize
		if off+size > int64(len(body)) {
			return coreTOC.Bad(int64(4*i), "%d entries of kind %d at %#x in %d bytes", counts[i], i, off, len(body))
		}
		c, names := cursor.New(body[off:off+size]), body[off+size:]
		for c.Left() > 0 {
			kind, id, at := c.LE32(), c.LE32(), c.LE32()
			if int64(at) >= int64(len(names)) {
				return coreTOC.Bad(header+off+int64(c.Off())-4, "a name at %#x of %d bytes", at, len(names))
			}
			s := cursor.New(names[at:])
			name := s.String()
			if err := coreTOC.Ends(s, header+off+size+int64(at)); err != nil {
				return err
			}
			if len(name) > root.MaxName {
				return coreTOC.Bad(header+off+size+int64(at), "a name of %d bytes", len(name))
			}
			n.assets[id] = diabloAsset{kind: kind, name: name}
		}
	}
	return nil
}

// parsePackages reads names: magic:4 count:4 ( name NUL )×count.
func (n *diabloNames) parsePackages(data []byte) error {
	c := cursor.New(data)
	magic, count := c.LE32(), c.LE32()
	if magic != packagesMagic {
		return packages.Bad(0, "found %#x instead of %#x", magic, uint32(packagesMagic))
	}
	n.full = map[string]string{}
	for range count {
		name := root.CleanName(c.String())
		if c.Err() != nil {
			break
		}
		n.full[strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))] = name
	}
	return packages.Ends(c, 0)
}
