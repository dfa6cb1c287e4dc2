// Package versions finds out which build of a product there is, and where its objects lie. It
// asks two services, the second only if the first fails:
//
//	https://REGION.version.battle.net/v2/products/PRODUCT/versions    tables, by region
//	https://REGION.version.battle.net/v2/products/PRODUCT/cdns
//	https://distribution.version.battle.net/summary                   TACT Channels
//
// Servers that have no folder v2 are asked for PRODUCT/versions and PRODUCT/cdns.
//
// A table is a line of columns NAME!TYPE:SIZE, and a line for each region, with bars between
// the cells. Columns are taken by name, and comments begin with ##.
//
// The summary of TACT Channels names a catalog, which names the definitions of builds and the
// lists of hosts. All of these are JSON, and lie at PATH/ab/cd/MD5 under the MD5 of their own
// bytes.
//
// Neither service signs what it says: HTTPS has to do. Names of hosts and paths come over the
// wire too, so only such are taken that can't lead elsewhere than to a storage. If the user has
// given hosts, a list may name whatever it likes, since no host of it is asked.
//
// What was found is kept in the cache. A build that is asked for by its name or key is looked
// for there first, since it never changes, and so is any build if nothing may be asked. Its
// hosts may change, so they are asked for again after a week.
package versions
