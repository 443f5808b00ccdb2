package reduce

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// handovers converts a rank's handovers, which name calls by index in the trace, to indices in the part.
type handovers struct {
	lists  [][]trace.Handover
	wanted [][]wanted // by stream: the calls that handovers name, in order
	kept   []uint64   // by stream: number of kept calls so far
	next   []int      // by stream: next index in wanted
}

// wanted is a call, by its index in the trace, with two indices in the part. first is that of the call itself or, if
// it is not kept, of the next kept one. last is that of the call itself or of the previous kept one.
type wanted struct {
	call, first, last uint64
	there             bool // the call itself or a later one is kept, so that first is valid
}

func newHandovers(k *trace.Rank) (*handovers, error) {
	n := k.Streams()
	h := &handovers{lists: make([][]trace.Handover, n), wanted: make([][]wanted, n), kept: make([]uint64, n), next: make([]int, n)}
	for stream := range h.lists {
		var err error
		if h.lists[stream], err = k.Handovers(stream); err != nil {
			return nil, err
		}
		for _, x := range h.lists[stream] {
			h.wanted[stream] = append(h.wanted[stream], wanted{call: x.FirstUse})
			h.wanted[x.MakerStream] = append(h.wanted[x.MakerStream], wanted{call: x.MakerCall})
		}
	}
	for stream, list := range h.wanted {
		slices.SortFunc(list, byCall)
		h.wanted[stream] = slices.CompactFunc(list, func(a, b wanted) bool { return a.call == b.call })
	}
	return h, nil
}

func byCall(a, b wanted) int { return cmp.Compare(a.call, b.call) }

// keep records that a call is kept. Calls of a stream come in order.
func (h *handovers) keep(stream int, call uint64) {
	list := h.wanted[stream]
	for ; h.next[stream] < len(list) && list[h.next[stream]].call <= call; h.next[stream]++ {
		x := &list[h.next[stream]]
		x.first, x.there = h.kept[stream], true
		if x.last = h.kept[stream]; x.call < call {
			x.last = max(h.kept[stream], 1) - 1
		}
	}
	h.kept[stream]++
}

// events returns the part's handovers.
func (h *handovers) events() *track.AllocEvents {
	at := func(stream int, call uint64) *wanted {
		i, _ := slices.BinarySearchFunc(h.wanted[stream], wanted{call: call}, byCall)
		x := &h.wanted[stream][i]
		if !x.there {
			x.last = max(h.kept[stream], 1) - 1
		}
		return x
	}
	out := make([][]trace.Handover, len(h.lists))
	for stream, list := range h.lists {
		for _, x := range list {
			index := at(stream, x.FirstUse)
			if !index.there || h.kept[x.MakerStream] == 0 {
				continue
			}
			x.FirstUse, x.MakerCall = index.first, at(x.MakerStream, x.MakerCall).last
			out[stream] = append(out[stream], x)
		}
	}
	return track.HandoverEvents(out)
}
