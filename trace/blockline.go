package trace

import (
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/series"
)

// blockCalls is how many calls are placed together: as many as have their own times in one block.
const blockCalls = series.BlockCalls

// A blockLine puts calls with times that are not all the mean of their place one behind the other. So that a position
// is found without those before it, each block of calls begins and ends where means have it, and what is between
// is stretched to fit.
type blockLine struct {
	*meanTimes
	now, ahead sampler         // the latter a block ahead
	terminals  *grammar.Cursor // of ahead
	span       bracket
	index      uint64
	at         float64 // sum of times before index
	stretch    float64 // of the block
	end        float64 // of the block
}

func (k *Rank) newBlockLine(m *meanTimes, open func(index uint64) sampler, stream int, index uint64) *blockLine {
	first := min(index, k.Len(stream))
	first -= first % blockCalls
	l := &blockLine{meanTimes: m, now: open(first), ahead: open(first), terminals: k.streams[stream].Cursor(), span: m.bracket(first), index: first}
	l.terminals.Seek(first)
	c := k.streams[stream].Cursor()
	for c.Seek(first); l.index < index; {
		n, ok := c.Next()
		if !ok {
			break
		}
		l.next(int(n))
	}
	return l
}

// begin prepares the block that begins with the next call.
func (l *blockLine) begin() {
	drawn, n := 0.0, uint64(0)
	for ; n < blockCalls; n++ {
		terminal, ok := l.terminals.Next()
		if !ok {
			break
		}
		t := l.ahead.sample(int(terminal))
		drawn += float64(t.Gap.Ns) + float64(t.Duration.Ns)
	}
	l.at, l.end = float64(l.sums.Before(l.index)), float64(l.sums.Before(l.index+n))
	l.stretch = 0
	if drawn > 0 {
		l.stretch = (l.end - l.at) / drawn
	}
}

func (l *blockLine) next(terminal int) (Timing, when, error) {
	if l.index%blockCalls == 0 {
		l.begin()
	}
	t := l.now.sample(terminal)
	begin := min(l.at+l.stretch*float64(t.Gap.Ns), l.end)
	l.at = min(begin+l.stretch*float64(t.Duration.Ns), l.end)
	l.index++
	return t, l.when(int64(begin), int64(l.at), l.now.asideNs(), l.span.next(terminal)), nil
}
