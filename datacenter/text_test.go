package datacenter_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"lorefs/datacenter"
	"lorefs/internal/testneeds"
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

// TestFormatUsualFloats compares the texts of decimals of a few digits, and of floats beside them, with
// the shortest that the standard library finds.
func TestFormatUsualFloats(t *testing.T) {
	check := func(v float32) {
		got, want := datacenter.FloatValue(v).Text(), strconv.FormatFloat(float64(v), 'f', -1, 32)
		if got != want {
			t.Fatalf("FormatFloat(%x) = %q, want %q", math.Float32bits(v), got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range testneeds.Cases(50_000, 1_000_000, 1_000_000) {
		digits, scale := rng.Int64N(1<<(1+rng.IntN(26))), math.Pow10(rng.IntN(6))
		v := float32(float64(digits) / scale)
		if v < 1e-3 {
			continue
		}
		check(v)
		check(-v)
		check(math.Nextafter32(v, 0))
		check(math.Nextafter32(v, 1e9))
	}
	for i := range int32(1e5) {
		v := i*i - 5e8
		if got, want := datacenter.IntValue(v).Text(), strconv.Itoa(int(v)); got != want {
			t.Fatalf("FormatInt(%d) = %q", v, got)
		}
	}
	end := int32(testneeds.Cases(50_000, 2_000_000, 2_000_000))
	for v := -end; v < end; v++ {
		if got, want := datacenter.IntValue(v).Text(), strconv.Itoa(int(v)); got != want {
			t.Fatalf("FormatInt(%d) = %q", v, got)
		}
	}
}
