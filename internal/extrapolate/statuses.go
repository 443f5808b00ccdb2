package extrapolate

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// asked stands in a status for what the receive asks for, so that it need not be fitted: its source, its tag, and no bytes from MPI_PROC_NULL.
const asked = math.MinInt64 + 1

// A receive is what a call asks for.
type receive struct{ source, tag int64 }

// receiveOf returns what a call asks for; nil if it doesn't receive.
func receiveOf(c *trace.Call) *receive {
	if r, ok := ops.Receives(c); ok {
		return &receive{r.Source.In.Num, r.Tag.In.Num}
	}
	return nil
}

// told leaves out of a status what the receive asked for, and all if it says nothing.
func (r *receive) told(status []int64) {
	if r == nil || len(status) <= signature.StatusCount {
		return
	}
	source, tag, bytes := &status[signature.StatusSource], &status[signature.StatusTag], &status[signature.StatusCount]
	if !filled(status) {
		*source, *tag, *bytes = asked, asked, asked // it has none
		return
	}
	nobody := r.source == mpi.ProcNull && *source == mpi.ProcNull && *tag == mpi.AnyTag && *bytes == 0
	if *source == r.source {
		*source = asked
	}
	if nobody || *tag == r.tag {
		*tag = asked
	}
	if nobody {
		*bytes = asked
	}
}

// filled reports whether a status says what came.
func filled(status []int64) bool {
	return status[0] == signature.StatusFilled || status[0] == signature.StatusIgnored
}

// asking is told backwards.
func (r *receive) asking(status []int64) {
	if !filled(status) {
		clear(status[signature.StatusSource : signature.StatusCount+1])
		return
	}
	for k, v := range [...]int64{signature.StatusSource: r.source, signature.StatusTag: r.tag, signature.StatusCount: 0} {
		if k == signature.StatusTag && r.source == mpi.ProcNull {
			v = mpi.AnyTag
		}
		if k > 0 && (status[k] == asked || k == signature.StatusCount && r.source == mpi.ProcNull && status[signature.StatusSource] == mpi.ProcNull) {
			status[k] = v
		}
	}
}

// statusAt is where the values of a place's calls have the status of the receive that it is, and of its source and tag; false: it doesn't receive.
func (p *place) statusAt(values int) (status, source, tag int, ok bool) {
	at := 0
	status, source, tag = -1, -1, -1
	for i := range p.fields {
		f := &p.fields[i]
		if f.kind != words && f.kind != absent && f.kind != determined {
			return 0, 0, 0, false
		}
		if f.kind == words && f.param >= 0 && f.param < len(p.function.Params) {
			switch def := &p.function.Params[f.param]; {
			case p.makes(*f):
				status = values - statusWords
			case def.Type == trace.Status && f.width == statusWords:
				status = at
			case f.out:
			case def.Name == "source":
				source = at
			case def.Name == "recvtag" || def.Name == "tag":
				tag = at
			}
		}
		at += f.width
	}
	return status, source, tag, status >= 0 && source >= 0 && tag >= 0
}

// resolve puts into the status of a receive what it asks for.
func (p *place) resolve(values []int64) {
	if status, source, tag, ok := p.statusAt(len(values)); ok && slices.Contains(values[status:status+statusWords], asked) {
		r := receive{values[source], values[tag]}
		r.asking(values[status : status+statusWords])
	}
}

// bytesAt is where the values of a place's calls have the size of the message that comes; -1: nowhere.
func (p *place) bytesAt(values int) int {
	if status, _, _, ok := p.statusAt(values); ok {
		return status + signature.StatusCount
	}
	return -1
}

// receive returns what the receive of a request says, by the name that this has in the values of the next call.
func (x *reading) receive(name int64) signature.Envelope {
	switch {
	case name <= 0:
		return signature.NoEnvelope
	case name&1 != 0:
		if e, ok := x.posted[name>>1]; ok {
			return e
		}
		return signature.NoEnvelope
	}
	at, ok := slices.BinarySearchFunc(x.pending, x.made-name>>1, func(m *request, n int64) int { return cmp.Compare(m.number, n) })
	if !ok {
		return signature.NoEnvelope
	}
	return x.pending[at].posted
}
