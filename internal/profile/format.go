package profile

import "fmt"

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
