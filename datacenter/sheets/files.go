package sheets

import (
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/spell"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/datacenter/treepath"
)

// What files are called that there are not yet.

// FamilyOf finds the sheets that are called like one.
func (s *Source) FamilyOf(sheet Sheet) *Family { return s.of(sheet) }

// NameOf gives the name of the sheets that lie in a folder, or could; ok is false if
// none can lie in a folder of that name.
func (s *Source) NameOf(folder string) (name string, ok bool) {
	if f, ok := s.Family(folder); ok {
		return f.Name, true
	}
	if folder == s.folderName(xsd.CommonFile, 0) {
		return xsd.CommonFile, true
	}
	name, ok = treepath.Unescape(folder)
	if !ok || datacenter.CheckName(name) != nil || name == spell.ValueName || s.folderName(name, 0) != folder {
		return "", false
	}
	return name, true
}

// FileOrdinal gives the ordinal of the sheet that a file in a folder is, by its name; ok
// is false if it is not called like a sheet of that folder.
func FileOrdinal(folder, file string) (ordinal uint32, ok bool) {
	digits, ok := strings.CutPrefix(file, folder+"-")
	if !ok {
		return 0, false
	}
	digits, ok = strings.CutSuffix(digits, ".xml")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || sheetFileName(folder, uint32(n)) != file {
		return 0, false
	}
	return uint32(n), true
}

// FolderOf is the folder in which the sheets of a name lie, or would.
func (s *Source) FolderOf(name string) string {
	s.mu.RLock()
	f, ok := s.byName[name]
	s.mu.RUnlock()
	if ok {
		return f.File
	}
	return s.folderName(name, 0)
}

// FileName is what the file of a sheet is called that lies in a folder.
func FileName(folder string, ordinal uint32) string { return sheetFileName(folder, ordinal) }
