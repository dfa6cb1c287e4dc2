package sample

import (
	"fmt"
)

// areaList returns the map as the world's geometry divides it: continents, areas in them,
// and the zones of each area.
func (g *gen) areaList() *node {
	sheet := element("AreaList", nil)
	for c := range 3 {
		continent := keyed("Continent", attrs{{Name: "id", Value: c + 1}, {Name: "name", Value: fmt.Sprintf("continent_%d", c+1)}, {Name: "desc", Value: ""}})
		for a := range 4 {
			place := places[c*4+a]
			continent.Children = append(continent.Children, element("Area",
				attrs{{Name: "name", Value: place.code()}, {Name: "indoor", Value: a == 3}, {Name: "ambience", Value: g.quarter(0, 4)}},
				zones(1000+c*8, 1000+a*6)))
		}
		sheet.Children = append(sheet.Children, continent)
	}
	return sheet
}

func zones(x, y int) *node {
	z := element("Zones", nil)
	for i := range 24 {
		z.Children = append(z.Children, element("Zone", attrs{{Name: "x", Value: x + i%6}, {Name: "y", Value: y + i/6}}))
	}
	return z
}

// worldMap returns nested elements: worlds have guards, guards have sections, sections have
// landmarks.
func (g *gen) worldMap() *node {
	sheet := element("WorldMap", attrs{{Name: "version", Value: 3}})
	for i, place := range places {
		region := keyed("Region", attrs{{Name: "id", Value: 100 + i}, {Name: "nameId", Value: 5000 + i}, {Name: "mapImage", Value: "maps/" + place.code() + ".png"}})
		for s := range 5 {
			section := keyed("Section", attrs{{Name: "id", Value: s + 1}, {Name: "safe", Value: s == 0}, {Name: "scale", Value: g.quarter(1, 3)}})
			for l := range 4 {
				section.Children = append(section.Children, element("Landmark",
					attrs{{Name: "kind", Value: [...]string{"inn", "well", "gate", "shrine"}[l]}, {Name: "pos", Value: g.position()}}))
			}
			region.Children = append(region.Children, section)
		}
		sheet.Children = append(sheet.Children, region)
	}
	return sheet
}

func (g *gen) position() string {
	return fmt.Sprintf("%d,%d,%d", g.between(0, 90000, 50), g.between(0, 90000, 50), g.between(0, 4000, 10))
}

// spawns returns where creatures appear: many rows, many of them equal.
func (g *gen) spawns(part int) *node {
	sheet := element("TerritoryData", attrs{{Name: "zoneId", Value: part + 1}})
	for t := range 12 {
		territory := keyed("Territory", attrs{{Name: "id", Value: t + 1}, {Name: "respawn", Value: g.between(30, 300, 30)}})
		for i := range 8 {
			territory.Children = append(territory.Children, element("Npc",
				attrs{{Name: "templateId", Value: 100 + (t+i)%40}, {Name: "pos", Value: g.position()}, {Name: "angle", Value: g.quarter(0, 359)}},
				element("Party", attrs{{Name: "count", Value: 1 + i%3}, {Name: "spread", Value: float32(25)}})))
		}
		sheet.Children = append(sheet.Children, territory)
	}
	return sheet
}

func (g *gen) strArea() *node {
	sheet := element("StrSheet_Area", nil)
	for i, place := range places {
		sheet.Children = append(sheet.Children,
			stringOf(5000+i, place.String()),
			stringOf(6000+i, place.korean))
	}
	return sheet
}

func stringOf(id int, s string) *node {
	return keyed("String", attrs{{Name: "id", Value: id}, {Name: "string", Value: s}})
}

func (g *gen) weather() *node {
	sheet := element("Weather", nil)
	for _, place := range places {
		day := element(place.english, attrs{{Name: "계절", Value: "봄"}})
		for hour := range 24 {
			day.Children = append(day.Children, element("Hour", attrs{{Name: "hour", Value: hour}, {Name: "rain", Value: g.quarter(0, 1)}, {Name: "fog", Value: hour < 6}}))
		}
		sheet.Children = append(sheet.Children, day)
	}
	return sheet
}

// levels returns a table without strings.
func (g *gen) levels() *node {
	sheet := element("LevelTable", nil)
	for level := 1; level <= 60; level++ {
		sheet.Children = append(sheet.Children, keyed("Level", attrs{
			{Name: "id", Value: level}, {Name: "exp", Value: level * level * 120}, {Name: "regen", Value: float32(level) * 0.35},
		}))
	}
	return sheet
}

func (g *gen) races() *node {
	sheet := element("RaceData", nil)
	for i, name := range []string{"Hillfolk", "Reedling", "Emberkin", "Stoneborn"} {
		sheet.Children = append(sheet.Children, keyed("Race",
			attrs{{Name: "id", Value: i}, {Name: "name", Value: name}, {Name: "speed", Value: 90 + 5*i}},
			element("Lore", attrs{text("The " + name + " came first, or say so.")})))
	}
	return sheet
}
