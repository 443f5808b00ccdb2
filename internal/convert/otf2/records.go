package otf2

import "fmt"

// A RecordLayout is the name of a kind of event record, and the layout of its values.
type RecordLayout struct {
	Name string
	// Layout lists the record's values: b one byte, w 32 bits, q 64 bits, i 64 bits with a sign, t a time; r a region,
	// c a communicator, g a group, n a window, h a handle of a file, f a file, x a calling context, u what interrupts,
	// m a metric, p a parameter, s a string. A leading - says that the record has no length. Further values of a record
	// are not read here.
	Layout string
}

// RecordLayouts are all event records of OTF2 3.0, by id.
var RecordLayouts = [256]RecordLayout{
	EvBufferFlush: {"BufferFlush", "t"}, EvMeasurementOnOff: {"MeasurementOnOff", "b"}, EvEnter: {"Enter", "-r"}, EvLeave: {"Leave", "-r"},
	EvMpiSend: {"MpiSend", "wcwq"}, EvMpiIsend: {"MpiIsend", "wcwqq"}, EvMpiIsendComplete: {"MpiIsendComplete", "-q"},
	EvMpiIrecvRequest: {"MpiIrecvRequest", "-q"}, EvMpiRecv: {"MpiRecv", "wcwq"}, EvMpiIrecv: {"MpiIrecv", "wcwqq"},
	EvMpiRequestTest: {"MpiRequestTest", "-q"}, EvMpiRequestCancelled: {"MpiRequestCancelled", "-q"},
	EvMpiCollectiveBegin: {"MpiCollectiveBegin", ""}, EvMpiCollectiveEnd: {"MpiCollectiveEnd", "bcwqq"},
	EvOmpFork: {"OmpFork", "-w"}, EvOmpJoin: {"OmpJoin", ""}, EvOmpAcquireLock: {"OmpAcquireLock", "ww"}, EvOmpReleaseLock: {"OmpReleaseLock", "ww"},
	EvOmpTaskCreate: {"OmpTaskCreate", "-q"}, EvOmpTaskSwitch: {"OmpTaskSwitch", "-q"}, EvOmpTaskComplete: {"OmpTaskComplete", "-q"},
	EvMetric: {"Metric", "m"}, EvParameterString: {"ParameterString", "ps"}, EvParameterInt: {"ParameterInt", "pi"}, EvParameterUnsigned: {"ParameterUnsignedInt", "pq"},
	EvRmaWinCreate: {"RmaWinCreate", "n"}, EvRmaWinDestroy: {"RmaWinDestroy", "n"}, EvRmaCollectiveBegin: {"RmaCollectiveBegin", ""},
	EvRmaCollectiveEnd: {"RmaCollectiveEnd", "bwnwqq"}, EvRmaGroupSync: {"RmaGroupSync", "wng"}, EvRmaRequestLock: {"RmaRequestLock", "nwqb"},
	EvRmaAcquireLock: {"RmaAcquireLock", "nwqb"}, EvRmaTryLock: {"RmaTryLock", "nwqb"}, EvRmaReleaseLock: {"RmaReleaseLock", "nwq"},
	EvRmaSync: {"RmaSync", "nwb"}, EvRmaWaitChange: {"RmaWaitChange", "n"}, EvRmaPut: {"RmaPut", "nwqq"}, EvRmaGet: {"RmaGet", "nwqq"},
	EvRmaAtomic: {"RmaAtomic", "nwbqqq"}, EvRmaCompleteBlocking: {"RmaOpCompleteBlocking", "nq"}, EvRmaCompleteRequested: {"RmaOpCompleteNonBlocking", "nq"},
	EvRmaTest: {"RmaOpTest", "nq"}, EvRmaCompleteRemote: {"RmaOpCompleteRemote", "nq"},
	EvThreadFork: {"ThreadFork", "bw"}, EvThreadJoin: {"ThreadJoin", "b"}, EvThreadTeamBegin: {"ThreadTeamBegin", "c"}, EvThreadTeamEnd: {"ThreadTeamEnd", "c"},
	EvThreadAcquireLock: {"ThreadAcquireLock", "bww"}, EvThreadReleaseLock: {"ThreadReleaseLock", "bww"}, EvThreadTaskCreate: {"ThreadTaskCreate", "cww"},
	EvThreadTaskSwitch: {"ThreadTaskSwitch", "cww"}, EvThreadTaskComplete: {"ThreadTaskComplete", "cww"}, EvThreadCreate: {"ThreadCreate", "cq"},
	EvThreadBegin: {"ThreadBegin", "cq"}, EvThreadWait: {"ThreadWait", "cq"}, EvThreadEnd: {"ThreadEnd", "cq"},
	EvCallingContextEnter: {"CallingContextEnter", "xw"}, EvCallingContextLeave: {"CallingContextLeave", "x"}, EvCallingContextSample: {"CallingContextSample", "xwu"},
	EvIoCreateHandle: {"IoCreateHandle", "hbww"}, EvIoDestroyHandle: {"IoDestroyHandle", "h"}, EvIoDuplicateHandle: {"IoDuplicateHandle", "hhw"},
	EvIoSeek: {"IoSeek", "hibq"}, EvIoChangeStatusFlags: {"IoChangeStatusFlags", "hw"}, EvIoDeleteFile: {"IoDeleteFile", "bf"},
	EvIoOperationBegin: {"IoOperationBegin", "hbwqq"}, EvIoOperationTest: {"IoOperationTest", "hq"}, EvIoOperationIssued: {"IoOperationIssued", "hq"},
	EvIoOperationComplete: {"IoOperationComplete", "hqq"}, EvIoOperationCancelled: {"IoOperationCancelled", "hq"},
	EvIoAcquireLock: {"IoAcquireLock", "hb"}, EvIoReleaseLock: {"IoReleaseLock", "hb"}, EvIoTryLock: {"IoTryLock", "hb"},
	EvProgramBegin: {"ProgramBegin", "sw"}, EvProgramEnd: {"ProgramEnd", "i"},
	EvCollectiveRequest: {"NonBlockingCollectiveRequest", "q"}, EvCollectiveComplete: {"NonBlockingCollectiveComplete", "bcwqqq"},
	EvCommCreate: {"CommCreate", "c"}, EvCommDestroy: {"CommDestroy", "c"},
}

// RecordName returns a readable name for the records with an id.
func RecordName(id uint8) string {
	if name := RecordLayouts[id].Name; name != "" {
		return name
	}
	return fmt.Sprintf("number %d", id)
}

// kinds is, by the letter of a reference in layouts, the kind of ids that a location may map to global ids.
var kinds = map[byte]int{
	'r': mapRegion, 'c': mapComm, 'g': mapGroup, 'n': mapWindow, 'h': mapHandle, 'f': mapFile, 'x': mapContext, 'u': mapInterrupt,
	'm': mapMetric, 'p': mapParameter, 's': mapString,
}
