package kinds

import "lorefs/datacenter/edit"

// Draft returns the draft of a data center that is being edited.
func (s *Source) Draft() *edit.Draft { return s.Sessions[0].(*dataCenterSession).dc.Draft() }
