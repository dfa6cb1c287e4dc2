package kinds

import (
	"lorefs/datacenter/edit"
	"lorefs/nodes/bundle"
)

// Draft returns the draft of a data center that is being edited.
func (s *Source) Draft() *edit.Draft { return s.Sessions[0].(*dataCenterSession).dc.Draft() }

// JSONStructs are structs that commands print as JSON, by their definitions in the schema.
var JSONStructs = map[string]any{
	"casc_encoded": cascEncoded{}, "casc_gap": cascGap{}, "casc_root_entry": cascRootEntry{}, "diff_builds": BuildDifference{},
	"bundle_edit": bundle.Edit{}, "file_state": openFile{}, "info_bundle": bundleDescription{}, "info_casc": cascDescription{}, "info_casc_file": cascFile{}, "info_data_center": dataCenterDescription{},
	"info_packets": packetsDescription{}, "info_world": worldDescription{}, "verify_casc": cascFinding{},
	"verify_data_center": inflatedFinding{}, "verify_definition": lineFinding{}, "verify_world": worldFinding{},
}
