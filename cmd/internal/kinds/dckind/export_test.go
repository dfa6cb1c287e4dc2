package dckind

import (
	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/edit"
)

// Draft returns the draft of a data center that is being edited.
func Draft(s *kinds.Source) *edit.Draft { return s.Sessions[0].(*dataCenterSession).dc.Draft() }
