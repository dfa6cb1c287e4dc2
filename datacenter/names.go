package datacenter

// Names returns all names of the file. The index of a name is one more than its place.
func (f *File) Names() []string { return f.in.Names }

// KeyNames returns all key definitions of the file as they are stored.
func (f *File) KeyNames() []KeyNames { return f.in.Keys }

// KeyDefinitions returns all key definitions of the file. A node's key index is the place
// here.
func (f *File) KeyDefinitions() []KeyDefinition {
	defs := make([]KeyDefinition, len(f.in.Keys))
	for i := range f.in.Keys {
		defs[i] = f.in.KeyDefinition(uint16(i))
	}
	return defs
}

// KeyNames returns n's key definition as it is stored. It is empty if n's key index has
// none.
func (n Node) KeyNames() KeyNames {
	if int(n.raw.Key) >= len(n.in.Keys) {
		return KeyNames{}
	}
	return n.in.Keys[n.raw.Key]
}
