package column

import "fmt"

// Text writes a closed form for people: "rank+1", "(rank-1) mod 8", "rank xor 4", or for grids
// "(x+1 mod 4, y) of a grid 4 wide", with ranks counted along x first. It is "" for kinds that nobody wants to read.
func (f *Form) Text(size int64) string {
	switch f.Kind &^ Masked {
	case Const:
		return fmt.Sprint(f.C[0])
	case Rank:
		return shiftText("rank", f.C[0])
	case Ring:
		c := f.C[0]
		if size > 0 {
			if c %= size; c > size/2 {
				c -= size
			} else if c < -(size / 2) {
				c += size
			}
		}
		return fmt.Sprintf("(%s) mod %d", shiftText("rank", c), size)
	case Line:
		if f.C[0] != 1 {
			return shiftText(fmt.Sprintf("%d·rank", f.C[0]), f.C[1])
		}
		return shiftText("rank", f.C[1])
	case Xor:
		return fmt.Sprintf("rank xor %d", f.C[0])
	case Digits:
		return gridText(f)
	case Wrap:
		x := "x"
		if f.C[1] != 0 {
			x = fmt.Sprintf("x%+d mod %d", f.C[1], f.C[0])
		}
		return fmt.Sprintf("(%s, y) of a grid %d wide", x, f.C[0])
	}
	return ""
}

func shiftText(name string, c int64) string {
	if c == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, c)
}

// gridText renders a form of two digits.
func gridText(f *Form) string {
	d, base, m1, a1, b1, c1, m2, a2, b2, c2 := f.C[0], f.C[1], f.C[2], f.C[3], f.C[4], f.C[5], f.C[6], f.C[7], f.C[8], f.C[9]
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
