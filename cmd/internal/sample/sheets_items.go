package sample

import "fmt"

// itemCount is the number of items, all sheets together.
const itemCount = 600

func itemWords(i int) (material, thing word) {
	return materials[i%len(materials)], things[i/len(materials)%len(things)]
}

// items returns one of several sheets of one name, each with a hundred items.
func (g *gen) items(part int) *node {
	sheet := element("ItemData", nil)
	for i := part * 100; i < (part+1)*100; i++ {
		material, thing := itemWords(i)
		sheet.Children = append(sheet.Children, keyed("Item", attrs{
			{Name: "id", Value: 1000 + i},
			{Name: "name", Value: fmt.Sprintf("%s_of_%s_%d", thing.code(), material.code(), i/100+1)},
			{Name: "level", Value: 1 + i/10},
			{Name: "price", Value: g.between(10, 900, 10)},
			{Name: "rareGrade", Value: g.pick(grades)},
			{Name: "tradable", Value: i%7 != 0},
			{Name: "weight", Value: g.quarter(0, 12)},
			{Name: "icon", Value: "icons/" + thing.code() + ".png"},
			{Name: "linkedSkill", Value: ""},
		}))
	}
	return sheet
}

// strItem returns the names of the items, alternately in Korean and English.
func (g *gen) strItem() *node {
	sheet := element("StrSheet_Item", nil)
	for i := range itemCount {
		material, thing := itemWords(i)
		sheet.Children = append(sheet.Children, keyed("String", attrs{
			{Name: "id", Value: 1000 + i},
			{Name: "string", Value: fmt.Sprintf("%s %s", material, thing)},
			{Name: "stringKor", Value: fmt.Sprintf("%s %s", material.korean, thing.korean)},
			{Name: "toolTip", Value: fmt.Sprintf("A %s made of %s.\nFound in <%s> & sold there.", thing.code(), material.code(), places[i%len(places)])},
		}))
	}
	return sheet
}

func (g *gen) itemSets() *node {
	sheet := element("EquipmentSet", nil)
	for i, material := range materials {
		set := keyed("Set", attrs{{Name: "id", Value: i + 1}, {Name: "name", Value: material.code() + "_set"}})
		for slot := range 4 {
			set.Children = append(set.Children, element("Slot", attrs{{Name: "itemId", Value: 1000 + i + slot*10}},
				element("Bonus", attrs{{Name: "stat", Value: g.pick(arts)}, {Name: "factor", Value: 1 + g.quarter(0, 1)}})))
		}
		sheet.Children = append(sheet.Children, set)
	}
	return sheet
}

func (g *gen) shops() *node {
	sheet := element("ShopData", nil)
	for i, place := range places {
		shop := keyed("Shop", attrs{{Name: "id", Value: i + 1}, {Name: "name", Value: place.code() + "_market"}, {Name: "open", Value: true}})
		for range 12 {
			shop.Children = append(shop.Children, element("Goods", attrs{{Name: "itemId", Value: g.between(1000, 1599, 1)}, {Name: "stock", Value: g.between(5, 50, 5)}}))
		}
		sheet.Children = append(sheet.Children, shop)
	}
	return sheet
}

func (g *gen) recipes() *node {
	sheet := element("Recipes", nil)
	for i := range 100 {
		recipe := keyed("Recipe", attrs{{Name: "id", Value: i + 1}, {Name: "result", Value: 1000 + i*6}, {Name: "chance", Value: g.quarter(0, 1)}})
		for m := range 3 {
			recipe.Children = append(recipe.Children, element("Material", attrs{{Name: "itemId", Value: 1000 + (i+m)%60}, {Name: "amount", Value: 1 + m}}))
		}
		sheet.Children = append(sheet.Children, recipe)
	}
	return sheet
}
