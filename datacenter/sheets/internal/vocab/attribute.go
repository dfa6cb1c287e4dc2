package vocab

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// Attribute is an attribute of the file, or one with a new value.
type Attribute struct {
	Name NameID
	// Order is the index of the name, by which attributes are sorted.
	Order uint16
	// Stored is the attribute in the file. Value is its new value, of type 0 if there is
	// none.
	Stored datacenter.Attribute
	Value  datacenter.Value
}

// OfEntry returns the attribute in an entry of a Draft.
func OfEntry(file *datacenter.Private, e *edit.Entry, name NameID) (Attribute, error) {
	a := Attribute{Name: name, Order: e.NameIndex, Value: e.Value}
	if a.Value.Type() != 0 {
		return a, nil
	}
	var err error
	a.Stored, err = file.Attribute(e.Addr)
	return a, err
}

// MaxEntries is more than the number of entries that a node can have.
const MaxEntries = 1 << 18

// Type returns its type.
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
