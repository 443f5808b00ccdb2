package report

import "github.com/spoor-hpc/spoor/trace"

// folded paints a thread from its structure instead of call by call. A part of the structure that takes less than
// 1/finest of a tile is painted as a whole: each function gets its share of the part's time, evenly spread.
func (p *painter) folded(r *trace.Reader, x thread, row *TimelineRow) error {
	k, err := r.Rank(x.rank)
	if err != nil {
		return err
	}
	numbers, err := p.numbers(k)
	if err != nil {
		return err
	}
	functions := len(p.t.Functions)
	asides, err := k.PlacedAsides(x.stream)
	if err != nil {
		return err
	}
	for _, a := range asides {
		if f, start := p.t.pseudo[which(a)], float64(a.StartNs-p.t.StartNs); f >= 0 {
			p.t.Functions[f].Ns += float64(a.Ns)
			p.spread(f, start, start+float64(a.Ns), float64(a.Ns))
		}
	}
	for part, err := range k.StreamParts(x.stream, max(1, int64(p.width/finest)), numbers, functions) {
		if err != nil {
			return err
		}
		p.kind = min(p.kind, trace.MeanSample)
		start, end := max(part.StartNs, p.t.StartNs), min(part.EndNs, p.t.EndNs)
		for f, n := range part.CallsByKind {
			if n == 0 {
				continue
			}
			row.Calls += n
			p.t.Functions[f].Calls += n
			ns := min(part.NsByKind[f], float64(max(0, end-start-within(asides, start, end))))
			p.t.Functions[f].Ns += ns
			p.spreadAround(f, start, end, ns, asides)
		}
	}
	return nil
}

// within returns how many ns of the time from start to end are asides.
func within(asides []trace.PlacedAside, start, end int64) (ns int64) {
	for _, a := range asides {
		ns += max(0, min(end, a.StartNs+a.Ns)-max(start, a.StartNs))
	}
	return ns
}

// spreadAround is spread, except that it paints nothing where asides are.
func (p *painter) spreadAround(f int, start, end int64, ns float64, asides []trace.PlacedAside) {
	whole := float64(end - start - within(asides, start, end))
	put := func(to int64) {
		if to > start && whole > 0 {
			p.spread(f, float64(start-p.t.StartNs), float64(to-p.t.StartNs), ns*float64(to-start)/whole)
		}
	}
	for _, a := range asides {
		if a.StartNs+a.Ns > start && a.StartNs < end {
			put(a.StartNs)
			start = max(start, a.StartNs+a.Ns)
		}
	}
	put(end)
}

// spread adds ns of function f to the tiles from start to end, evenly. Times are in ns since the timeline's start.
func (p *painter) spread(f int, start, end, ns float64) {
	if ns <= 0 || end <= start {
		return
	}
	share := min(1, ns/(end-start))
	sums := p.sums[f]
	eachTile(p.width, p.t.Tiles, start, end, func(tile int, part float64) {
		sums[tile] += float32(share * part)
		p.inMPI[tile] += float32(share * part)
	})
}
