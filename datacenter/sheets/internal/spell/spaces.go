package spell

// The namespaces of sheets and schemas.
const (
	// SpaceLore is the namespace for what novadrop loses.
	SpaceLore = "urn:lorefs:dc"
	// SpaceNovadrop is the namespace of novadrop's attributes in schemas; that of a sheet
	// is below it.
	SpaceNovadrop = "https://vezel.dev/novadrop/dc"
	SpaceSchema   = "http://www.w3.org/2001/XMLSchema"
	SpaceInstance = "http://www.w3.org/2001/XMLSchema-instance"
)

// The names with a meaning of their own.
const (
	RootName  = "__root__"
	ValueName = "__value__"
)
