package dctest

import "math"

func attributeEdits() []edit {
	put := func(path []int, i int, field int64, v uint16) func(*Image) {
		return func(m *Image) { m.Put16(m.attributeAt(path, i)+field, v) }
	}
	return append([]edit{
		{"attribute without name", "name_index is 0", AtRead, put(sword, itemID, AttributeName, 0)},
		{"attribute name out of range", "name_index is larger than the count of names", AtRead, put(sword, itemWeight, AttributeName, math.MaxUint16)},
		{"type code 0", "type_code is 0", AtRead, put(sword, itemID, AttributeType, 0)},
		{"type code 0 with extended code", "type_code is 0", AtRead, put(sword, itemID, AttributeType, 1<<2)},
		{"int with extended code 2", "extended_code of an int is larger than 1", AtRead, put(sword, itemID, AttributeType, typeInt|2<<2)},
		{"bool with extended code 3", "extended_code of a bool is larger than 1", AtRead, put(sword, itemBound, AttributeType, typeInt|3<<2)},
		{"bool 2", "a bool is neither 0 nor 1", AtVerify, put(sword, itemBound, AttributeValue, 2)},
		{"bool with high bytes", "a bool is neither 0 nor 1", AtVerify, put(sword, itemBound, AttributeValue+2, 1)},
		{"float with extended code", "extended_code of a float is not 0", AtVerify, put(sword, itemWeight, AttributeType, typeFloat|1<<2)},
		{"wrong value hash", "extended_code is not the hash of the value", AtVerify, func(m *Image) {
			at := m.attributeAt(sword, itemName) + AttributeType
			m.Put16(at, m.U16(at)^1<<2)
		}},
		{"text is an int", "__value__ is not a string", AtRead, put(task, taskText, AttributeType, typeInt)},
		{"value in no segment", "the address of a value has no segment", AtRead, put(sword, itemName, AttributeValue, 9)},
		{"value at no element", "the address of a value has no element", AtRead, put(sword, itemName, AttributeValue+2, 60000)},
		{"value inside a string", "no string begins at the address of a value", AtVerify, func(m *Image) {
			at := m.attributeAt(sword, itemName) + AttributeValue + 2
			m.Put16(at, m.U16(at)+1)
		}},
	}, attributeOrderEdits()...)
}

func attributeOrderEdits() []edit {
	swap := func(path []int, i, k int) func(*Image) {
		return func(m *Image) { m.swap(m.attributeAt(path, i), m.attributeAt(path, k), m.Attributes.Size) }
	}
	return []edit{
		{"attributes not sorted", "attributes are not in the order of their names", AtVerify, swap(sword, itemID, itemBound)},
		{"text is not last", "__value__ is not the last attribute", AtRead, swap(task, taskID, taskText)},
		{"attribute twice", "two attributes have the same name", AtRead, func(m *Image) {
			m.Put16(m.attributeAt(sword, itemBound)+AttributeName, m.U16(m.attributeAt(sword, itemID)+AttributeName))
		}},
	}
}

func keyEdits() []edit {
	put := func(key, place int, name func(*Image) uint16) func(*Image) {
		return func(m *Image) { m.Put16(m.KeyOffset(key)+int64(place)*2, name(m)) }
	}
	index := func(name string) func(*Image) uint16 {
		return func(m *Image) uint16 { return uint16(m.Index(&m.Names, name)) }
	}
	return []edit{
		{"first key definition is not empty", "the key definition 0 names an attribute", AtVerify, put(0, 0, index("id"))},
		{"key is the text", "a key definition names __value__", AtOpen, put(1, 1, index(ValueName))},
		{"key name out of range", "a key definition's name_index is larger than the count of names", AtOpen, put(1, 3, func(*Image) uint16 { return 60000 })},
	}
}
