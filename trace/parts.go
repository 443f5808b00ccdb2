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
	Start, End   int64     // on the run's time line; Start is the call's if the part is a single call
	CallsByKind  []uint64  // by kind
	NsByKind     []float64 // by kind: time in the calls
	IsSingleCall bool      // the part is one call
}

// partSteps is a number of parts: whenever a stream has yielded this many more, its parts become twice as long.
const partSteps = 1 << 20

// StreamParts divides a stream into parts that take at most longest ns; a single longer call is a part of its own. kind
// is the kind of each terminal, less than kinds. Times are means, even if the trace has the time of each call, so
// that the cost depends on the structure instead of the number of calls. A part is valid until the next.
func (k *Rank) StreamParts(stream int, longest int64, kind []int, kinds int) iter.Seq2[*StreamPart, error] {
	return func(yield func(*StreamPart, error) bool) {
		m, err := k.means(stream)
		if err != nil {
			yield(nil, err)
			return
		}
		// I/O calls are counted separately, as their times may be stretched by another factor.
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
		split.MaxSteps = partSteps
		out := StreamPart{CallsByKind: make([]uint64, kinds), NsByKind: make([]float64, kinds)}
		along := m.PartCursor()
		for p := range split.Parts(max(1, int64(float64(longest)/m.Scale))) {
			c := split.CountKinds(p)
			gap, calls, files := p.Weight, int64(0), int64(0)
			for i := range kinds {
				calls += c.Sums[i]
				files += c.Sums[kinds+i]
			}
			gap -= calls + files
			before := int64(0)
			if out.IsSingleCall = p.Single; p.Single {
				before, gap = gap, 0
			}
			var scale float64
			out.Start, out.End, scale = along.Next(before, gap, calls, files)
			for i := range kinds {
				out.CallsByKind[i] = c.Calls[i] + c.Calls[kinds+i]
				out.NsByKind[i] = float64(c.Sums[i]+c.Sums[kinds+i]) * scale
			}
			if !yield(&out, nil) {
				return
			}
		}
	}
}

// checkMeans refuses means whose sum overflows a time line.
func (k *Rank) checkMeans(stream int, timings []Timing) error {
	sum := 0.0
	for t, n := range k.Counts(stream) {
		sum += float64(n) * (float64(timings[t].Duration.Ns) + float64(timings[t].Gap.Ns))
	}
	if sum >= math.MaxInt64/2 {
		return k.r.failed(container.SectionTimes, fmt.Errorf("rank %d: stream %d: times that add up to %.3g s: %w", k.number, stream, sum/1e9, ErrFormat))
	}
	return nil
}

// CommonPrefix returns how many calls the given stream of two ranks has in common at the beginning, without expanding it.
// Calls are the same if ofA and ofB give their terminals the same number.
func CommonPrefix(a, b *Rank, stream int, ofA, ofB []uint64) uint64 {
	prints := func(k *Rank, number []uint64) *grammar.PrefixFingerprints {
		return grammar.NewPrefixFingerprints(k.streams[stream], func(t uint32) uint64 { return number[t] })
	}
	return prints(a, ofA).CommonPrefix(prints(b, ofB))
}
