package signature

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// A requestStream makes calls of a thread at random, which post requests and complete them.
type requestStream struct {
	r          *rand.Rand
	made       int64
	open       []posted // one-shot
	persistent []posted
}

type posted struct {
	number   int64 // of a one-shot; ID of a persistent one
	receives bool
	ReceiveEnvelope
}

func layoutNamed(t *testing.T, name string) *Layout {
	def, ok := mpi.CallNamed(name)
	if !ok {
		t.Fatal(name)
	}
	l := LayoutOf(def)
	return &l
}

const byteType, doubleType, madeType = 0x247, 0x214, mpi.FirstUserHandleID + 3

// message is the values from the buffer to the communicator of a receive or a send, and what they say.
func (s *requestStream) message() ([]int64, ReceiveEnvelope) {
	source, tag, count := s.r.Int64N(5)-1, s.r.Int64N(4), s.r.Int64N(100)
	if source < 0 {
		source = []int64{mpi.AnySource, mpi.ProcNull}[s.r.IntN(2)]
	}
	if s.r.IntN(8) == 0 {
		tag = mpi.AnyTag
	}
	datatype := []int64{byteType, doubleType, madeType}[s.r.IntN(3)]
	return []int64{257, 0, count, datatype, source, tag, mpi.HandleCommWorld}, EnvelopeOf(source, tag, count, datatype)
}

// status is one of a receive; mostly what that says.
func (s *requestStream) status(e ReceiveEnvelope) []int64 {
	form := int64(StatusFormFilled + s.r.IntN(2))
	if e.Bytes >= 0 && s.r.IntN(4) > 0 {
		return []int64{form, e.Source, e.Tag, e.Bytes, 0}
	}
	return []int64{form, s.r.Int64N(5), s.r.Int64N(4), s.r.Int64N(100), s.r.Int64N(2)}
}

// end is the status of a request.
func (s *requestStream) end(p posted) []int64 {
	if !p.receives {
		return []int64{StatusFormOfSend, 0}
	}
	return s.status(p.ReceiveEnvelope)
}

// pick takes some requests that are open, and their names.
func (s *requestStream) pick(n int) (list []posted, names []int64) {
	for range n {
		switch k := s.r.IntN(8); {
		case k == 0 || len(s.open)+len(s.persistent) == 0:
			list, names = append(list, posted{ReceiveEnvelope: UnknownEnvelope}), append(names, 0)
		case k == 1 && len(s.persistent) > 0:
			p := s.persistent[s.r.IntN(len(s.persistent))]
			list, names = append(list, p), append(names, 2*p.number+1)
		case len(s.open) > 0:
			i := s.r.IntN(len(s.open))
			p := s.open[i]
			s.open = slices.Delete(s.open, i, i+1)
			list, names = append(list, p), append(names, 2*(s.made-p.number))
		}
	}
	return list, names
}

func (s *requestStream) call() (name string, vals []int64) {
	switch s.r.IntN(9) {
	case 0, 1, 2:
		v, e := s.message()
		p := posted{s.made, s.r.IntN(3) > 0, e}
		s.made++
		s.open = append(s.open, p)
		if name = "MPI_Isend"; p.receives {
			name = "MPI_Irecv"
		}
		return name, append(append([]int64{0}, v...), 2)
	case 3:
		v, e := s.message()
		id := s.r.Int64N(3)
		s.persistent = append(slices.DeleteFunc(s.persistent, func(p posted) bool { return p.number == id }), posted{id, true, e})
		return "MPI_Recv_init", append(append([]int64{0}, v...), 2*id+1)
	case 4:
		v, e := s.message()
		return "MPI_Recv", append(append([]int64{0}, v...), s.status(e)...)
	case 5:
		v, e := s.message()
		return "MPI_Sendrecv", append(append([]int64{0, 257, 8, 1, byteType, 1, 9}, v...), s.status(e)...)
	case 6:
		list, names := s.pick(s.r.IntN(6))
		n := int64(len(list))
		vals = append(append([]int64{0, n, n}, names...), n)
		for _, p := range list {
			vals = append(vals, s.end(p)...)
		}
		return "MPI_Waitall", vals
	case 7:
		list, names := s.pick(1 + s.r.IntN(4))
		n := int64(len(list))
		at := s.r.IntN(len(list) + 1)
		vals = append([]int64{0, n, n}, names...)
		if at == len(list) {
			return "MPI_Waitany", append(vals, mpi.Undefined, StatusFormEmpty)
		}
		for i, p := range list {
			if i != at && names[i] > 0 && names[i]&1 == 0 {
				s.open = append(s.open, p)
			}
		}
		return "MPI_Waitany", append(append(vals, int64(at)), s.end(list[at])...)
	}
	list, names := s.pick(1 + s.r.IntN(5))
	n := int64(len(list))
	vals = append([]int64{0, n, n}, names...)
	var indices, statuses []int64
	for i, p := range list {
		if s.r.IntN(2) == 0 {
			indices, statuses = append(indices, int64(i)), append(statuses, s.end(p)...)
		} else if names[i] > 0 && names[i]&1 == 0 {
			s.open = append(s.open, p)
		}
	}
	some := int64(len(indices))
	return "MPI_Testsome", append(append(append(append(vals, some, some), indices...), some), statuses...)
}

// TestEnvelopes: what statuses repeat of their receives can be filled in again, from the begin of a thread's calls and from the
// middle; statuses that say what their receives say are left out, others are not.
func TestEnvelopes(t *testing.T) {
	layouts := make(map[string]*Layout)
	for seed := range uint64(300) {
		s := &requestStream{r: rand.New(rand.NewPCG(seed, 1))}
		var out, in, late PostedEnvelopes
		var all []ReceiveEnvelope
		start := s.r.IntN(200)
		for i := range 400 {
			before := s.made
			name, vals := s.call()
			l := layouts[name]
			if l == nil {
				l = layoutNamed(t, name)
				layouts[name] = l
			}
			spans, err := l.Spans(nil, vals)
			if err != nil {
				t.Fatal(seed, i, name, vals, err)
			}
			short := out.AppendOmittingStatuses(nil, l, spans, vals)
			at, err := l.Spans(nil, short)
			if err != nil {
				t.Fatal(seed, i, name, short, err)
			}
			posting := l.PostedRequest(spans, vals)
			if got := l.PostedRequest(at, short); got != posting {
				t.Fatal(seed, i, name, got, posting)
			}
			if i == start {
				late.EarlierReceives = earlier{&all, maps.Clone(in.persistent)}
				late.StartAfterRequests(before)
			}
			readers := []*PostedEnvelopes{&in}
			if i >= start {
				readers = append(readers, &late)
			}
			for _, r := range readers {
				if got, ok := r.AppendRestoringStatuses(nil, l, at, short); !ok || !slices.Equal(got, vals) {
					t.Fatalf("seed %d, call %d: %s: %v, of %v, want %v", seed, i, name, got, short, vals)
				}
				r.AddPosted(posting)
			}
			out.AddPosted(posting)
			if posting.Kind == RequestOneShot {
				all = append(all, posting.Envelope)
			}
			for s, request := range l.Statuses(at, short) {
				if !s.IsFilledStatus(short) {
					continue
				}
				v := short[s.First:]
				if e := l.says(short, request, l.RequestNames(at, short), in.ForRequest); e.PredictsStatus(v[StatusSourcePosition], v[StatusTagPosition], v[StatusCountPosition], v[StatusCancelledPosition]) {
					t.Fatalf("seed %d, call %d: %s: %v repeats its receive", seed, i, name, v[:StatusErrorPosition])
				}
			}
		}
	}
}

// earlier is what a reader finds that begins in the middle.
type earlier struct {
	oneShot    *[]ReceiveEnvelope
	persistent map[int64]ReceiveEnvelope
}

func (e earlier) OneShot(number int64) ReceiveEnvelope { return (*e.oneShot)[number] }
func (e earlier) Persistent(id int64) ReceiveEnvelope {
	if x, ok := e.persistent[id]; ok {
		return x
	}
	return UnknownEnvelope
}

// TestReceives: all functions that ask for a message have a layout that says where, but for those of which the file doesn't
// have the message: of a handle, or in parts.
func TestReceives(t *testing.T) {
	for _, def := range mpi.Calls() {
		l := LayoutOf(def)
		named := def.Index("source") >= 0 && def.Index("datatype")+def.Index("recvtype") > -2
		if got := l.ReceiveValueIndices != (ReceiveValueIndices{}); got != (named && def.Index("partitions") < 0) {
			t.Errorf("%s: %v", def.Name, l.ReceiveValueIndices)
		}
	}
}
