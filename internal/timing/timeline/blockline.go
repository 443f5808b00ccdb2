package timeline

import (
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace/model"
)

// BlockCalls is how many calls are placed together: as many as have their own times in one block.
const BlockCalls = series.BlockCalls

// A blockLine puts calls with times that are not all the mean of their place one behind the other. So that a position
// is found without those before it, each block of calls begins and ends where means have it, and what is between
// is stretched to fit.
type blockLine struct {
	*Means
	now, ahead Sampler         // the latter a block ahead
	terminals  *grammar.Cursor // of ahead
	span       bracket
	index      uint64
	at         float64 // sum of times before index
	stretch    float64 // of the block
	end        float64 // of the block
}

// NewBlockLine opens such a line of a stream at a position. open opens what gives its times.
func NewBlockLine(m *Means, open func(index uint64) Sampler, stream *grammar.Grammar, index uint64) Line {
	first := min(index, m.Sums.Len())
	first -= first % BlockCalls
	l := &blockLine{Means: m, now: open(first), ahead: open(first), terminals: stream.Cursor(), span: m.bracket(first), index: first}
	l.terminals.Seek(first)
	c := stream.Cursor()
	for c.Seek(first); l.index < index; {
		n, ok := c.Next()
		if !ok {
			break
		}
		l.Next(int(n))
	}
	return l
}

// begin prepares the block that begins with the next call.
func (l *blockLine) begin() {
	drawn, n := 0.0, uint64(0)
	for ; n < BlockCalls; n++ {
		terminal, ok := l.terminals.Next()
		if !ok {
			break
		}
		t := l.ahead.sample(int(terminal))
		drawn += float64(t.Gap.Ns) + float64(t.Duration.Ns)
	}
	l.at, l.end = float64(l.Sums.Before(l.index)), float64(l.Sums.Before(l.index+n))
	l.stretch = 0
	if drawn > 0 {
		l.stretch = (l.end - l.at) / drawn
	}
}

func (l *blockLine) Next(terminal int) (model.Timing, When, error) {
	if l.index%BlockCalls == 0 {
		l.begin()
	}
	t := l.now.sample(terminal)
	begin := min(l.at+l.stretch*float64(t.Gap.Ns), l.end)
	l.at = min(begin+l.stretch*float64(t.Duration.Ns), l.end)
	l.index++
	return t, l.when(int64(begin), int64(l.at), l.now.asideNs(), l.span.next(terminal)), nil
}
