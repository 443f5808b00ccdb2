package imported

import "github.com/spoor-hpc/spoor/internal/convert/otf2"

// A row is what a kind of record does here. One of a kind without a row, or in a place where it does nothing, is
// counted and named.
type row struct {
	at    func(r *recorder, t *thread, e *otf2.Event) error // wherever it is
	in    func(x *translation, e *otf2.Event)               // in a function of MPI: to that one's call
	alone bool                                              // outside of them it is a call of its own, as tools record that have no regions of MPI
	ends  bool                                              // it completes an operation
	uses  func(w *world, e *otf2.Event) uint32              // the communicator that it names, which exists by then
}

// rows are those of all records, by id.
var rows [256]row

func init() {
	nothing := row{at: func(*recorder, *thread, *otf2.Event) error { return nil }} // of threads, of the program: they say nothing of MPI
	within := row{in: func(*translation, *otf2.Event) {}}                          // what follows says it all
	enter := row{at: func(r *recorder, t *thread, e *otf2.Event) error { r.enter(t, e); return nil }}
	leave := row{at: (*recorder).leave}
	in := func(act func(x *translation, e *otf2.Event)) row { return row{in: act} }
	second := func(_ *world, e *otf2.Event) uint32 { return uint32(e.Values[1]) }
	message := func(act func(x *translation, e *otf2.Event), alone bool) row {
		return row{in: act, alone: alone, uses: second}
	}
	for id, x := range map[int]row{
		otf2.EvEnter: enter, otf2.EvCallingContextEnter: enter, otf2.EvLeave: leave, otf2.EvCallingContextLeave: leave,
		otf2.EvMetric:           {at: func(r *recorder, t *thread, e *otf2.Event) error { r.metric(t, e); return nil }},
		otf2.EvMeasurementOnOff: {at: (*recorder).switched},
		otf2.EvBufferFlush:      {at: (*recorder).flushed},

		otf2.EvMpiSend: message((*translation).send, true), otf2.EvMpiIsend: message((*translation).send, true),
		otf2.EvMpiRecv:          message((*translation).receive, true),
		otf2.EvMpiIrecvRequest:  {in: (*translation).post, alone: true},
		otf2.EvMpiIrecv:         {in: (*translation).complete, ends: true, uses: second},
		otf2.EvMpiIsendComplete: {in: (*translation).complete, ends: true}, otf2.EvMpiRequestTest: in((*translation).complete),
		otf2.EvMpiRequestCancelled: in((*translation).complete),
		otf2.EvMpiCollectiveBegin:  within, otf2.EvMpiCollectiveEnd: message((*translation).collectiveEnd, false),
		otf2.EvCollectiveRequest: in((*translation).begin), otf2.EvCollectiveComplete: {in: (*translation).complete, ends: true, uses: second},
		otf2.EvCommCreate: in((*translation).create), otf2.EvCommDestroy: in((*translation).frees),

		otf2.EvRmaWinCreate: {in: (*translation).createsWindow, uses: func(w *world, e *otf2.Event) uint32 {
			return w.a.Windows[uint32(e.Values[0])].Comm
		}},
		otf2.EvRmaWinDestroy: in((*translation).window), otf2.EvRmaCollectiveBegin: within, otf2.EvRmaCollectiveEnd: in((*translation).window),
		otf2.EvRmaGroupSync: in((*translation).window), otf2.EvRmaSync: in((*translation).window), otf2.EvRmaWaitChange: in((*translation).window),
		otf2.EvRmaRequestLock: in((*translation).window), otf2.EvRmaAcquireLock: in((*translation).window),
		otf2.EvRmaTryLock: in((*translation).window), otf2.EvRmaReleaseLock: in((*translation).window),
		otf2.EvRmaPut: in((*translation).window), otf2.EvRmaGet: in((*translation).window), otf2.EvRmaAtomic: in((*translation).window),
		otf2.EvRmaCompleteBlocking: in((*translation).window), otf2.EvRmaCompleteRemote: in((*translation).window),
		otf2.EvRmaCompleteRequested: in((*translation).transferred), otf2.EvRmaTest: in((*translation).transferred),

		otf2.EvIoCreateHandle: {in: (*translation).file, uses: func(w *world, e *otf2.Event) uint32 {
			if h, ok := w.a.Handles[uint32(e.Values[0])]; ok {
				return h.Comm
			}
			return otf2.Undefined
		}},
		otf2.EvIoDestroyHandle: in((*translation).file), otf2.EvIoSeek: in((*translation).file), otf2.EvIoDeleteFile: in((*translation).deletes),
		otf2.EvIoChangeStatusFlags: in((*translation).file), otf2.EvIoOperationBegin: in((*translation).file),
		otf2.EvIoOperationTest: in((*translation).file), otf2.EvIoOperationIssued: in((*translation).file),
		otf2.EvIoOperationComplete: in((*translation).file), otf2.EvIoOperationCancelled: in((*translation).file),

		otf2.EvOmpFork: nothing, otf2.EvOmpJoin: nothing, otf2.EvOmpAcquireLock: nothing, otf2.EvOmpReleaseLock: nothing,
		otf2.EvOmpTaskCreate: nothing, otf2.EvOmpTaskSwitch: nothing, otf2.EvOmpTaskComplete: nothing,
		otf2.EvThreadFork: nothing, otf2.EvThreadJoin: nothing, otf2.EvThreadTeamBegin: nothing, otf2.EvThreadTeamEnd: nothing,
		otf2.EvThreadAcquireLock: nothing, otf2.EvThreadReleaseLock: nothing, otf2.EvThreadTaskCreate: nothing,
		otf2.EvThreadTaskSwitch: nothing, otf2.EvThreadTaskComplete: nothing, otf2.EvThreadCreate: nothing,
		otf2.EvThreadBegin: nothing, otf2.EvThreadWait: nothing, otf2.EvThreadEnd: nothing,
		otf2.EvParameterString: nothing, otf2.EvParameterInt: nothing, otf2.EvParameterUnsigned: nothing,
		otf2.EvCallingContextSample: nothing, otf2.EvProgramBegin: nothing, otf2.EvProgramEnd: nothing,
	} {
		rows[id] = x
	}
}

// misfit counts a record that can't be of the function that it is in.
func (x *translation) misfit(e *otf2.Event) {
	x.r.w.notes.Add("records in MPI functions that don't do such a thing: "+otf2.RecordName(e.ID), 1)
}
