// Package traffic compares what ranks send each other in two traces, as a run and what was drawn of it, or that and its
// replay.
package traffic

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Pair is who sends and who receives, by world ranks.
type Pair struct{ From, To int }

// A Traffic is that of a run, collective calls included.
type Traffic struct {
	Pairs   map[Pair]matrix.Cell
	Out, In []uint64 // bytes of all calls, by rank
	// Left is what is sent less what is received, where that is not the same, of messages whose source and tag stand in the call.
	Left map[Channel]Left
	Wild int // other messages
}

// Left is messages that nobody receives, and bytes of all messages for which there is no room; less than 0: more is waited for.
type Left struct{ Messages, Bytes int64 }

// A Channel is messages in order.
type Channel struct {
	Pair
	Comm int
	Tag  int64
}

// Read counts the traffic in the trace that a file holds.
func Read(path string) (*Traffic, error) {
	r, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return Of(r)
}

// Of counts the traffic in a trace.
func Of(r *trace.Reader) (*Traffic, error) {
	m, err := matrix.Compute(r, matrix.Options{PointToPoint: true, Collectives: true})
	if err != nil {
		return nil, err
	}
	if m.UnknownPartnerCalls > 0 || m.UnsizedMessages > 0 {
		return nil, fmt.Errorf("%s: %d calls with partners that aren't known, %d messages of unknown size", r.Name(), m.UnknownPartnerCalls, m.UnsizedMessages)
	}
	t := &Traffic{Pairs: make(map[Pair]matrix.Cell), Out: make([]uint64, r.Ranks()), In: make([]uint64, r.Ranks()), Left: make(map[Channel]Left)}
	for from := range r.Ranks() {
		for _, e := range m.Row(from) {
			t.Pairs[Pair{from, e.Column}] = e.Cell
		}
	}
	for class := range r.Classes() {
		c, err := ops.NewClassAmounts(r, class)
		if err != nil {
			return nil, err
		}
		members := r.Members(class)
		err = c.EachRank(func(member int, _ []uint64, totals []ops.Amount) error {
			for _, a := range totals {
				t.Out[members[member]] += a.BytesOut
				t.In[members[member]] += a.BytesIn
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	comms, err := handles.TableOf(r).Comms()
	if err != nil {
		return nil, err
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		objects, err := handles.TableOf(r).Rank(k)
		if err != nil {
			return nil, err
		}
		for stream := range k.Streams() {
			for c, err := range k.Calls(stream) {
				if err != nil {
					return nil, err
				}
				t.call(comms, objects, k.Number(), stream, c)
			}
		}
	}
	maps.DeleteFunc(t.Left, func(_ Channel, n Left) bool { return n == Left{} })
	return t, nil
}

// call counts what a call sends and receives point to point.
func (t *Traffic) call(comms *handles.Comms, objects *handles.Rank, rank, stream int, c *trace.Call) {
	m := meaning.DataMovementOf(c.Name())
	comm := c.Param("comm")
	if m == nil || comm == nil || m.Pattern != meaning.PatternToPeer && m.Pattern != meaning.PatternReceive {
		return
	}
	in := comms.At(rank, stream, c.Index, comm.In.Num)
	for _, side := range []*meaning.DataSide{m.Out, m.In} {
		if side == nil || side.Peer == "" {
			continue
		}
		peer, tag := c.Param(side.Peer).In.Num, int64(0)
		names := []string{"sendtag", "tag"}
		if side == m.In {
			names[0] = "recvtag"
		}
		for _, name := range names {
			if p := c.Param(name); p != nil {
				tag = p.In.Num
				break
			}
		}
		if peer == mpi.ProcNull {
			continue
		}
		if in == nil || peer < 0 || tag == mpi.AnyTag || m.TakesEffectAtStart {
			t.Wild++
			continue
		}
		bytes := c.Param(side.Count).In.Num
		if p := c.Param(side.Type); p != nil {
			size, _ := objects.TypeSize(p.In.Num, stream, c.Index) // what isn't known is refused above
			bytes *= size
		}
		n, pair := int64(1), Pair{rank, in.WorldRank(int(peer))}
		if side == m.In {
			n, bytes, pair = -1, -bytes, Pair{pair.To, rank}
		}
		ch := Channel{pair, in.Number, tag}
		l := t.Left[ch]
		t.Left[ch] = Left{l.Messages + n, l.Bytes + bytes}
	}
}

// Equal reports whether all pairs and ranks have the same messages and bytes.
func (t *Traffic) Equal(o *Traffic) bool {
	return maps.Equal(t.Pairs, o.Pairs) && slices.Equal(t.Out, o.Out) && slices.Equal(t.In, o.In)
}

// Distance is how far apart ranks are that send each other messages, by their numbers in the world, in the mean.
func (t *Traffic) Distance() float64 {
	var sum, n float64
	for p, c := range t.Pairs {
		sum += math.Abs(float64(p.From-p.To)) * float64(c.Messages)
		n += float64(c.Messages)
	}
	return sum / max(n, 1)
}

// Most is how many times the mean the rank sends that sends most bytes, and the one receives that receives most.
func (t *Traffic) Most() (out, in float64) {
	of := func(list []uint64) float64 {
		sum := 0.0
		for _, n := range list {
			sum += float64(n)
		}
		return float64(slices.Max(list)) * float64(len(list)) / max(sum, 1)
	}
	return of(t.Out), of(t.In)
}

// Off is how far bytes are from what they were, as shares: of all of them together, of the rank or pair that is farthest off,
// and all differences together.
type Off struct {
	Total              float64
	Rank, Pair         float64 // farthest
	MeanRank, MeanPair float64
}

// Off compares with what was recorded.
func (t *Traffic) Off(truth *Traffic) (o Off) {
	var ranks, pairs sums
	for i, n := range truth.Out {
		ranks.add(float64(t.Out[i]), float64(n))
	}
	for p, c := range truth.Pairs {
		pairs.add(float64(t.Pairs[p].Bytes), float64(c.Bytes))
	}
	for p, c := range t.Pairs {
		if _, ok := truth.Pairs[p]; !ok {
			pairs.add(float64(c.Bytes), 0)
		}
	}
	return Off{ranks.now/ranks.was - 1, ranks.most, pairs.most, ranks.off / ranks.was, pairs.off / pairs.was}
}

type sums struct{ now, was, off, most float64 }

func (s *sums) add(now, was float64) {
	s.now, s.was, s.off = s.now+now, s.was+was, s.off+math.Abs(now-was)
	if now != was {
		s.most = max(s.most, math.Abs(now-was)/max(was, 1))
	}
}
