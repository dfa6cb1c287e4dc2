package datacenter_test

import (
	"math"
	"testing"

	"lorefs/datacenter"
)

func TestFormatFloat(t *testing.T) {
	for _, tt := range []struct {
		v    float32
		want string
	}{
		{0, "0"},
		{float32(math.Copysign(0, -1)), "-0"},
		{1, "1"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{256, "256"},
		{16777216, "16777216"},
		{99999999, "100000000"},
		{123456790, "123456790"},
		{999999940, "999999940"},
		{1e9, "1E+09"},
		{1.5e9, "1.5E+09"},
		{-3.4028235e38, "-3.4028235E+38"},
		{0.0001, "0.0001"},
		{0.00012, "0.00012"},
		{0.00001, "1E-05"},
		{0.000099999, "9.9999E-05"},
		{math.SmallestNonzeroFloat32, "1E-45"},
		{float32(math.Inf(1)), "Infinity"},
		{float32(math.Inf(-1)), "-Infinity"},
		{math.Float32frombits(0xffc00000), "NaN"},
		{math.Float32frombits(0x7fc00000), "NaN(0x7FC00000)"},
		{math.Float32frombits(0x7f800001), "NaN(0x7F800001)"},
	} {
		if got := datacenter.FloatValue(tt.v).Text(); got != tt.want {
			t.Errorf("FormatFloat(%x) = %q, want %q", math.Float32bits(tt.v), got, tt.want)
		}
	}
}
