package column

import "fmt"

// Text renders a closed form for people: "rank+1", "(rank-1) mod 8", "rank xor 4", or for grids "(x+1 mod 4, y) of
// a grid 4 wide", with ranks counted along x first. It is "" for kinds that are too complex to read.
func (f *Form) Text(size int64) string {
	switch f.Kind &^ KindFlagMasked {
	case KindConst:
		return fmt.Sprint(f.Coefficients[0])
	case KindRankPlus:
		return shiftText("rank", f.Coefficients[0])
	case KindRing:
		c := f.Coefficients[0]
		if size > 0 {
			if c %= size; c > size/2 {
				c -= size
			} else if c < -(size / 2) {
				c += size
			}
		}
		return fmt.Sprintf("(%s) mod %d", shiftText("rank", c), size)
	case KindLinear:
		if f.Coefficients[0] != 1 {
			return shiftText(fmt.Sprintf("%d·rank", f.Coefficients[0]), f.Coefficients[1])
		}
		return shiftText("rank", f.Coefficients[1])
	case KindXor:
		return fmt.Sprintf("rank xor %d", f.Coefficients[0])
	case KindMixedRadix:
		return gridText(f)
	case KindBlockRing:
		x := "x"
		if f.Coefficients[1] != 0 {
			x = fmt.Sprintf("x%+d mod %d", f.Coefficients[1], f.Coefficients[0])
		}
		return fmt.Sprintf("(%s, y) of a grid %d wide", x, f.Coefficients[0])
	}
	return ""
}

func shiftText(name string, c int64) string {
	if c == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, c)
}

// gridText renders a form of KindMixedRadix.
func gridText(f *Form) string {
	d, base, m1, a1, b1, c1, m2, a2, b2, c2 := f.Coefficients[0], f.Coefficients[1], f.Coefficients[2], f.Coefficients[3], f.Coefficients[4], f.Coefficients[5], f.Coefficients[6], f.Coefficients[7], f.Coefficients[8], f.Coefficients[9]
	lo, hi := digitText(a1, b1, c1, m1), digitText(a2, b2, c2, m2)
	text := fmt.Sprintf("(%s, %s)", lo, hi)
	if m1 != d {
		text = fmt.Sprintf("%s + %d (%s)", lo, m1, hi)
	}
	if base != 0 {
		text = fmt.Sprintf("%d + %s", base, text)
	}
	return fmt.Sprintf("%s of a grid %d wide", text, d)
}

func digitText(a, b, c, m int64) string {
	if m == 1 {
		return "0"
	}
	text := ""
	for _, term := range []struct {
		n    int64
		name string
	}{{a, "x"}, {b, "y"}} {
		switch {
		case term.n == 0:
			continue
		case term.n == 1:
			text += "+" + term.name
		case term.n == -1:
			text += "-" + term.name
		default:
			text += fmt.Sprintf("%+d%s", term.n, term.name)
		}
	}
	if len(text) > 0 && text[0] == '+' {
		text = text[1:]
	}
	if text == "" {
		return fmt.Sprint(c % m)
	}
	if c > m/2 {
		c -= m
	}
	if c != 0 {
		text += fmt.Sprintf("%+d", c)
	}
	if text == "x" || text == "y" {
		return text
	}
	return fmt.Sprintf("%s mod %d", text, m)
}
