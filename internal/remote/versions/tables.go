package versions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"lorefs/internal/remote"
)

// tableHosts returns the hosts of the tables. They have the same tables in all regions but
// China, so others can stand in for one that does not answer.
func tableHosts(region string) []remote.Host {
	if region == "cn" {
		return []remote.Host{{URL: "https://cn.version.battlenet.com.cn"}}
	}
	hosts := []remote.Host{{URL: "https://" + region + ".version.battle.net"}}
	for _, other := range []string{"us", "eu", "kr"} {
		if other != region {
			hosts = append(hosts, remote.Host{URL: "https://" + other + ".version.battle.net", Fallback: true})
		}
	}
	return hosts
}

// tableFolders are where hosts have the tables. Older servers, and those that were made by hand,
// have them in the second one.
var tableFolders = []string{"v2/products/", ""}

// fromTables lists the builds of a product by the tables of all regions.
func fromTables(ctx context.Context, c *remote.Client, product string) ([]Build, error) {
	var first error
	for _, dir := range tableFolders {
		builds, err := tablesIn(ctx, c, dir, product)
		if err == nil {
			return builds, nil
		}
		none, ok := errors.AsType[*noHostsError](err)
		if ok {
			return nil, none
		}
		first = cmp.Or(first, err)
		if !remote.IsRefusal(err) {
			break
		}
	}
	return nil, first
}

// noHostsError says that there are builds, and nothing that tells where their objects lie. It does not
// wrap the reason: the product is known.
type noHostsError struct{ err error }

func (e *noHostsError) Error() string {
	return fmt.Sprintf("there are builds, but no table cdns with the path of their objects on the hosts: %v", e.err)
}

// tablesIn lists the builds by the tables in a folder.
func tablesIn(ctx context.Context, c *remote.Client, dir, product string) (builds []Build, err error) {
	at := dir + product + "/"
	_, err = c.Get(ctx, at+"versions", func(data []byte) (err error) { builds, err = parseVersions(data, product); return err })
	if err != nil {
		return nil, err
	}
	var places map[string]Build
	_, err = c.Get(ctx, at+"cdns", func(data []byte) (err error) { places, err = parseCDNs(data); return err })
	if remote.IsRefusal(err) {
		return nil, &noHostsError{err}
	}
	if err != nil {
		return nil, err
	}
	for i := range builds {
		b := &builds[i]
		place, ok := places[b.Region]
		if !ok {
			place = places[""]
		}
		b.Path, b.ConfigPath, b.Hosts, b.noPlace = place.Path, place.ConfigPath, place.Hosts, place.noPlace
		if b.bad == nil {
			b.bad = place.bad
		}
	}
	return builds, nil
}

// parseVersions reads the builds of a product, a row for each region. A row that can't be read
// says nothing of the other regions.
func parseVersions(data []byte, product string) (builds []Build, err error) {
	rows, err := parseTable(data, "Region", "BuildConfig", "CDNConfig")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		b := Build{Product: product, Region: row["Region"], Version: row["VersionsName"], ID: row["BuildId"]}
		if row["BuildConfig"] == "" {
			continue // a region that has no build yet
		}
		if err := b.setKeys(row["BuildConfig"], row["CDNConfig"], row["KeyRing"], row["ProductConfig"]); err != nil {
			b.bad = fmt.Errorf("region %.20q: %w", b.Region, err)
		}
		builds = append(builds, b)
	}
	return builds, nil
}

// parseCDNs reads where objects lie by region, and under no name for regions that are not
// listed.
func parseCDNs(data []byte) (map[string]Build, error) {
	rows, err := parseTable(data, "Name", "Path", "Hosts")
	if err != nil {
		return nil, err
	}
	places := map[string]Build{}
	for _, row := range rows {
		var b Build
		// Servers has parameters and schemes; old tables have only Hosts.
		servers := strings.Fields(row["Servers"])
		if len(servers) == 0 {
			for host := range strings.FieldsSeq(row["Hosts"]) {
				servers = append(servers, "http://"+host+"/")
			}
		}
		in := func(err error) error {
			if err != nil {
				err = fmt.Errorf("region %.20q: %w", row["Name"], err)
			}
			return err
		}
		b.bad = in(b.setPlace(servers, row["Path"], row["ConfigPath"]))
		b.noPlace = in(b.noPlace)
		if first, ok := places[""]; b.bad == nil && (!ok || first.noPlace != nil && b.noPlace == nil) {
			places[""] = b
		}
		if len(servers) > 0 { // or else as if the region were not listed
			places[row["Name"]] = b
		}
	}
	if len(places) == 0 {
		return nil, errors.New("the table lists no hosts")
	}
	return places, nil
}
