package capture

import "time"

// Unix milliseconds of the times that a packet can have. 0 is how logs say that they
// do not know, and the years of RFC 3339 end with 9999.
const (
	minMillis = 1
	maxMillis = 253_402_300_799_999 // 9999-12-31T23:59:59.999Z
)

// teraMillis is what the times of a TeraLog count from, 2015-01-01.
const teraMillis = 1_420_070_400_000

// fromMillis returns the time of a number of Unix milliseconds; zero for one that is
// no time of a packet.
func fromMillis(millis int64) time.Time {
	if millis < minMillis || millis > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// fromTeraMillis returns the time so long after teraMillis.
func fromTeraMillis(millis int64) time.Time {
	if millis < 0 || millis > maxMillis-teraMillis {
		return time.Time{}
	}
	return fromMillis(teraMillis + millis)
}

// toMillis is the inverse of fromMillis; ok is false for a time that no packet can
// have.
func toMillis(t time.Time) (millis int64, ok bool) {
	if t.IsZero() {
		return 0, true
	}
	millis = t.UnixMilli()
	return millis, millis >= minMillis && millis <= maxMillis
}
