package show

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0: "0 ns", 42: "42 ns", 999.4: "999 ns", 999.6: "1 µs", 1.23e6: "1.23 ms", 5e9: "5 s", 1234e9: "1234 s"} {
		if got := FormatDuration(ns); got != want {
			t.Errorf("%g ns: %q, want %q", ns, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678", -100: "-100", -1234: "-1,234"} {
		if got := FormatGrouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 999: "999 B", 1000: "1 KB", 3444: "3.44 KB", 999499: "999 KB", 999500: "1 MB", 1 << 40: "1.1 TB", 1<<64 - 1: "18.4 EB"} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	for part, want := range map[float64]string{0: "0.0 %", 0.1: "< 0.1 %", 0.5: "0.1 %", 123: "12.3 %", 999: "99.9 %", 999.5: "100 %", 1000: "100 %"} {
		if got := Percentage(part, 1000); got != want {
			t.Errorf("%g of 1000: %q, want %q", part, got, want)
		}
	}
	if got := Percentage(1, 0); got != "0 %" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestRanges(t *testing.T) {
	for want, list := range map[string][]int{"": {}, "4": {4}, "0-3,5": {0, 1, 2, 3, 5}, "1,3,5-6": {1, 3, 5, 6}} {
		if got := FormatRanges(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

func TestParseShare(t *testing.T) {
	for text, want := range map[string]float64{"5%": 0.05, "5 %": 0.05, "0.05": 0.05, "0": 0, "1": 1, "250%": 2.5} {
		if got, err := ParseShare(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "5", "-1%", "NaN", "inf", "five", "5%%"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestShort(t *testing.T) {
	for _, n := range []int{0, 1000, shortHead + 2*shortTail, shortHead + 2*shortTail + 1, 100_000} {
		text := strings.Repeat("ä", n/2) + "end"
		short := ElideMiddle(text)
		if len(short) > shortHead+2*shortTail+100 || !utf8.ValidString(short) || !strings.HasSuffix(short, "end") || n <= shortHead && short != text {
			t.Errorf("%d bytes: %d, %.40q", n, len(short), short)
		}
	}
	if !strings.Contains(ElideMiddle(strings.Repeat("x", 100_000)), "left out") {
		t.Error("nothing says that something is left out")
	}
}
