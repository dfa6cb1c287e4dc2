package remote

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Host is a host as a list has it.
type Host struct {
	// URL is the scheme and the name, with a port and a path if the user gave them.
	URL string
	// Fallback hosts are asked when all others have failed.
	Fallback bool
	// Strict means that no host behind this one is asked.
	Strict bool
	// MaxHosts is how many requests the host gets at a time, if that is less than what any
	// host gets. 0 means that the list says nothing.
	MaxHosts int
}

// ParseListed reads a host of a list that came over the wire, such as
// "https://us.cdn.example.com/?maxhosts=4&fallback=1". It must have a name, and neither a port
// nor anything else that could lead into the user's own network.
func ParseListed(text string) (Host, error) {
	u, h, err := parseHost(text)
	switch {
	case err != nil:
		return Host{}, err
	case u.Port() != "" || u.User != nil || strings.Trim(u.Path, "/") != "" || !isName(u.Hostname()):
		return Host{}, fmt.Errorf("host %q: want a name and nothing else", text)
	}
	return h, nil
}

// ParseGiven reads a host that the user gave: also a port and a path are allowed, and without
// a scheme it is https.
func ParseGiven(text string) (Host, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, h, err := parseHost(text)
	if err == nil && u.User != nil {
		err = errors.New("host: a user's name and password are not sent")
	}
	return h, err
}

func parseHost(text string) (*url.URL, Host, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, Host{}, fmt.Errorf("host: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, Host{}, fmt.Errorf("host %q: want http://NAME or https://NAME", text)
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	query := u.Query()
	h := Host{
		URL:      bare.String(),
		Fallback: query.Get("fallback") == "1",
		Strict:   query.Get("strict") == "1",
	}
	if n, err := strconv.Atoi(query.Get("maxhosts")); err == nil && n > 0 {
		h.MaxHosts = n // other parameters, and senseless ones, are passed over
	}
	return u, h, nil
}

// isName tells whether text is a name as DNS has them, and no address. Some resolvers take
// "127.0.0.0x1" for an address, so the last label must begin with a letter.
func isName(text string) bool {
	labels := strings.Split(text, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notOfName) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(labels) > 1 && len(text) <= 253 && isLetter(rune(last[0]))
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func notOfName(r rune) bool { return !isLetter(r) && (r < '0' || r > '9') && r != '-' }

// CheckPath returns an error unless path can be the path of a storage, such as "tpr/wow".
func CheckPath(path string) error {
	for part := range strings.SplitSeq(path, "/") {
		bad := func(r rune) bool { return notOfName(r) && r != '.' && r != '_' }
		if part == "" || strings.Trim(part, ".") == "" || strings.ContainsFunc(part, bad) {
			return fmt.Errorf("%q is no path of a storage", path)
		}
	}
	return nil
}
