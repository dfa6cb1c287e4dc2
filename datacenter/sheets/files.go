package sheets

import (
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/datacenter/treepath"
)

// These functions name files that need not exist yet.

// FamilyOf returns the family of a sheet.
func (s *Source) FamilyOf(sheet Sheet) *Family { return s.of(sheet) }

// NameOf returns the name of the sheets that are in a folder, or could be; ok is false if no
// sheets can be in a folder of that name.
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

// FileOrdinal returns the ordinal of the sheet with a file name; ok is false if no sheet of
// that folder can have it.
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

// FolderOf returns the folder for sheets of a name.
func (s *Source) FolderOf(name string) string {
	s.mu.RLock()
	f, ok := s.byName[name]
	s.mu.RUnlock()
	if ok {
		return f.File
	}
	return s.folderName(name, 0)
}

// FileName returns the name of a sheet's file in a folder.
func FileName(folder string, ordinal uint32) string { return sheetFileName(folder, ordinal) }
