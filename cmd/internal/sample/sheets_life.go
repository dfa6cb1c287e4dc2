package sample

import (
	"fmt"
)

func (g *gen) npcs(part int) *node {
	sheet := element("NpcData", attrs{{Name: "huntingZoneId", Value: part + 1}})
	for i := range 40 {
		creature := creatures[(i+part)%len(creatures)]
		sheet.Children = append(sheet.Children, keyed("Template",
			attrs{
				{Name: "id", Value: 100 + i},
				{Name: "name", Value: creature.code()},
				{Name: "title", Value: creature.korean},
				{Name: "scale", Value: g.quarter(1, 3)},
				{Name: "elite", Value: i%10 == 9},
				{Name: "size", Value: [...]string{"small", "medium", "large"}[i%3]},
			},
			element("Stat", attrs{{Name: "level", Value: 1 + part*10 + i/4}, {Name: "maxHp", Value: g.between(100, 9000, 50)}, {Name: "speed", Value: g.between(40, 120, 5)}}),
			element("AltAnimation", nil, element("Idle", attrs{{Name: "rate", Value: float32(0.5)}}), element("Walk", attrs{{Name: "rate", Value: float32(1)}})),
		))
	}
	return sheet
}

// skills returns the deepest trees, with many equal parts.
func (g *gen) skills(part int) *node {
	sheet := element("SkillData", attrs{{Name: "classId", Value: part}})
	for i := range 25 {
		art := arts[i%len(arts)]
		sheet.Children = append(sheet.Children, keyed("Skill",
			attrs{
				{Name: "id", Value: (part+1)*10000 + i*100},
				{Name: "name", Value: fmt.Sprintf("%s %d", art, i/len(arts)+1)},
				{Name: "coolTime", Value: g.between(0, 30000, 500)},
				{Name: "range", Value: g.quarter(0, 600)},
				{Name: "castable", Value: i%9 != 8},
			},
			element("Action", nil, stages(2+i%3)),
			element("Targeting", nil, element("Area", attrs{{Name: "type", Value: "circle"}, {Name: "radius", Value: float32(75 + i%4*25)}},
				element("Effect", attrs{{Name: "atk", Value: float32(1.25)}, {Name: "heals", Value: art == "Mend"}}))),
		))
	}
	return sheet
}

func stages(n int) *node {
	list := element("StageList", nil)
	for s := range n {
		list.Children = append(list.Children, element("Stage", attrs{{Name: "stage", Value: s}, {Name: "movable", Value: s > 0}},
			element("AnimSeq", attrs{{Name: "duration", Value: 400 + s*200}, {Name: "blendIn", Value: float32(0.2)}},
				element("Bone", attrs{{Name: "name", Value: "hand"}}), element("Bone", attrs{{Name: "name", Value: "eye"}}))))
	}
	return list
}

// quest returns text, and text beside children.
func (g *gen) quest(part int) *node {
	giver, place, creature := people[part%len(people)], places[part], creatures[part%len(creatures)]
	story := element("Story", attrs{text(fmt.Sprintf("%s of %s has lost something.", giver, place))},
		element("Note", attrs{{Name: "lang", Value: "ko"}, text(fmt.Sprintf("%s의 %s에게 가 보세요.", place.korean, giver.korean))}),
		element("Note", attrs{{Name: "lang", Value: "en"}, text(fmt.Sprintf("Go and see %s at %s.", giver, place))}))
	tasks := element("TaskList", nil)
	for i := range 8 {
		tasks.Children = append(tasks.Children, keyed("Task",
			attrs{{Name: "id", Value: i + 1}, {Name: "type", Value: [...]string{"visit", "hunt", "collect", "deliver"}[i%4]}},
			element("Target", attrs{{Name: "name", Value: creature.code()}, {Name: "count", Value: 1 + i}}),
			element("Journal", attrs{text(fmt.Sprintf("Step %d: look for a %s near %s.", i+1, creature, place))}),
		))
	}
	return element("Quest", attrs{{Name: "id", Value: 300 + part}, {Name: "repeatable", Value: part%5 == 0}},
		story, tasks, element("Reward", attrs{{Name: "exp", Value: 250 * (part + 1)}, {Name: "itemId", Value: 1000 + part}}))
}
