package otf2

// A row is the effect of a kind of record. Records without a row, or without an effect where they occur, are counted
// by name.
type row struct {
	at    func(r *recorder, t *thread, e *Event) error // effect everywhere
	in    func(x *translation, e *Event)               // effect on the call of the MPI function around it
	alone bool                                         // outside of MPI functions it is a call of its own, for tools that record no regions of MPI
	ends  bool                                         // it completes an operation
	uses  func(w *world, e *Event) uint32              // returns the communicator that it names, which must exist by then
}

// rows are the rows of all records, by id.
var rows [256]row

func init() {
	nothing := row{at: func(*recorder, *thread, *Event) error { return nil }} // about threads or the program, not MPI
	within := row{in: func(*translation, *Event) {}}                          // a later record has all values
	enter := row{at: func(r *recorder, t *thread, e *Event) error { r.enter(t, e); return nil }}
	leave := row{at: (*recorder).leave}
	in := func(act func(x *translation, e *Event)) row { return row{in: act} }
	second := func(_ *world, e *Event) uint32 { return uint32(e.Values[1]) }
	message := func(act func(x *translation, e *Event), alone bool) row {
		return row{in: act, alone: alone, uses: second}
	}
	for id, x := range map[int]row{
		EvEnter: enter, EvCallingContextEnter: enter, EvLeave: leave, EvCallingContextLeave: leave,
		EvMetric:           {at: func(r *recorder, t *thread, e *Event) error { r.metric(t, e); return nil }},
		EvMeasurementOnOff: {at: (*recorder).switched},
		EvBufferFlush:      {at: (*recorder).flushed},

		EvMpiSend: message((*translation).send, true), EvMpiIsend: message((*translation).send, true),
		EvMpiRecv:          message((*translation).receive, true),
		EvMpiIrecvRequest:  {in: (*translation).post, alone: true},
		EvMpiIrecv:         {in: (*translation).complete, ends: true, uses: second},
		EvMpiIsendComplete: {in: (*translation).complete, ends: true}, EvMpiRequestTest: in((*translation).complete),
		EvMpiRequestCancelled: in((*translation).complete),
		EvMpiCollectiveBegin:  within, EvMpiCollectiveEnd: message((*translation).collectiveEnd, false),
		EvCollectiveRequest: in((*translation).begin), EvCollectiveComplete: {in: (*translation).complete, ends: true, uses: second},
		EvCommCreate: in((*translation).create), EvCommDestroy: in((*translation).frees),

		EvRmaWinCreate: {in: (*translation).createsWindow, uses: func(w *world, e *Event) uint32 {
			return w.a.Windows[uint32(e.Values[0])].Comm
		}},
		EvRmaWinDestroy: in((*translation).window), EvRmaCollectiveBegin: within, EvRmaCollectiveEnd: in((*translation).window),
		EvRmaGroupSync: in((*translation).window), EvRmaSync: in((*translation).window), EvRmaWaitChange: in((*translation).window),
		EvRmaRequestLock: in((*translation).window), EvRmaAcquireLock: in((*translation).window),
		EvRmaTryLock: in((*translation).window), EvRmaReleaseLock: in((*translation).window),
		EvRmaPut: in((*translation).window), EvRmaGet: in((*translation).window), EvRmaAtomic: in((*translation).window),
		EvRmaCompleteBlocking: in((*translation).window), EvRmaCompleteRemote: in((*translation).window),
		EvRmaCompleteRequested: in((*translation).transferred), EvRmaTest: in((*translation).transferred),

		EvIoCreateHandle: {in: (*translation).file, uses: func(w *world, e *Event) uint32 {
			if h, ok := w.a.IoHandles[uint32(e.Values[0])]; ok {
				return h.Comm
			}
			return UndefinedRef
		}},
		EvIoDestroyHandle: in((*translation).file), EvIoSeek: in((*translation).file), EvIoDeleteFile: in((*translation).deletes),
		EvIoChangeStatusFlags: in((*translation).file), EvIoOperationBegin: in((*translation).file),
		EvIoOperationTest: in((*translation).file), EvIoOperationIssued: in((*translation).file),
		EvIoOperationComplete: in((*translation).file), EvIoOperationCancelled: in((*translation).file),

		EvOmpFork: nothing, EvOmpJoin: nothing, EvOmpAcquireLock: nothing, EvOmpReleaseLock: nothing,
		EvOmpTaskCreate: nothing, EvOmpTaskSwitch: nothing, EvOmpTaskComplete: nothing,
		EvThreadFork: nothing, EvThreadJoin: nothing, EvThreadTeamBegin: nothing, EvThreadTeamEnd: nothing,
		EvThreadAcquireLock: nothing, EvThreadReleaseLock: nothing, EvThreadTaskCreate: nothing,
		EvThreadTaskSwitch: nothing, EvThreadTaskComplete: nothing, EvThreadCreate: nothing,
		EvThreadBegin: nothing, EvThreadWait: nothing, EvThreadEnd: nothing,
		EvParameterString: nothing, EvParameterInt: nothing, EvParameterUnsigned: nothing,
		EvCallingContextSample: nothing, EvProgramBegin: nothing, EvProgramEnd: nothing,
	} {
		rows[id] = x
	}
}

// misfit counts a record that is impossible in its function.
func (x *translation) misfit(e *Event) {
	x.r.w.notes.Add("records in MPI functions that don't do such a thing: "+RecordName(e.ID), 1)
}
