package column

import "github.com/spoor-hpc/spoor/internal/expr"

// Expr is a closed form as a formula. constant makes the expression of a constant value.
func (f *Form) Expr(constant func(v int64) *expr.Expr) *expr.Expr {
	rank, ranks, c := expr.Of(expr.Rank), expr.Of(expr.Ranks), &f.Coefficients
	if f.Kind&KindEdge != 0 {
		inner, e := f.Inner(), f.edge()
		value := constant(e[eValue])
		if e[eSide]&sideRank != 0 {
			value = expr.Sum(rank, expr.Int(e[eValue]))
		}
		return expr.If(atEnd(e[eBlock], e[eWidth], e[eSide]&sideLast != 0), value, inner.Expr(constant))
	}
	ring := func(shift int64) *expr.Expr {
		if shift < 0 {
			return expr.Call("mod", expr.Sum(rank, expr.Int(shift)), ranks)
		}
		return expr.Remainder(expr.Sum(rank, expr.Int(shift)), ranks)
	}
	switch f.Kind.base() {
	case KindConst:
		return constant(c[0])
	case KindRank:
		return expr.Sum(rank, expr.Int(c[0]))
	case KindRing:
		return ring(c[0])
	case KindXor:
		return expr.Xor(rank, expr.Int(c[0]))
	case KindLine:
		return expr.Sum(times(c[0], rank), expr.Int(c[1]))
	case KindTurn:
		return expr.Sum(times(c[0], ring(c[1])), expr.Int(c[2]))
	case KindPlane:
		return planeExpr(c[0], c[1], c[2], c[3])
	case KindDigits:
		return expr.Sum(digitExpr(c[cD], c[cM1], c[cA1], c[cB1], c[cC1]), times(c[cM1], digitExpr(c[cD], c[cM2], c[cA2], c[cB2], c[cC2])), expr.Int(c[cBase]))
	case KindWrap:
		block := expr.Int(c[wBlock])
		return expr.Sum(expr.Product(expr.Quotient(rank, block), block), expr.Call("mod", expr.Sum(rank, expr.Int(c[wShift])), block))
	case KindShare:
		mul, least1, least2 := c[sMul], c[sLeast1], c[sLeast2]
		switch {
		case c[sMore2] == 0 && mul < 0:
			return shareExpr(c[sBlock1], c[sMore1], least1*mul*least2, mul*least2)
		case c[sMore2] == 0:
			return times(mul*least2, shareExpr(c[sBlock1], c[sMore1], least1, 1))
		}
		return expr.Product(expr.Int(mul), shareExpr(c[sBlock1], c[sMore1], least1, 1), shareExpr(c[sBlock2], c[sMore2], least2, 1))
	}
	return nil
}

func times(a int64, e *expr.Expr) *expr.Expr { return expr.Product(expr.Int(a), e) }

// atEnd is the condition to be among the first or last ranks of a block.
func atEnd(block, width int64, last bool) *expr.Expr {
	at, end := expr.Of(expr.Rank), expr.Of(expr.Ranks)
	if block != 0 {
		at, end = expr.Remainder(at, expr.Int(block)), expr.Int(block)
	}
	before := func(n int64) *expr.Expr {
		if block != 0 {
			return expr.Int(block - n)
		}
		return expr.Sum(end, expr.Int(-n))
	}
	switch {
	case !last && width == 1:
		return expr.Equal(at, expr.Int(0))
	case !last:
		return expr.Less(at, expr.Int(width))
	case width == 1:
		return expr.Equal(at, before(1))
	}
	return expr.AtLeast(at, before(width))
}

// shareExpr is least, and more at the first ranks of a block.
func shareExpr(block, width, least, more int64) *expr.Expr {
	if width == 0 {
		return expr.Int(least)
	}
	return expr.If(atEnd(block, width, false), expr.Int(least+more), expr.Int(least))
}

// planeExpr is a place in a grid d wide.
func planeExpr(d, a, b, c int64) *expr.Expr {
	rank, wide := expr.Of(expr.Rank), expr.Int(d)
	return expr.Sum(times(a, expr.Remainder(rank, wide)), times(b, expr.Quotient(rank, wide)), expr.Int(c))
}

// digitExpr is a digit of a mixed-radix number.
func digitExpr(d, m, a, b, c int64) *expr.Expr {
	if m == 1 {
		return expr.Int(0)
	}
	return expr.Call("mod", planeExpr(d, a, b, c), expr.Int(m))
}
