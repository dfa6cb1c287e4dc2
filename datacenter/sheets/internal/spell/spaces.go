package spell

// The namespaces that sheets and schemas have in common.
const (
	// SpaceLore is that of what novadrop loses.
	SpaceLore = "urn:lorefs:dc"
	// SpaceNovadrop is that of novadrop's attributes in schemas; that of a sheet is
	// below it.
	SpaceNovadrop = "https://vezel.dev/novadrop/dc"
	SpaceSchema   = "http://www.w3.org/2001/XMLSchema"
	SpaceInstance = "http://www.w3.org/2001/XMLSchema-instance"
)

// The names that mean something themselves.
const (
	RootName  = "__root__"
	ValueName = "__value__"
)
