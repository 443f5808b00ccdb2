package trace

import (
	"fmt"
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A StreamPart is a range of consecutive calls of a stream. Its times are the means of similar calls.
type StreamPart struct {
	StartNs, EndNs int64     // ns on the time line; of a single call, Start is when it begins, without the gap before it
	CallsByKind    []uint64  // number of calls by kind (see Rank.StreamParts)
	NsByKind       []float64 // time in the calls by kind
	IsSingleCall   bool      // whether the part is one call
}

// partSteps bounds the number of parts: after each partSteps parts of a stream, the further ones become twice as long.
const partSteps = 1 << 20

// StreamParts divides a stream into parts that take at most longest ns; a single longer call is a part of its own. kind
// is by terminal: a number of the caller's, from 0 and below kinds, by which calls and times are added up. Times are
// means, even if the trace has the time of each call: so the cost depends on the stream's structure, not on its length.
// A part is valid until the next one is yielded.
func (k *Rank) StreamParts(stream int, longest int64, kind []int, kinds int) iter.Seq2[*StreamPart, error] {
	return func(yield func(*StreamPart, error) bool) {
		m, err := k.means(stream)
		if err != nil {
			yield(nil, err)
			return
		}
		// I/O calls have kinds of their own here, as the file's section "when" may scale their times by another factor.
		each := make([]int, len(m.Timings))
		for leaf := range each {
			t := leaf
			if m.LeafTerminals != nil {
				t = int(m.LeafTerminals[leaf])
			}
			if each[leaf] = kind[t]; m.IsFileLeaf(leaf) {
				each[leaf] += kinds
			}
		}
		split := grammar.NewSplitter(m.Sums, each, 2*kinds, func(t uint32) int64 { return int64(m.Timings[t].Duration.Ns) })
		split.StepsBeforeDoubling = partSteps
		out := StreamPart{CallsByKind: make([]uint64, kinds), NsByKind: make([]float64, kinds)}
		along := m.PartPlacer()
		for p := range split.Parts(max(1, int64(float64(longest)/m.Scale))) {
			c := split.CountKinds(p)
			gap, calls, files := p.Weight, int64(0), int64(0)
			for i := range kinds {
				calls += c.Sums[i]
				files += c.Sums[kinds+i]
			}
			gap -= calls + files
			before := int64(0)
			if out.IsSingleCall = p.IsSingleTerminal; p.IsSingleTerminal {
				before, gap = gap, 0
			}
			var scale float64
			out.StartNs, out.EndNs, scale = along.PlaceNext(before, gap, calls, files)
			for i := range kinds {
				out.CallsByKind[i] = c.TerminalCounts[i] + c.TerminalCounts[kinds+i]
				out.NsByKind[i] = float64(c.Sums[i]+c.Sums[kinds+i]) * scale
			}
			if !yield(&out, nil) {
				return
			}
		}
	}
}

// checkMeans returns an error if a stream's times, by these means of terminals, add up to more than an int64 holds.
func (k *Rank) checkMeans(stream int, timings []Timing) error {
	sum := 0.0
	for t, n := range k.TerminalCounts(stream) {
		sum += float64(n) * (float64(timings[t].Duration.Ns) + float64(timings[t].Gap.Ns))
	}
	if sum >= math.MaxInt64/2 {
		return k.r.failed(container.SectionTimes, fmt.Errorf("rank %d: stream %d: times that add up to %.3g s: %w", k.number, stream, sum/1e9, ErrFormat))
	}
	return nil
}

// CommonPrefix returns how many calls at their beginning a stream of rank a and the one of rank b have in common,
// without expanding them. Two calls are the same if their terminals have the same number: in ofA for rank a, in ofB for
// rank b.
func CommonPrefix(a, b *Rank, stream int, ofA, ofB []uint64) uint64 {
	prints := func(k *Rank, number []uint64) *grammar.PrefixFingerprints {
		return grammar.NewPrefixFingerprints(k.streams[stream], func(t uint32) uint64 { return number[t] })
	}
	return prints(a, ofA).CommonPrefix(prints(b, ofB))
}
