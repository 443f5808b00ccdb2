package units

import "testing"

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0: "0 ns", 42: "42 ns", 999.4: "999 ns", 999.6: "1 µs", 1.23e6: "1.23 ms", 5e9: "5 s", 1234e9: "1234 s"} {
		if got := Duration(ns); got != want {
			t.Errorf("%g ns: %q, want %q", ns, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678", -100: "-100", -1234: "-1,234"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
