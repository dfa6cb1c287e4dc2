package config

import (
	"fmt"
	"slices"
	"strings"

	"lorefs/casc/keys"
)

// BuildsError reports that a folder without .build.info has no build configuration, or that
// it has several and none was asked for.
type BuildsError struct {
	Builds []FoundBuild
}

// FoundBuild is a build configuration that was found.
type FoundBuild struct {
	Key keys.Key
	// Name is build-name, Product is build-uid; they may be empty.
	Name, Product string
}

func (e *BuildsError) Error() string {
	text := fmt.Sprintf("casc: no .build.info, and %d build configurations", len(e.Builds))
	if len(e.Builds) == 0 {
		return text
	}
	return text + "; give the key of one: " + listBuilds(e.Builds)
}

func listBuilds(builds []FoundBuild) string {
	var list []string
	for i := range builds {
		b := &builds[i]
		list = append(list, strings.Join(strings.Fields(b.Key.String()+" "+b.Product+" "+b.Name), " "))
	}
	return listed(list, "; ")
}

// listed joins words of a file for an error: not all of a long word, and not all of many.
func listed(words []string, between string) string {
	const most, long = 32, 128
	var list []string
	for _, w := range words[:min(len(words), most)] {
		if len(w) > long {
			w = strings.ToValidUTF8(w[:long], "") + "…"
		}
		list = append(list, w)
	}
	if more := len(words) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, between)
}

// NameError reports that no build has a name, or that several have it.
type NameError struct {
	Name string
	// Builds are those with the name or, if there are none, all.
	Builds []FoundBuild
	// Several says that they have the name.
	Several bool
}

func (e *NameError) Error() string {
	text, list := "no build is called", "there are"
	if e.Several {
		text, list = "several builds are called", "give the key of one"
	}
	text = fmt.Sprintf("casc: %s %q", text, e.Name)
	if len(e.Builds) == 0 {
		return text
	}
	return text + "; " + list + ": " + listBuilds(e.Builds)
}

// KeyOf returns the key of the build whose name, version or number is given. The error is a
// [NameError] unless there is one.
func KeyOf(builds []FoundBuild, name string) (keys.Key, error) {
	var found []FoundBuild
	for _, b := range builds {
		same := func(f FoundBuild) bool { return f.Key == b.Key }
		if b.isCalled(name) && !slices.ContainsFunc(found, same) {
			found = append(found, b)
		}
	}
	switch len(found) {
	case 0:
		return keys.Key{}, &NameError{Name: name, Builds: builds}
	case 1:
		return found[0].Key, nil
	}
	return keys.Key{}, &NameError{Name: name, Builds: found, Several: true}
}

// isCalled reports whether a build has a name, or a number. Its name is a version, whose last part
// is the number, or is like WOW-12345patch1.2.3_Retail.
func (b *FoundBuild) isCalled(name string) bool {
	if name == "" || strings.EqualFold(name, b.Name) {
		return name != ""
	}
	number := b.Name
	if front, _, ok := strings.Cut(number, "patch"); ok {
		number = front
	}
	return number[strings.LastIndexAny(number, "-.")+1:] == name && strings.Trim(name, "0123456789") == ""
}

// FoundBuilds returns the builds of a list as [KeyOf] takes them.
func FoundBuilds(list []Build) (found []FoundBuild) {
	for i := range list {
		if b := &list[i]; !b.BuildKey.IsZero() {
			found = append(found, FoundBuild{b.BuildKey, b.Version, b.Product})
		}
	}
	return found
}

// Found returns a build as its configuration has it.
func Found(key keys.Key, c *Config) FoundBuild {
	return FoundBuild{Key: key, Name: c.Text("build-name"), Product: c.Text("build-uid")}
}
