package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Plain data that readers return, defined in package model.
type (
	Function        = model.Function
	ParamDef        = model.ParamDef
	Type            = model.Type
	Attr            = model.Attr
	Dir             = model.Dir
	Site            = model.Site
	SymbolicAddress = model.SymbolicAddress
	Stat            = model.Stat
	Spread          = model.Spread
	Times           = model.Times
	AttachedStat    = model.AttachedStat
	Clock           = model.Clock
	Process         = model.Process
	Aside           = model.Aside

	AddressClass = model.AddressClass
	AllocEvent   = model.AllocEvent
	Handover     = model.Handover

	MergedSizes    = model.MergedSizes
	SyntheticLoops = model.SyntheticLoops
	Extreme        = model.Extreme
	Bin            = model.Bin

	Waits               = model.Waits
	WaitSite            = model.WaitSite
	WaitCause           = model.WaitCause
	WaitRank            = model.WaitRank
	WaitRankNs          = model.WaitRankNs
	UnanalysedFunction  = model.UnanalysedFunction
	WaitOmission        = model.WaitOmission
	CriticalPath        = model.CriticalPath
	CriticalPathSite    = model.CriticalPathSite
	CriticalPathRank    = model.CriticalPathRank
	FunctionSiteNumbers = model.FunctionSiteNumbers
	WaitsStatus         = model.WaitsStatus

	When           = model.When
	WhenLoop       = model.WhenLoop
	WhenRow        = model.WhenRow
	WhenStateTimes = model.WhenStateTimes
	WhenOutlier    = model.WhenOutlier
	WhenIterations = model.WhenIterations
	WhenExemplar   = model.WhenExemplar
	WhenCallTimes  = model.WhenCallTimes
	WhenFinding    = model.WhenFinding

	SyntheticMessages = model.SyntheticMessages
	Distribution      = model.Distribution

	Code               = model.Code
	Vertex             = model.Vertex
	VertexKind         = model.VertexKind
	CallSiteVertex     = model.CallSiteVertex
	CallTransition     = model.CallTransition
	IteratedLoopNumber = model.IteratedLoopNumber

	OuterLoop = model.OuterLoop

	Sample      = model.Sample
	SampleKind  = model.SampleKind
	Timing      = model.Timing
	PlacedAside = model.PlacedAside
	LeafTimes   = model.LeafTimes
	LoopEntries = model.LoopEntries
)

// Whether a run's wait states are known, and if not, why.
const (
	WaitsKnown           = model.WaitsKnown
	WaitsAnalysisTooLong = model.WaitsAnalysisTooLong
	WaitsTooManyCalls    = model.WaitsTooManyCalls
	WaitsAnalysisFailed  = model.WaitsAnalysisFailed
	WaitsTooManyDistinct = model.WaitsTooManyDistinct
)

// The states of a thread in a When, and the number of units of WhenStateTimes.LoopBaseUnits in a level.
const (
	WhenStateComputing    = model.WhenStateComputing
	WhenStateWaiting      = model.WhenStateWaiting
	WhenStateFileIO       = model.WhenStateFileIO
	WhenStateAside        = model.WhenStateAside
	WhenStateRunnable     = model.WhenStateRunnable
	WhenStateCount        = model.WhenStateCount
	WhenBaseUnitsPerLevel = model.WhenBaseUnitsPerLevel
)

// The types of values.
const (
	TypeNone        = model.TypeNone
	TypeInt         = model.TypeInt
	TypeTime        = model.TypeTime
	TypeHandle      = model.TypeHandle
	TypeRequest     = model.TypeRequest
	TypeMPITObject  = model.TypeMPITObject
	TypeAddress     = model.TypeAddress
	TypeFunctionRef = model.TypeFunctionRef
	TypeString      = model.TypeString
	TypeArray       = model.TypeArray
	TypeStatus      = model.TypeStatus
)

// The kinds of samples.
const (
	NoSample        = model.NoSample
	MeanSample      = model.MeanSample
	HistogramSample = model.HistogramSample
	BoundedSample   = model.BoundedSample
	ExactSample     = model.ExactSample
)

// The attributes of functions.
const (
	AttrNonblocking = model.AttrNonblocking
	AttrPersistent  = model.AttrPersistent
	AttrCompletes   = model.AttrCompletes
	AttrStarts      = model.AttrStarts
	AttrCreatesComm = model.AttrCreatesComm
	AttrCreatesType = model.AttrCreatesType
	AttrCreatesWin  = model.AttrCreatesWin
	AttrCollective  = model.AttrCollective
	AttrLocal       = model.AttrLocal
	AttrLarge       = model.AttrLarge
	AttrPosix       = model.AttrPosix
)

// The directions of parameters.
const (
	DirIn    = model.DirIn
	DirOut   = model.DirOut
	DirInOut = model.DirInOut
	DirFree  = model.DirFree
)

// The classes of addresses, and offsets of those of class AddressSpecial.
const (
	AddressSpecial = model.AddressSpecial
	AddressHeap    = model.AddressHeap
	AddressDevice  = model.AddressDevice
	AddressStatic  = model.AddressStatic
	AddressStack   = model.AddressStack
	AddressUnknown = model.AddressUnknown
	AddressMPI     = model.AddressMPI

	SpecialNull            = model.SpecialNull
	SpecialInPlace         = model.SpecialInPlace
	SpecialBufferAutomatic = model.SpecialBufferAutomatic
)

// NoPreviousFunctionSite is the value of Histogram.PreviousFunctionSite for a thread's first call, which has no call before it.
const NoPreviousFunctionSite = model.NoPreviousFunctionSite

// The kinds of vertices of Code, and the values of IteratedLoopNumber that are not loops.
const (
	FunctionVertex = model.FunctionVertex
	LoopVertex     = model.LoopVertex
	CallVertex     = model.CallVertex

	NoIteratedLoop      = model.NoIteratedLoop
	UnknownIteratedLoop = model.UnknownIteratedLoop
)

// Well-known keys of Reader.Meta.
const (
	MetaCommand           = model.MetaCommand
	MetaMPIFlavour        = model.MetaMPIFlavour
	MetaMPILibraryVersion = model.MetaMPILibraryVersion
	MetaClock             = model.MetaClock
	MetaStart             = model.MetaStart
	MetaWrapperLibraries  = model.MetaWrapperLibraries
	MetaRecorderOptions   = model.MetaRecorderOptions
	MetaProducer          = model.MetaProducer
	MetaTimingError       = model.MetaTimingError
	MetaImportFormat      = model.MetaImportFormat
	MetaNotePrefix        = model.MetaNotePrefix
	MetaProblemPrefix     = model.MetaProblemPrefix
	MetaRunTagPrefix      = model.MetaRunTagPrefix
)

const (
	// MaxRanks bounds the number of ranks of a trace.
	MaxRanks = model.MaxRanks
	// FirstCreatedHandle is the lowest number of a handle that a rank created itself.
	FirstCreatedHandle = model.FirstCreatedHandle
	// AsidePositionUnknown is the BeforeCall of an Aside whose position is unknown, as it is the sum of many short ones.
	AsidePositionUnknown = model.AsidePositionUnknown
	// MaxRelativeSumError is the largest relative error of the sum of a Stat or Spread. The sum over all calls of a class is more
	// accurate.
	MaxRelativeSumError = sections.MaxRelativeSumError
	// MinPoolSize is the least number of distinct calls of a class, differing in values only, that share one summary of
	// their times.
	MinPoolSize = sections.MinPoolSize
)

// ProcessRoundingErrorNs returns the rounding error of a process's duration in ns, in a trace of the given number of ranks.
func ProcessRoundingErrorNs(ns int64, ranks int) int64 {
	return sections.ProcessRoundingErrorNs(ns, ranks)
}
