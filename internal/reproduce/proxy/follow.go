package proxy

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing/gaps"
	"github.com/spoor-hpc/spoor/trace"
)

// Where each call is to come after its own gap, these are in a file for each rank, which
// the program reads as it goes:
//
//	gaps = per thread: bytes uint32; per thread: nanoseconds uvarint…

// maxFollowed is how many bytes the gaps of all calls may take.
const maxFollowed = 1 << 30

// follow writes the gaps before all calls.
func (g *generator) follow(files map[string][]byte) error {
	total := 0
	for _, v := range g.list {
		for i, k := range v.ranks {
			var head, all []byte
			for stream := range k.Streams() {
				list, err := g.each(k, stream)
				if err != nil {
					return err
				}
				head = wire.AppendUint32(head, uint32(len(list)))
				all = append(all, list...)
			}
			if total += len(all); total > maxFollowed {
				return fmt.Errorf("the gaps before all calls take more than %d bytes", maxFollowed)
			}
			files[fmt.Sprintf("gaps/%d", v.members[i])] = append(head, all...)
		}
	}
	return nil
}

// each lists the gaps before the calls of a stream: their own, or drawn, or those of places.
func (g *generator) each(k *trace.Rank, stream int) (b []byte, err error) {
	line, err := gaps.NewLine(g.r, k, stream)
	if err != nil {
		return nil, err
	}
	x := trace.TimedCall{Call: new(trace.Call)}
	for t, err := range k.Timings(stream) {
		if err != nil {
			return nil, err
		}
		x.Timing = t.Timing
		if line != nil {
			x.Terminal = t.Terminal
			line.Next(&x)
		}
		if b = wire.AppendUvarint(b, x.Timing.Gap.Ns); len(b) > maxFollowed {
			return nil, fmt.Errorf("the gaps before all calls take more than %d bytes", maxFollowed)
		}
	}
	return b, nil
}
