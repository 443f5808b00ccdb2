package proxy

import (
	"fmt"
	"math"
	"strings"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Iterations that differ by a constant step in repetition counts are a loop with the variable round.

// A folder makes the steps of a function from those of a rule.
type folder struct {
	g      *generator
	v      *variant
	part   *ruleFunction
	counts [][]grammar.Symbol // by member: the repetition count of each step of the rule
	known  map[string]int32   // by text that alike returns: number of the step, negative as of a rule in grammar.Symbol
}

// what returns a text that is equal for steps with the same content, whatever their repetition counts.
func (s *step) what() string {
	if s.line != nil {
		return fmt.Sprintf("l%d %s", s.line.order, s.around())
	}
	return fmt.Sprintf("p%d %s", s.part, s.around())
}

// alike returns a text that is equal for steps that can be one step of a loop, in different iterations.
func (s *step) alike() string {
	if s.line != nil {
		return fmt.Sprint(s.line.template().text, s.line.site, s.line.skip, s.around())
	}
	return s.what()
}

func (s *step) around() string { return fmt.Sprint(s.head, s.tail, s.between, s.after) }

// fold fills in the steps and loops of a function, and returns a text that only equal functions share.
func (f *folder) fold(steps []step, children [][]trace.Node) string {
	for k := range steps {
		what := steps[k].alike()
		id, ok := f.known[what]
		if !ok {
			id = -1 - int32(len(f.known))
			f.known[what] = id
		}
		for m := range children {
			f.counts[m] = append(f.counts[m], grammar.Symbol{TerminalOrRule: id, Count: children[m][k].Count})
		}
	}
	var key strings.Builder
	p := f.part
	for k := 0; k < len(steps); {
		width, rounds := f.rounds(steps, k)
		if rounds > 0 {
			p.loops = append(p.loops, loop{len(p.steps), width, fmt.Sprint(rounds)})
			fmt.Fprintf(&key, "%d*%d;", rounds, width)
		}
		first := len(p.steps)
		for i := range max(1, width) {
			s := steps[k+i]
			s.count = f.count(k+i, width)
			if s.line != nil && rounds > 0 {
				s.line = f.g.inRounds(s.line, steps[k+width+i].line)
			}
			fmt.Fprintf(&key, "%s*%s;", s.what(), s.count)
			p.steps = append(p.steps, s)
		}
		for i := range max(1, width*rounds) {
			p.at = append(p.at, first+i%max(1, width))
		}
		k += max(1, width*rounds)
	}
	fmt.Fprint(&key, p.first)
	return key.String()
}

// rounds returns the number of steps and of iterations of the loop that begins with a step, on all members; both are
// 0 if no loop begins there.
func (f *folder) rounds(steps []step, k int) (width, rounds int) {
	width, rounds = grammar.FindProgression(f.counts[0][k:])
	if rounds == 0 {
		return 0, 0
	}
	for _, list := range f.counts[1:] {
		rounds = min(rounds, grammar.CountProgressionRounds(list[k:], width))
	}
	for at := k + 2*width; at < k+rounds*width; at++ {
		if a, b, c := &steps[at-2*width], &steps[at-width], &steps[at]; a.line != nil && !goesOn(a.line, b.line, c.line) {
			rounds = (at - k) / width
		}
	}
	if rounds < grammar.MinProgressionRounds {
		return 0, 0
	}
	return width, rounds
}

// count writes a step's repetition count: the number in the first iteration, and its growth per iteration. It returns
// "" for once.
func (f *folder) count(k, width int) string {
	counts, more := make([]int64, len(f.counts)), make([]int64, len(f.counts))
	most, grows := int64(1), false
	for m, list := range f.counts {
		counts[m] = int64(min(list[k].Count, math.MaxInt64))
		most = max(most, counts[m])
		if width > 0 {
			more[m] = int64(list[k+width].Count - list[k].Count)
			grows = grows || more[m] != 0
		}
	}
	switch {
	case grows && same(more):
		return operand(f.v.fitter.expr(mpi.KindNone, counts)) + plus(more[0])
	case grows:
		return operand(f.v.fitter.expr(mpi.KindNone, counts)) + " + round * " + operand(f.v.fitter.expr(mpi.KindNone, more))
	case most > 1:
		return f.v.fitter.expr(mpi.KindNone, counts)
	}
	return ""
}

// plus writes n times the iteration number, to be added to an expression (e.g. " + 2 * round").
func plus(n int64) string {
	sign := " + "
	if n < 0 {
		sign, n = " - ", -n
	}
	if n == 1 {
		return sign + "round"
	}
	return sign + number(n) + " * round"
}

// operand puts an expression with operators into parentheses.
func operand(e string) string {
	if strings.ContainsAny(e, " ?") {
		return "(" + e + ")"
	}
	return e
}
