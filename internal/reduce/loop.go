package reduce

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// MainLoop selects the main loop of a run instead of a loop by name.
const MainLoop = "main"

// rounds finds the calls of some iterations of a loop. An iteration lasts from a call that begins it to before the
// next such call.
func (w *Selection) rounds(r *trace.Reader, k *trace.Rank, stream int) (s ops.CallRange, found bool, err error) {
	var x *trace.LoopIterations
	if w.Loop == MainLoop {
		if w.iterations == nil {
			if w.iterations, err = when.NewIterationFinder(r); err != nil {
				return s, false, err
			}
		}
		x, err = w.iterations.IterationsOf(k, stream)
	} else {
		x = w.named(k, stream)
	}
	if err != nil || x == nil {
		return s, false, err
	}
	if w.FirstIteration >= x.Count {
		return s, true, nil
	}
	w.found = true
	if s = (ops.CallRange{First: x.BeginPosition(w.FirstIteration), End: x.BeginPosition(w.EndIteration)}); w.begins == nil && !x.FromOtherRanks {
		for t := range k.SequenceFrom(stream, s.First) {
			w.begins = k.CallWithoutParams(t)
			break
		}
	}
	return s, true, nil
}

// named finds the iterations that begin with the calls that a text names: a function, a call site, or a part of a
// call site's name. It returns nil without any.
func (w *Selection) named(k *trace.Rank, stream int) *trace.LoopIterations {
	name, place, both := strings.Cut(w.Loop, "@")
	x := k.Occurrences(stream, func(t int) bool {
		c := k.CallWithoutParams(t)
		if w.IterationSites != nil {
			return w.IterationSites[c.FunctionSite()]
		}
		return c.Name() == name && (!both || w.SiteNamer != nil && strings.Contains(w.SiteNamer(c.Name(), c.Site), place))
	})
	if x.Total() == 0 {
		return nil
	}
	end := k.CallCount(stream)
	if n := x.Total(); n > 1 { // the last iteration is as long as the one before: it excludes what follows the loop
		a, _ := x.Nth(n - 2)
		b, _ := x.Nth(n - 1)
		end = min(end, b+(b-a))
	}
	return trace.NewLoopIterations(x, end)
}
