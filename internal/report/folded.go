package report

import "spoor/trace"

// folded paints a thread by its structure: what takes a fraction of a tile is painted as
// a whole, each function with its part of that time. Nothing is listed.
func (p *painter) folded(r *trace.Reader, x thread, row *Row, _ bool) ([]byte, error) {
	k, err := r.Rank(x.rank)
	if err != nil {
		return nil, err
	}
	numbers, err := p.numbers(k)
	if err != nil {
		return nil, err
	}
	functions := len(p.t.Functions)
	for part, err := range k.Parts(x.stream, max(1, int64(p.width/finest)), numbers, functions) {
		if err != nil {
			return nil, err
		}
		p.kind = min(p.kind, trace.MeanSample)
		start, end := max(part.Start, p.t.StartNs), min(part.End, p.t.EndNs)
		for f, n := range part.Calls {
			if n == 0 {
				continue
			}
			row.Calls += n
			p.t.Functions[f].Calls += n
			ns := min(part.Ns[f], float64(max(0, end-start)))
			p.t.Functions[f].Ns += ns
			p.spread(f, float64(start-p.t.StartNs), float64(end-p.t.StartNs), ns)
		}
	}
	return nil, nil
}

// spread paints a time that a function has somewhere between two times.
func (p *painter) spread(f int, start, end, ns float64) {
	if ns <= 0 || end <= start {
		return
	}
	share := min(1, ns/(end-start))
	i, j := int(start/p.width), int(end/p.width)
	i, j = max(0, min(i, p.t.Tiles-1)), max(0, min(j, p.t.Tiles-1))
	sums := p.sums[f]
	for k := i; k <= j; k++ {
		from, to := start, end
		if k > i {
			from = float64(k) * p.width
		}
		if k < j {
			to = float64(k+1) * p.width
		}
		sums[k] += float32(share * (to - from))
		p.inMPI[k] += float32(share * (to - from))
	}
}
