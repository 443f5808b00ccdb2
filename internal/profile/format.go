package profile

import (
	"fmt"
	"strconv"
)

func share(part, whole float64) string {
	switch {
	case whole == 0:
		return "0 %"
	case part >= 0.9995*whole:
		return "100 %"
	case part > 0 && part < 0.0005*whole:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

// Duration writes a time with three digits: 1.23 ms.
func Duration(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	for i, u := range units {
		if ns < 999.5 || i == len(units)-1 {
			if ns >= 999.5 {
				return fmt.Sprintf("%.0f %s", ns, u)
			}
			return fmt.Sprintf("%.3g %s", ns, u)
		}
		ns /= 1000
	}
	return ""
}

// Bytes writes a size with three digits: 800 B, 1.6 kB.
func Bytes(n uint64) string {
	v, units := float64(n), []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	for i, u := range units {
		v /= 1000
		if v < 999.5 || i == len(units)-1 {
			return fmt.Sprintf("%.3g %s", v, u)
		}
	}
	return ""
}

func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
