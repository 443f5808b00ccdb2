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

// asked replaces a value in a status that follows from the receive, so that it need not be fitted. A trace leaves out
// only whole statuses that follow (see signature.ReceiveEnvelope). Here values are left out one by one, as the
// message's size may differ from the buffer's.
const asked = math.MinInt64 + 1

// receiveOf returns the source, tag and size that a call asks for; nil if it doesn't receive.
func receiveOf(c *trace.Call) *signature.ReceiveEnvelope {
	if r, ok := ops.ReceiveSelectionOf(c); ok {
		e := signature.EnvelopeWithoutSize(r.Source.In.Num, r.Tag.In.Num)
		return &e
	}
	return nil
}

// told replaces the source, tag and size in a status by the marker asked, where they follow from the receive e. In an
// empty status it replaces all three.
func told(e *signature.ReceiveEnvelope, status []int64) {
	if e == nil || len(status) <= signature.StatusCountPosition {
		return
	}
	has := filled(status)
	for k, v := range [...]int64{e.Source, e.Tag, e.Bytes} {
		sized := k < 2 || v >= 0
		if at := &status[signature.StatusSourcePosition+k]; !has || sized && *at == v {
			*at = asked
		}
	}
}

// filled reports whether a status describes the message that arrived.
func filled(status []int64) bool {
	return status[0] == signature.StatusFormFilled || status[0] == signature.StatusFormIgnored
}

// asking puts the values that follow from the receive back where a status has the marker asked. A receive from
// MPI_PROC_NULL gets nothing, whatever the MPI writes as source and tag.
func asking(e signature.ReceiveEnvelope, status []int64) {
	if !filled(status) {
		clear(status[signature.StatusSourcePosition : signature.StatusCountPosition+1])
		return
	}
	for k, v := range [...]int64{e.Source, e.Tag, max(e.Bytes, 0)} {
		at := signature.StatusSourcePosition + k
		if status[at] == asked || e.Bytes >= 0 && at == signature.StatusCountPosition {
			status[at] = v
		}
	}
}

// statusAt returns the positions of a receive's status, source and tag in its values; false for other calls.
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
			case def.Type == trace.TypeStatus && f.width == statusWords:
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

// resolve restores the replaced values in a receive's status.
func (p *place) resolve(values []int64) {
	if status, source, tag, ok := p.statusAt(len(values)); ok {
		asking(signature.EnvelopeWithoutSize(values[source], values[tag]), values[status:status+statusWords])
	}
}

// fromSomebody drops the observations of receives from MPI_PROC_NULL from sizes of messages; false if some of those
// sizes are not 0.
func (p *place) fromSomebody(calls []env, values [][]int64, bytes []int64) (obs []env, vals []int64, ok bool) {
	for i, v := range bytes {
		_, source, _, _ := p.statusAt(len(values[i]))
		switch nobody := values[i][source] == mpi.ProcNull; {
		case nobody && v != asked:
			return nil, nil, false
		case v != asked:
			obs, vals = append(obs, calls[i]), append(vals, v)
		}
	}
	if len(obs) == 0 {
		return calls, bytes, true
	}
	return obs, vals, true
}

// bytesAt returns the position of the received size in a call's values; -1: none.
func (p *place) bytesAt(values int) int {
	if status, _, _, ok := p.statusAt(values); ok {
		return status + signature.StatusCountPosition
	}
	return -1
}

// receive returns the envelope of a request's receive, by the request's name in the next call.
func (x *reading) receive(name int64) signature.ReceiveEnvelope {
	switch {
	case name <= 0:
		return signature.UnknownEnvelope
	case name&1 != 0:
		if e, ok := x.posted[name>>1]; ok {
			return e
		}
		return signature.UnknownEnvelope
	}
	at, ok := slices.BinarySearchFunc(x.pending, x.made-name>>1, func(m *request, n int64) int { return cmp.Compare(m.number, n) })
	if !ok {
		return signature.UnknownEnvelope
	}
	return x.pending[at].posted
}
