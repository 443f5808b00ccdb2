// Package otf2 reads and writes archives of the Open Trace Format, version 2, without OTF2's library: the anchor
// file, the global definitions, and the definitions and events of each location. Read makes a trace of another tool's
// recording.
//
// The archives suit Vampir, Scalasca, the tools of Score-P and Python's otf2. A process is a location group, a thread
// a location. A call is Enter and Leave of a region, with its other records in between in Score-P's order: sends
// directly after Enter, receives directly before Leave. Call sites are attributes of Enter.
//
// The reader trusts nothing in a file: it checks lengths against the file's size, it accepts references to missing
// definitions, and its errors name the file and the byte.
//
// Read refuses compressed chunks and SIONlib containers by name. It ignores snapshots, and markers of other
// tools.
package otf2

// Ids of definition records.
const (
	LocalDefMappingTable = 5 // in the definitions of a location
	LocalDefClockOffset  = 6

	DefClock              = 5
	DefParadigm           = 6
	DefIoParadigm         = 8
	DefString             = 10
	DefAttribute          = 11
	DefSystemTreeNode     = 12
	DefLocationGroup      = 13
	DefLocation           = 14
	DefRegion             = 15
	DefGroup              = 18
	DefMetricMember       = 19
	DefMetricClass        = 20
	DefMetricInstance     = 21
	DefComm               = 22
	DefRmaWin             = 24
	DefNodeProperty       = 26
	DefGroupProperty      = 28
	DefSourceCodeLocation = 33
	DefCallingContext     = 34
	DefIoRegularFile      = 38
	DefIoDirectory        = 39
	DefIoHandle           = 40
	DefInterComm          = 43
)

// Ids of records of markers.
const (
	MarkerDef = 5
	MarkerAt  = 6
)

// Ids of event records.
const (
	EvBufferFlush          = 10
	EvMeasurementOnOff     = 11
	EvEnter                = 12
	EvLeave                = 13
	EvMpiSend              = 14
	EvMpiIsend             = 15
	EvMpiIsendComplete     = 16
	EvMpiIrecvRequest      = 17
	EvMpiRecv              = 18
	EvMpiIrecv             = 19
	EvMpiRequestTest       = 20
	EvMpiRequestCancelled  = 21
	EvMpiCollectiveBegin   = 22
	EvMpiCollectiveEnd     = 23
	EvOmpFork              = 24
	EvOmpJoin              = 25
	EvOmpAcquireLock       = 26
	EvOmpReleaseLock       = 27
	EvOmpTaskCreate        = 28
	EvOmpTaskSwitch        = 29
	EvOmpTaskComplete      = 30
	EvMetric               = 31
	EvParameterString      = 32
	EvParameterInt         = 33
	EvParameterUnsigned    = 34
	EvRmaWinCreate         = 35
	EvRmaWinDestroy        = 36
	EvRmaCollectiveBegin   = 37
	EvRmaCollectiveEnd     = 38
	EvRmaGroupSync         = 39
	EvRmaRequestLock       = 40
	EvRmaAcquireLock       = 41
	EvRmaTryLock           = 42
	EvRmaReleaseLock       = 43
	EvRmaSync              = 44
	EvRmaWaitChange        = 45
	EvRmaPut               = 46
	EvRmaGet               = 47
	EvRmaAtomic            = 48
	EvRmaCompleteBlocking  = 49
	EvRmaCompleteRequested = 50
	EvRmaTest              = 51
	EvRmaCompleteRemote    = 52
	EvThreadFork           = 53
	EvThreadJoin           = 54
	EvThreadTeamBegin      = 55
	EvThreadTeamEnd        = 56
	EvThreadAcquireLock    = 57
	EvThreadReleaseLock    = 58
	EvThreadTaskCreate     = 59
	EvThreadTaskSwitch     = 60
	EvThreadTaskComplete   = 61
	EvThreadCreate         = 62
	EvThreadBegin          = 63
	EvThreadWait           = 64
	EvThreadEnd            = 65
	EvCallingContextEnter  = 66
	EvCallingContextLeave  = 67
	EvCallingContextSample = 68
	EvIoCreateHandle       = 69
	EvIoDestroyHandle      = 70
	EvIoDuplicateHandle    = 71
	EvIoSeek               = 72
	EvIoChangeStatusFlags  = 73
	EvIoDeleteFile         = 74
	EvIoOperationBegin     = 75
	EvIoOperationTest      = 76
	EvIoOperationIssued    = 77
	EvIoOperationComplete  = 78
	EvIoOperationCancelled = 79
	EvIoAcquireLock        = 80
	EvIoReleaseLock        = 81
	EvIoTryLock            = 82
	EvProgramBegin         = 83
	EvProgramEnd           = 84
	EvCollectiveRequest    = 85
	EvCollectiveComplete   = 86
	EvCommCreate           = 87
	EvCommDestroy          = 88
)

// Numbers with a meaning in definitions and events.
const (
	UndefinedRef = 1<<32 - 1 // a reference to nothing

	ParadigmUnknown = 0 // written by tools that don't determine the paradigm
	ParadigmMPI     = 4

	TypeDouble         = 10 // types of values
	TypeString         = 11
	TypeSourceLocation = 20

	LocationGroupTypeProcess = 1 // type of a location group: a process
	LocationTypeCPUThread    = 1 // type of a location: a thread on a CPU

	GroupTypeCommLocations = 4 // types of groups
	GroupTypeCommGroup     = 5
	GroupTypeCommSelf      = 6

	CollectiveCreateHandle  = 17 // numbers of collective operations that make and free windows
	CollectiveDestroyHandle = 18
	CollectiveCreateMemory  = 21
	CollectiveDestroyMemory = 22

	LockExclusive = 0

	MeasurementOff = 2 // value in a record MeasurementOnOff

	IoAccessReadOnly  = 0 // access modes of files
	IoAccessWriteOnly = 1
	IoAccessReadWrite = 2
)

// Values for the root of a collective on an intercommunicator that are not ranks.
const (
	CollectiveRootSelf      = UndefinedRef - 1
	CollectiveRootThisGroup = UndefinedRef - 2
)

// How files are made of chunks, see chunks.go.
const (
	LittleEndian        = 'B'
	BigEndian           = '#'
	BufferEndOfChunk    = 0
	BufferEndOfBuffer   = 1
	BufferEndOfFile     = 2
	BufferChunkHeader   = 3
	BufferTimestamp     = 5
	BufferAttributeList = 6
	ChunkHeaderBytes    = 18
)
