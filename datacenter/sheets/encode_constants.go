package sheets

// The namespaces that sheets and schemas have in common.
const (
	// spaceLore is that of what novadrop loses.
	spaceLore = "urn:lorefs:dc"
	// spaceNovadrop is that of novadrop's attributes in schemas; that of a sheet is
	// below it.
	spaceNovadrop = "https://vezel.dev/novadrop/dc"
	spaceSchema   = "http://www.w3.org/2001/XMLSchema"
	spaceInstance = "http://www.w3.org/2001/XMLSchema-instance"
)

// The names that mean something themselves.
const (
	rootName  = "__root__"
	valueName = "__value__"
)
