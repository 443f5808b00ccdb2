package diff

import "github.com/spoor-hpc/spoor/trace"

// A Warning is a reason, found in one trace, why two traces may differ although their runs did not.
type Warning struct {
	TraceName string // the trace's name
	Text      string // the rest of a sentence that begins with the trace's name
}

func (w Warning) String() string { return w.TraceName + " " + w.Text }

// ReductionWarnings lists in what a trace differs from its run because it was reduced.
func ReductionWarnings(r *trace.Reader) (list []Warning, err error) {
	warn := func(is bool, text string) {
		if is {
			list = append(list, Warning{r.Name(), text})
		}
	}
	sizes, err := r.MergedSizes()
	if err != nil {
		return nil, err
	}
	warn(sizes != nil, "was reduced: its sizes are means, not those of the run")
	loops, err := r.SyntheticLoops()
	if err != nil {
		return nil, err
	}
	warn(loops != nil, "has loops with synthetic trip counts: it cannot compare calls in and after them with those of a run")
	messages, err := r.SyntheticMessages()
	if err != nil {
		return nil, err
	}
	warn(messages != nil, "has synthetic messages: its calls can't be compared with those of a run")
	return list, nil
}

// SetIgnoreCallers sets IgnoreCallers if only one of the traces has call stacks, and then returns a warning.
func (o *Options) SetIgnoreCallers(a, b *trace.Reader) (list []Warning, err error) {
	if !o.CompareSites {
		return nil, nil
	}
	x, err := HasStacks(a)
	if err != nil {
		return nil, err
	}
	y, err := HasStacks(b)
	if err != nil {
		return nil, err
	}
	if o.IgnoreCallers = x != y; !o.IgnoreCallers {
		return nil, nil
	}
	without := a
	if x {
		without = b
	}
	return []Warning{{without.Name(), "has no call stacks: places are compared, and not what is around them"}}, nil
}
