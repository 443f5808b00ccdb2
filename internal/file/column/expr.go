package column

import "github.com/spoor-hpc/spoor/internal/expr"

// Expr returns a closed form as a formula. constant makes the formula of a constant value.
func (f *Form) Expr(constant func(v int64) *expr.Expr) *expr.Expr {
	rank, ranks, c := expr.VariableExpr(expr.VariableRank), expr.VariableExpr(expr.VariableRankCount), &f.Coefficients
	if f.Kind&KindFlagEdge != 0 {
		inner, e := f.WithoutEdge(), f.edge()
		value := constant(e[eValue])
		if e[eSide]&sideRank != 0 {
			value = expr.Sum(rank, expr.Number(e[eValue]))
		}
		return expr.Conditional(atEnd(e[eBlock], e[eWidth], e[eSide]&sideLast != 0), value, inner.Expr(constant))
	}
	ring := func(shift int64) *expr.Expr {
		if shift < 0 {
			return expr.CallFunction("mod", expr.Sum(rank, expr.Number(shift)), ranks)
		}
		return expr.Remainder(expr.Sum(rank, expr.Number(shift)), ranks)
	}
	switch f.Kind.base() {
	case KindConst:
		return constant(c[0])
	case KindRankPlus:
		return expr.Sum(rank, expr.Number(c[0]))
	case KindRing:
		return ring(c[0])
	case KindXor:
		return expr.Xor(rank, expr.Number(c[0]))
	case KindLinear:
		return expr.Sum(times(c[0], rank), expr.Number(c[1]))
	case KindScaledRing:
		return expr.Sum(times(c[0], ring(c[1])), expr.Number(c[2]))
	case KindPlane:
		return planeExpr(c[0], c[1], c[2], c[3])
	case KindMixedRadix:
		return expr.Sum(digitExpr(c[cD], c[cM1], c[cA1], c[cB1], c[cC1]), times(c[cM1], digitExpr(c[cD], c[cM2], c[cA2], c[cB2], c[cC2])), expr.Number(c[cBase]))
	case KindBlockRing:
		block := expr.Number(c[wBlock])
		return expr.Sum(expr.Product(expr.Quotient(rank, block), block), expr.CallFunction("mod", expr.Sum(rank, expr.Number(c[wShift])), block))
	case KindBlockProduct:
		mul, least1, least2 := c[sMul], c[sLeast1], c[sLeast2]
		switch {
		case c[sMore2] == 0 && mul < 0:
			return shareExpr(c[sBlock1], c[sMore1], least1*mul*least2, mul*least2)
		case c[sMore2] == 0:
			return times(mul*least2, shareExpr(c[sBlock1], c[sMore1], least1, 1))
		}
		return expr.Product(expr.Number(mul), shareExpr(c[sBlock1], c[sMore1], least1, 1), shareExpr(c[sBlock2], c[sMore2], least2, 1))
	}
	return nil
}

func times(a int64, e *expr.Expr) *expr.Expr { return expr.Product(expr.Number(a), e) }

// atEnd is the condition that the rank is among the first width ranks of its block, or with last among the last ones. A
// block of 0 is the whole world.
func atEnd(block, width int64, last bool) *expr.Expr {
	at, end := expr.VariableExpr(expr.VariableRank), expr.VariableExpr(expr.VariableRankCount)
	if block != 0 {
		at, end = expr.Remainder(at, expr.Number(block)), expr.Number(block)
	}
	before := func(n int64) *expr.Expr {
		if block != 0 {
			return expr.Number(block - n)
		}
		return expr.Sum(end, expr.Number(-n))
	}
	switch {
	case !last && width == 1:
		return expr.Equal(at, expr.Number(0))
	case !last:
		return expr.Less(at, expr.Number(width))
	case width == 1:
		return expr.Equal(at, before(1))
	}
	return expr.AtLeast(at, before(width))
}

// shareExpr is the formula of least, plus more on the first width ranks of each block.
func shareExpr(block, width, least, more int64) *expr.Expr {
	if width == 0 {
		return expr.Number(least)
	}
	return expr.Conditional(atEnd(block, width, false), expr.Number(least+more), expr.Number(least))
}

// planeExpr is the formula a·x + b·y + c, with x and y the rank's coordinates in a grid d wide.
func planeExpr(d, a, b, c int64) *expr.Expr {
	rank, wide := expr.VariableExpr(expr.VariableRank), expr.Number(d)
	return expr.Sum(times(a, expr.Remainder(rank, wide)), times(b, expr.Quotient(rank, wide)), expr.Number(c))
}

// digitExpr is the formula (a·x + b·y + c) mod m, with x and y the rank's coordinates in a grid d wide.
func digitExpr(d, m, a, b, c int64) *expr.Expr {
	if m == 1 {
		return expr.Number(0)
	}
	return expr.CallFunction("mod", planeExpr(d, a, b, c), expr.Number(m))
}
