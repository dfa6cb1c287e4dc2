package capture

import "time"

// Unix milliseconds of the times that a packet can have. 0 stands for an unknown time in
// logs, and the years of RFC 3339 end with 9999.
const (
	minMillis = 1
	maxMillis = 253_402_300_799_999 // 9999-12-31T23:59:59.999Z
)

// teraMillis is 2015-01-01, from which the times of a TeraLog count.
const teraMillis = 1_420_070_400_000

// fromMillis returns the time for Unix milliseconds; zero if a packet can't have it.
func fromMillis(millis int64) time.Time {
	if millis < minMillis || millis > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// fromTeraMillis returns the time for milliseconds since teraMillis.
func fromTeraMillis(millis int64) time.Time {
	if millis < 0 || millis > maxMillis-teraMillis {
		return time.Time{}
	}
	return fromMillis(teraMillis + millis)
}

// toMillis is the inverse of fromMillis. ok is false for a time that no packet can have.
func toMillis(t time.Time) (millis int64, ok bool) {
	if t.IsZero() {
		return 0, true
	}
	millis = t.UnixMilli()
	return millis, millis >= minMillis && millis <= maxMillis
}
