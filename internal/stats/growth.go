// Package stats describes lists of numbers: how often each occurs, and how a quantity grows with the number of ranks.
package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MinLawPoints is the least number of different numbers of ranks for fitting a growth law. With fewer points, very
// different laws fit equally well.
const MinLawPoints = 5

// A Law says how a quantity grows with the number of ranks p: Constant + Coefficient·p^Exponent·log₂(p)^LogExponent.
// This is the performance model normal form of Calotoiu, Hoefler, Poke and Wolf, "Using automated performance modeling
// to find scalability bugs in complex codes" (SC13), section 3, with one term.
type Law struct {
	Constant    float64 `json:"c0"`
	Coefficient float64 `json:"c1"`
	Exponent    float64 `json:"exponent"`
	LogExponent int     `json:"log_exponent"`
	// LeaveOneOutError is how far off the law is for a point that it was not fitted to: the mean of
	// 2|y−ŷ|/(|y|+|ŷ|) over all points, each left out in turn.
	LeaveOneOutError float64 `json:"leave_one_out_error"`
}

// An exponents is the growing factor of a law: p to the power i times log₂ p to the power j.
type exponents struct {
	i float64
	j int
}

// shapes are the candidate laws. Of laws with about equal errors the first is chosen. Negative exponents are for work
// that ranks share.
var shapes = []exponents{
	{0, 1}, {1, 0}, {-1, 0}, {0.5, 0}, {2, 0}, {1, 1}, {-0.5, 0}, {0, 2}, {1.5, 0}, {3, 0}, {-2, 0}, {0.5, 1}, {2, 1}, {-1, 1},
	{1.0 / 3, 0}, {2.0 / 3, 0}, {4.0 / 3, 0}, {5.0 / 3, 0}, {-2.0 / 3, 0}, {0.25, 0}, {0.75, 0}, {1.25, 0}, {1.75, 0}, {2.5, 0},
	{1, 2}, {1.5, 1}, {0.5, 2}, {1.0 / 3, 1}, {2.0 / 3, 1}, {0.25, 1}, {0.75, 1}, {2, 2}, {3, 1},
}

func (s exponents) at(p float64) float64 {
	return math.Pow(p, s.i) * math.Pow(math.Log2(p), float64(s.j))
}

// near is the largest ratio of a shape's error to the least error of all shapes at which it may be chosen. The first
// such shape is.
const near = 1.1

// enough is the largest error of a growing law, relative to that of a constant: with a larger one, the constant is
// chosen.
const enough = 0.8

// FitLaw fits a law to values, where values[i] was measured with ranks[i] ranks. The numbers of ranks must differ.
func FitLaw(ranks, values []float64) (Law, error) {
	if len(ranks) < MinLawPoints {
		return Law{}, fmt.Errorf("%d numbers of ranks: a growth law needs %d at least", len(ranks), MinLawPoints)
	}
	constant := Law{Constant: mean(values)}
	constant.LeaveOneOutError = leaveOneOut(ranks, values, func(_, y []float64) func(float64) float64 {
		c := mean(y)
		return func(float64) float64 { return c }
	})
	var laws []Law
	least := math.Inf(1)
	for _, s := range shapes {
		l := Law{Exponent: s.i, LogExponent: s.j}
		l.Constant, l.Coefficient = line(ranks, values, s)
		l.LeaveOneOutError = leaveOneOut(ranks, values, func(x, y []float64) func(float64) float64 {
			c0, c1 := line(x, y, s)
			return func(p float64) float64 { return c0 + c1*s.at(p) }
		})
		if math.IsNaN(l.LeaveOneOutError) {
			l.LeaveOneOutError = math.Inf(1)
		}
		laws = append(laws, l)
		least = min(least, l.LeaveOneOutError)
	}
	const exact = 1e-9
	if constant.LeaveOneOutError <= exact || least > enough*constant.LeaveOneOutError {
		return constant, nil
	}
	return laws[slices.IndexFunc(laws, func(l Law) bool { return l.LeaveOneOutError <= near*least+exact })], nil
}

func leaveOneOut(x, y []float64, fit func(x, y []float64) func(float64) float64) float64 {
	sum := 0.0
	for i := range x {
		f := fit(without(x, i), without(y, i))
		sum += difference(y[i], f(x[i]))
	}
	return sum / float64(len(x))
}

func without(list []float64, i int) []float64 {
	return append(append(make([]float64, 0, len(list)), list[:i]...), list[i+1:]...)
}

// difference returns |a−b| divided by the mean of |a| and |b|: from 0 to 2.
func difference(a, b float64) float64 {
	if a == b {
		return 0
	}
	return 2 * math.Abs(a-b) / (math.Abs(a) + math.Abs(b))
}

// line fits c0 + c1·s(p) to the values by least squares, where p is the number of ranks.
func line(ranks, values []float64, s exponents) (c0, c1 float64) {
	t := make([]float64, len(ranks))
	for i, p := range ranks {
		t[i] = s.at(p)
	}
	mt, mv := mean(t), mean(values)
	var tt, tv float64
	for i := range t {
		tt += (t[i] - mt) * (t[i] - mt)
		tv += (t[i] - mt) * (values[i] - mv)
	}
	if tt > 0 {
		c1 = tv / tt
	}
	return mv - c1*mt, c1
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// ValueAt returns the law's value for a number of ranks, at least 0.
func (l Law) ValueAt(ranks float64) float64 {
	if l.Coefficient == 0 {
		return max(0, l.Constant)
	}
	return max(0, l.Constant+l.Coefficient*exponents{l.Exponent, l.LogExponent}.at(ranks))
}

// GrowthOrder is the law's order of growth: "1", "log2 p", "p^0.5 log2 p".
func (l Law) GrowthOrder() string {
	var words []string
	if l.Coefficient != 0 && l.Exponent != 0 {
		if l.Exponent == 1 {
			words = append(words, "p")
		} else {
			words = append(words, "p^"+strconv.FormatFloat(l.Exponent, 'g', 3, 64))
		}
	}
	if l.Coefficient != 0 && l.LogExponent == 1 {
		words = append(words, "log2 p")
	} else if l.Coefficient != 0 && l.LogExponent > 1 {
		words = append(words, "log2^"+strconv.Itoa(l.LogExponent)+" p")
	}
	if len(words) == 0 {
		return "1"
	}
	return strings.Join(words, " ")
}

// GCD returns the greatest common divisor of a and b, never negative.
func GCD[T ~int32 | ~int64 | ~uint64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

// Median returns the median of list; 0 for an empty list.
func Median[T float64 | uint64](list []T) float64 {
	n := len(list)
	if n == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (float64(s[(n-1)/2]) + float64(s[n/2])) / 2
}
