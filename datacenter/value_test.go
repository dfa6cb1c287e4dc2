package datacenter_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"lorefs/datacenter"
)

func TestParseValue(t *testing.T) {
	const (
		i = datacenter.Int
		f = datacenter.Float
		b = datacenter.Bool
		s = datacenter.String
	)
	for _, tt := range []struct {
		typ        datacenter.Type
		text, want string // want is the text of the value
	}{
		{i, "0", "0"},
		{i, "-0", "0"},
		{i, "007", "7"},
		{i, "+5", "5"},
		{i, " 5\t\n", "5"},
		{i, "2147483647", "2147483647"},
		{i, "-2147483648", "-2147483648"},
		{f, "256.000000", "256"},
		{f, "256", "256"},
		{f, ".5", "0.5"},
		{f, "5.", "5"},
		{f, "+1e3", "1000"},
		{f, "1E+09", "1E+09"},
		{f, "1000000000", "1E+09"},
		{f, "999999999", "1E+09"}, // the nearest float is 1E+09
		{f, "100000000", "100000000"},
		{f, "0.0001", "0.0001"},
		{f, "0.00001", "1E-05"},
		{f, "16777217", "16777216"},
		{f, "1e-45", "1E-45"},
		{f, "1e-60", "0"},
		{f, "-0", "-0"},
		{f, "-0.0", "-0"},
		{f, "3.4028235e38", "3.4028235E+38"},
		{f, "NaN", "NaN"},
		{f, "nan", "NaN"},
		{f, "NaN(0xFFC00000)", "NaN"},
		{f, "NaN(0x7FC00000)", "NaN(0x7FC00000)"},
		{f, "NaN(0x7f800001)", "NaN(0x7F800001)"},
		{f, "NaN(0xFFFFFFFF)", "NaN(0xFFFFFFFF)"},
		{f, "Infinity", "Infinity"},
		{f, "-Infinity", "-Infinity"},
		{f, "INF", "Infinity"},
		{f, "-inf", "-Infinity"},
		{b, "true", "true"},
		{b, "false", "false"},
		{b, "1", "true"},
		{b, " 0 ", "false"},
		{s, "", ""},
		{s, " a\n", " a\n"},
		{s, "007", "007"},
		{s, "\xed\xa0\x80", "\xed\xa0\x80"},
		{s, "a\xed\xb0\x80\xed\xa0\x80", "a\xed\xb0\x80\xed\xa0\x80"},
		{s, "\U0001f409\ufeff\uffff\x01", "\U0001f409\ufeff\uffff\x01"},
	} {
		v, err := datacenter.ParseValue(tt.typ, tt.text)
		if err != nil || v.Text() != tt.want || v.Type() != tt.typ {
			t.Errorf("%v %q: %v %q, %v: want %q", tt.typ, tt.text, v.Type(), v.Text(), err, tt.want)
			continue
		}
		again, err := datacenter.ParseValue(tt.typ, v.Text())
		if err != nil || again != v {
			t.Errorf("%v %q does not read back: %v", tt.typ, v.Text(), err)
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		typ  datacenter.Type
		text string
		want error
	}{
		{datacenter.Int, "", datacenter.ErrValue},
		{datacenter.Int, "2147483648", datacenter.ErrValue},
		{datacenter.Int, "-2147483649", datacenter.ErrValue},
		{datacenter.Int, "1.0", datacenter.ErrValue},
		{datacenter.Int, "0x10", datacenter.ErrValue},
		{datacenter.Int, "1_000", datacenter.ErrValue},
		{datacenter.Int, "1 2", datacenter.ErrValue},
		{datacenter.Int, "1\x00", datacenter.ErrValue},
		{datacenter.Int, long, datacenter.ErrValue},
		{datacenter.Float, "", datacenter.ErrValue},
		{datacenter.Float, "1e39", datacenter.ErrValue},
		{datacenter.Float, "3.5e38", datacenter.ErrValue},
		{datacenter.Float, "1,5", datacenter.ErrValue},
		{datacenter.Float, "1_0", datacenter.ErrValue},
		{datacenter.Float, "0x1p4", datacenter.ErrValue},
		{datacenter.Float, "0X1P4", datacenter.ErrValue},
		{datacenter.Float, "-NaN", datacenter.ErrValue},
		{datacenter.Float, "NaN(0x7F800000)", datacenter.ErrValue}, // the bits of infinity
		{datacenter.Float, "NaN(0x00000000)", datacenter.ErrValue},
		{datacenter.Float, "NaN(0x1FFFFFFFF)", datacenter.ErrValue},
		{datacenter.Float, "NaN(0x7FC00000", datacenter.ErrValue},
		{datacenter.Float, "NaN(0x)", datacenter.ErrValue},
		{datacenter.Bool, "", datacenter.ErrValue},
		{datacenter.Bool, "True", datacenter.ErrValue},
		{datacenter.Bool, "2", datacenter.ErrValue},
		{datacenter.String, "\x00", datacenter.ErrValue},
		{datacenter.String, "a\x00b", datacenter.ErrValue},
		{datacenter.String, "\xff", datacenter.ErrValue},
		{datacenter.String, "\xc0\x80", datacenter.ErrValue},
		{datacenter.String, "\xed\xa0", datacenter.ErrValue},
		{datacenter.String, "\xed\xa0\xbd\xed\xb8\x80", datacenter.ErrValue}, // a pair is one code point
		{datacenter.String, long, datacenter.ErrTooLarge},
		{datacenter.String, strings.Repeat("\U0001f409", 1<<19), datacenter.ErrTooLarge},
		{0, "1", datacenter.ErrValue},
		{9, "1", datacenter.ErrValue},
	} {
		v, err := datacenter.ParseValue(tt.typ, tt.text)
		if !errors.Is(err, tt.want) || v != (datacenter.Value{}) {
			t.Errorf("%v %.40q: %v, %v: want %v", tt.typ, tt.text, v.Text(), err, tt.want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%v %.40q: the error has %d bytes", tt.typ, tt.text, len(err.Error()))
		}
	}
	// The limit is in units, not bytes.
	for _, text := range []string{long[1:], strings.Repeat("한", 1<<20-1), strings.Repeat("\U0001f409", 1<<19-1)} {
		if v, err := datacenter.StringValue(text); err != nil || v.Text() != text {
			t.Errorf("%.10q and so on: %v", text, err)
		}
	}
}

func TestInferValue(t *testing.T) {
	for text, want := range map[string]datacenter.Type{
		"0": datacenter.Int, "-1": datacenter.Int, "2147483647": datacenter.Int,
		"007": datacenter.String, "+1": datacenter.String, "-0": datacenter.Float, " 1": datacenter.String, "1\n": datacenter.String,
		"2147483648": datacenter.String, "1E+09": datacenter.Float, "0.5": datacenter.Float, ".5": datacenter.String,
		"0.50": datacenter.String, "1E-05": datacenter.Float, "0.00001": datacenter.String, "Infinity": datacenter.Float,
		"inf": datacenter.String, "NaN": datacenter.Float, "nan": datacenter.String, "NaN(0x7FC00000)": datacenter.Float,
		"NaN(0x7fc00000)": datacenter.String, "true": datacenter.Bool, "false": datacenter.Bool, "True": datacenter.String,
		"": datacenter.String, "16777217": datacenter.Int, "\xed\xa0\x80": datacenter.String,
	} {
		v, err := datacenter.InferValue(text)
		if err != nil || v.Type() != want || v.Text() != text {
			t.Errorf("%q: %v %q, %v: want %v", text, v.Type(), v.Text(), err, want)
		}
	}
	for _, text := range []string{"\x00", "\xff"} {
		if _, err := datacenter.InferValue(text); !errors.Is(err, datacenter.ErrValue) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestValuesOfGo(t *testing.T) {
	for _, tt := range []struct {
		v    datacenter.Value
		typ  datacenter.Type
		text string
	}{
		{datacenter.IntValue(math.MinInt32), datacenter.Int, "-2147483648"},
		{datacenter.FloatValue(float32(math.Copysign(0, -1))), datacenter.Float, "-0"},
		{datacenter.FloatValue(math.Float32frombits(0x7fa00001)), datacenter.Float, "NaN(0x7FA00001)"},
		{datacenter.FloatValue(math.MaxFloat32), datacenter.Float, "3.4028235E+38"},
		{datacenter.BoolValue(true), datacenter.Bool, "true"},
		{datacenter.BoolValue(false), datacenter.Bool, "false"},
	} {
		if tt.v.Type() != tt.typ || tt.v.Text() != tt.text {
			t.Errorf("%v %q, want %v %q", tt.v.Type(), tt.v.Text(), tt.typ, tt.text)
		}
	}
	if (datacenter.Value{}).Type() != 0 {
		t.Error("the zero value has a type")
	}
}

// TestFloatsReadBack checks that floats from the whole range read back as the same bits.
func TestFloatsReadBack(t *testing.T) {
	for bits := uint64(0); bits < 1<<32; bits += 65521 { // a prime, so that all mantissas occur
		want := datacenter.FloatValue(math.Float32frombits(uint32(bits)))
		got, err := datacenter.ParseValue(datacenter.Float, want.Text())
		if err != nil || got != want {
			t.Fatalf("%#x: %q reads back as %q, %v", bits, want.Text(), got.Text(), err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]error{
		"":                           nil,
		"Item":                       nil,
		"a/b":                        nil,
		"몬스터지정":                      nil,
		"\xed\xa0\x80":               nil,
		"__value__":                  nil,
		"__root__":                   datacenter.ErrValue,
		"\x00":                       datacenter.ErrValue,
		"\xff":                       datacenter.ErrValue,
		strings.Repeat("n", 65534):   nil,
		strings.Repeat("n", 65535):   datacenter.ErrTooLarge,
		strings.Repeat("n", 3<<20):   datacenter.ErrTooLarge,
		strings.Repeat("\x00", 1000): datacenter.ErrValue,
	} {
		if err := datacenter.CheckName(name); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", name, err, want)
		}
	}
}

func TestParseType(t *testing.T) {
	for _, typ := range []datacenter.Type{datacenter.Int, datacenter.Float, datacenter.String, datacenter.Bool} {
		if got, err := datacenter.ParseType(typ.String()); err != nil || got != typ {
			t.Errorf("%v became %v, %v", typ, got, err)
		}
	}
	for _, s := range []string{"", "Int", "integer", "boolean", "Type(0)", " int"} {
		if got, err := datacenter.ParseType(s); !errors.Is(err, datacenter.ErrValue) || got != 0 {
			t.Errorf("%q became %v, %v", s, got, err)
		}
	}
}
