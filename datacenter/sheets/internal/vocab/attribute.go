package vocab

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// Attribute is an attribute with a value of its own, or with the file's.
type Attribute struct {
	Name NameID
	// Order is the index of the name, which attributes are sorted by.
	Order uint16
	// Stored is the file's, Value its own, of type 0 if it is the file's.
	Stored datacenter.Attribute
	Value  datacenter.Value
}

// OfEntry is the attribute that an entry of a Draft of the file describes.
func OfEntry(file *datacenter.Private, e *edit.Entry, name NameID) (Attribute, error) {
	a := Attribute{Name: name, Order: e.NameIndex, Value: e.Value}
	if a.Value.Type() != 0 {
		return a, nil
	}
	var err error
	a.Stored, err = file.Attribute(e.Addr)
	return a, err
}

// MaxEntries is more than a node can have.
const MaxEntries = 1 << 18

// Type is its type.
func (a *Attribute) Type() datacenter.Type {
	if t := a.Value.Type(); t != 0 {
		return t
	}
	return a.Stored.Type()
}

// AppendText appends its value.
func (a *Attribute) AppendText(dst []byte) ([]byte, error) {
	if a.Value.Type() != 0 {
		return append(dst, a.Value.Text()...), nil
	}
	return a.Stored.AppendText(dst)
}
