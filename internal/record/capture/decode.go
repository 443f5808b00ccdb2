package capture

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

var errShort = errors.New("parts exceed the record")

// decode reads the parts of a record that the steps describe, from rec[p:], and appends their values to the frame's
// key. It returns where the parts end. base is where the LEAVE record's outputs start.
func (c *Capture) decode(s *stream, f *frame, steps []instruction, rec []uint64, p, base int) (int, error) {
	for i := range steps {
		st := &steps[i]
		if p >= len(rec) {
			return p, errShort
		}
		if st.gate >= 0 {
			var open bool
			if p, open = c.gated(f, st, rec, p, base); !open {
				continue
			}
		}
		w := rec[p]
		switch st.code {
		case codeInt:
			f.key = append(f.key, int64(w))
			p++
		case codeTable:
			f.key = append(f.key, st.table.ToABI(int64(w)))
			p++
		case codeHandle:
			name := st.handles.NameOf(w)
			f.noteHandle(p, handleNamed, st.kind, st.handles, name)
			f.key = append(f.key, name)
			p++
		case codeAddress:
			if p+2 > len(rec) {
				return p, errShort
			}
			seg, off := c.memory.Name(w, rec[p+1], s.thread)
			f.key = append(f.key, seg, off)
			p += 2
		case codeComm:
			name, bound := c.comms.NameOrBind(w)
			if bound {
				c.renamed++
			}
			f.noteHandle(p, handleNamed, st.kind, &c.comms.Handles, name)
			if st.first {
				f.parent = name
			}
			f.key = append(f.key, name)
			p++
		case codeTime:
			f.handleWords = append(f.handleWords, handleWord{at: int32(f.entered + p), act: noHandle})
			f.key = append(f.key, 0)
			p++
		default:
			var err error
			if p, err = c.decodePart(s, f, st, st.code, rec, p); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// gated handles an output that is valid only if a flag is set. If it is not, the output is skipped and replaced by
// zeros.
func (c *Capture) gated(f *frame, st *instruction, rec []uint64, p, base int) (int, bool) {
	at := base + int(st.gate)
	if at < len(rec) && rec[at] != 0 {
		return p, true
	}
	n := st.words()
	if n == 0 || p+n > len(rec) {
		return p, true // an output of varying size is decoded whatever the flag is: the shim wrote it as it was
	}
	switch st.code {
	case codeAddress:
		f.key = append(f.key, 0, 0)
	default:
		f.key = append(f.key, 0)
	}
	return p + n, false
}

// decodePart reads a part that decode does not handle itself.
func (c *Capture) decodePart(s *stream, f *frame, st *instruction, code opcode, rec []uint64, p int) (int, error) {
	if p >= len(rec) {
		return p, errShort
	}
	w := rec[p]
	switch code {
	case codeFree:
		name := st.handles.NameOf(w)
		if name >= mpi.FirstUserHandleID {
			st.handles.BeginFree(w)
			f.frees = append(f.frees, freed{st.kind, w})
		}
		f.noteHandle(p, handleFreed, st.kind, st.handles, name)
		f.key = append(f.key, name)
		return p + 1, nil
	case codeMade:
		f.key = append(f.key, c.made(f, st, w, p))
		return p + 1, nil
	case codeUpdated: // nearly always the same handle as the input: no new reference
		name := st.handles.NameOf(w)
		if name == symbol.UnknownHandle {
			name = c.made(f, st, w, p)
		} else {
			f.noteHandle(p, handleNamed, st.kind, st.handles, name)
		}
		f.key = append(f.key, name)
		return p + 1, nil
	case codeFunction:
		f.key = append(f.key, int64(c.sites.NameCallback(w)))
		return p + 1, nil
	case codeFlag:
		f.flag = int64(w)
		f.key = append(f.key, f.flag)
		return p + 1, nil
	case codeIndex:
		f.index = st.abi(w)
		f.key = append(f.key, f.index)
		return p + 1, nil
	case codeRequest, codeRequestFree, codeRequestMade:
		return c.requestPart(s, f, code, rec, p)
	case codeStatus:
		return c.status(s, f, rec, p, false)
	case codeString:
		if st.kind == mpi.KindFilePath {
			return c.fileName(f, rec, p)
		}
		return c.text(f, rec, p)
	case codeArray:
		return c.array(s, f, st, rec, p)
	}
	return p, fmt.Errorf("no way to read part %d", code)
}

func (st *instruction) abi(w uint64) int64 {
	if st.table == nil {
		return int64(w)
	}
	return st.table.ToABI(int64(w))
}

func (c *Capture) requestPart(s *stream, f *frame, code opcode, rec []uint64, p int) (int, error) {
	if p+2 > len(rec) {
		return p, errShort
	}
	handle, place := rec[p], rec[p+1]
	if code == codeRequestMade {
		name := int64(symbol.UnknownHandle)
		f.posted = f.prog.layout.Envelope(f.key.Values())
		if f.muted() {
			f.posted = signature.UnknownEnvelope // readers of the trace do not see the receive
		}
		switch {
		case f.muted() && f.prog.makes && !f.prog.persistent:
			c.requests.MakeUnseen(handle, place, f.prog.request)
		case f.prog.persistent:
			name = c.requests.MakePersistent(s.thread, handle, place, f.prog.request, f.posted)
			c.madeAt(mpi.KindRequest, symbol.PersistentNumber(name), f.place)
		case f.prog.makes:
			name = c.requests.Make(s.thread, handle, place, f.prog.request, f.posted)
		}
		f.key = append(f.key, name)
		return p + 2, nil
	}
	c.requests.BeginSearch()
	c.request(s, f, handle, place)
	if code == codeRequestFree {
		c.requests.Free(f.requests[len(f.requests)-1])
	}
	return p + 2, nil
}

// request names a request that the program passes.
func (c *Capture) request(s *stream, f *frame, handle, place uint64) {
	i := c.requests.FindIndex(handle, place)
	r := namedRequest{name: c.requests.Name(i, handle, s.thread)}
	if i != symbol.NoRequestIndex {
		r.kind = c.requests.Kind(i)
	}
	if len(c.streams) > 1 && !f.muted() {
		c.gets(s, mpi.KindRequest, symbol.PersistentNumber(r.name), f.place.index)
	}
	f.requests = append(f.requests, i)
	f.named = append(f.named, r)
	f.key = append(f.key, r.name)
}

// text reads a string and appends its name to the key.
func (c *Capture) text(f *frame, rec []uint64, p int) (int, error) {
	n := int64(rec[p])
	p++
	if n < 0 {
		f.key = append(f.key, 0)
		return p, nil
	}
	if n > int64(len(rec)-p)*8 {
		return p, errShort
	}
	f.key = append(f.key, c.strings.StoreWords(rec[p:], int(n)))
	return p + int(n+7)/8, nil
}

// fileName reads a file name and appends its name to the key, with the rank's own number in it replaced.
func (c *Capture) fileName(f *frame, rec []uint64, p int) (int, error) {
	n := int64(rec[p])
	if n <= 0 || n > int64(len(rec)-p-1)*8 {
		return c.text(f, rec, p)
	}
	p++
	end := p + int(n+7)/8
	c.path = c.path[:0]
	for _, v := range rec[p:end] {
		c.path = binary.LittleEndian.AppendUint64(c.path, v)
	}
	f.key = append(f.key, c.strings.StoreBytes(signature.FileTemplate(c.path[:n], c.cfg.Rank)))
	return end, nil
}

// status reads one status. It drops fields that the standard leaves undefined, as they would make equal calls
// different.
func (c *Capture) status(s *stream, f *frame, rec []uint64, p int, array bool) (int, error) {
	if p+event.StatusWords > len(rec) {
		return p, errShort
	}
	form, source, tag, count := int64(rec[p]), int64(rec[p+1]), int64(rec[p+2]), int64(rec[p+3])
	cancelled, failure := int64(rec[p+4]), c.errors.ToABI(int64(rec[p+5]))
	if form < event.StatusFormAbsent || form > event.StatusFormEmpty {
		return p, fmt.Errorf("status of form %d", form)
	}
	f.statusAt(p)
	p += event.StatusWords
	f.error = failure
	transfer := f.prog.transfer
	if f.prog.hasRequests && form != event.StatusFormAbsent {
		if i := f.requestOf(array); i != symbol.NoRequestIndex {
			kind := c.requests.Kind(i)
			transfer = kind == symbol.RequestFileAccess
			if kind == symbol.RequestSend && f.rc != mpi.ErrInStatus {
				f.key = append(f.key, signature.StatusFormOfSend, cancelled)
				return p, nil
			}
			if kind == symbol.RequestSend {
				form, source, tag, count = event.StatusFormFilled, 0, 0, 0
			}
		}
	}
	if form != event.StatusFormFilled && form != event.StatusFormIgnored {
		f.key = append(f.key, form)
		return p, nil
	}
	if transfer { // only the count is set; the other fields are what the program's status contained before
		source, tag, cancelled = 0, 0, 0
	} else {
		source, tag = c.rank.ToABI(source), c.tag.ToABI(tag)
	}
	if f.rc == mpi.ErrInStatus && failure == mpi.ErrPending { // all other fields are undefined
		source, tag, count, cancelled = 0, 0, 0, 0
	}
	origin := &f.follow[len(f.follow)-1]
	if *origin = c.origin(s, f, source, tag, count, cancelled, array); *origin == follows {
		f.key = append(f.key, form+signature.StatusFormImplied-signature.StatusFormFilled)
		return p, nil
	}
	f.key = append(f.key, form, source, tag, count, cancelled)
	if f.rc == mpi.ErrInStatus {
		f.key = append(f.key, failure)
	}
	return p, nil
}

// A statusOrigin is the relation of a status to a receive, see signature.ReceiveEnvelope.
type statusOrigin uint8

const (
	apart   statusOrigin = iota // there is no receive, or the call failed
	differs                     // the status differs from what its receive predicts
	follows                     // the status is as its receive predicts
)

// origin returns the origin of the next status.
func (c *Capture) origin(s *stream, f *frame, source, tag, count, cancelled int64, array bool) statusOrigin {
	posted := false
	switch {
	case f.rc != 0 || f.key[rcAt] != 0:
		return apart
	case f.prog.completes:
		i := f.requestOf(array)
		if i == symbol.NoRequestIndex {
			return apart
		}
		posted = c.requests.PredictsStatus(i, s.thread, source, tag, count, cancelled)
	case f.prog.receives():
		f.posted = f.prog.layout.Envelope(f.key.Values())
		posted = f.posted.PredictsStatus(source, tag, count, cancelled)
	default:
		return apart
	}
	if posted {
		return follows
	}
	return differs
}

// made returns the name of a handle at p that the MPI returned.
func (c *Capture) made(f *frame, st *instruction, raw uint64, p int) int64 {
	if st.kind != mpi.KindComm {
		if st.kind.IsPosix() {
			// If the handle has a name, its object was freed unseen, or the handle still means the same object.
			name := st.handles.NameOf(raw)
			switch {
			case name >= mpi.FirstUserHandleID && st.fresh:
				st.handles.Forget(raw)
				c.renamed++
			case name != symbol.UnknownHandle:
				f.noteHandle(p, handleNamed, st.kind, st.handles, name)
				return name
			}
		}
		name, made := st.handles.NameNew(raw)
		act := handleShared
		if made {
			act = handleMade
			c.renamed++
			c.madeAt(st.kind, name-mpi.FirstUserHandleID, f.place)
		}
		f.noteHandle(p, act, st.kind, st.handles, name)
		return name
	}
	f.opaque = true // the name depends on more than the handle, so the cache cannot predict it
	if c.comms.ClearBeingFreed(raw) {
		c.release(mpi.KindComm, &c.comms.Handles, raw)
	}
	known := c.comms.NameOf(raw)
	if f.prog.call.Index("parent") >= 0 && known != symbol.UnknownHandle {
		return known // repeated queries for the parent return one reference
	}
	if null, _ := mpi.NullHandle(mpi.KindComm); f.prog.delayed && known == null {
		f.newComm = c.comms.ReserveUnbound()
		c.madeAt(mpi.KindComm, f.newComm-mpi.FirstUserHandleID, f.place)
		return f.newComm
	}
	if f.prog.newComm && known >= mpi.FirstUserHandleID {
		c.renamed++
		c.comms.Forget(raw)
		c.comms.ForgetChildren(known)
	}
	name, made := c.comms.NameNew(raw)
	if made {
		c.renamed++
		f.newComm = name
		c.madeAt(mpi.KindComm, name-mpi.FirstUserHandleID, f.place)
	}
	return name
}

// freesEnd releases the handles that a call freed, after its end.
func (c *Capture) freesEnd(f *frame) {
	for _, x := range f.frees {
		if t := c.handles[x.kind]; t.ClearBeingFreed(x.raw) {
			c.release(x.kind, t, x.raw)
		}
	}
	f.frees = f.frees[:0]
}

// release releases a handle and returns its name.
func (c *Capture) release(k mpi.Kind, t *symbol.Handles, raw uint64) int64 {
	name, last := t.Release(raw)
	if last {
		c.renamed++
		if k == mpi.KindComm {
			c.comms.ForgetChildren(name)
		}
	}
	return name
}

// segmentClass returns the class of a segment, as in signatures, by that in a record of kind event.KindSegment.
func segmentClass(class uint64) int64 {
	switch class {
	case event.AddressClassDevice:
		return signature.SegClassDevice
	case event.AddressClassMPIMem:
		return signature.SegClassMPI
	}
	return signature.SegClassHeap
}
