package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Plain data that readers return, defined in package model.
type (
	Function  = model.Function
	ParamDef  = model.ParamDef
	Type      = model.Type
	Attr      = model.Attr
	Dir       = model.Dir
	Site      = model.Site
	Location  = model.Location
	Stat      = model.Stat
	Spread    = model.Spread
	Times     = model.Times
	ValueStat = model.ValueStat
	Clock     = model.Clock
	Process   = model.Process
	Aside     = model.Aside

	AddressClass = model.AddressClass
	AllocEvent   = model.AllocEvent
	Handover     = model.Handover

	MergedSizes    = model.MergedSizes
	SyntheticLoops = model.SyntheticLoops
	Extreme        = model.Extreme
	Bin            = model.Bin

	Waits            = model.Waits
	WaitSite         = model.WaitSite
	WaitCause        = model.WaitCause
	WaitRank         = model.WaitRank
	WaitRankNs       = model.WaitRankNs
	UnexplainedWaits = model.UnexplainedWaits
	WaitOmission     = model.WaitOmission
	CriticalPath     = model.CriticalPath
	CriticalPathSite = model.CriticalPathSite
	CriticalPathRank = model.CriticalPathRank
	WaitPlace        = model.WaitPlace
	WaitsStatus      = model.WaitsStatus

	When           = model.When
	WhenLoop       = model.WhenLoop
	WhenRow        = model.WhenRow
	WhenPlane      = model.WhenPlane
	WhenOutlier    = model.WhenOutlier
	WhenIterations = model.WhenIterations
	WhenExemplar   = model.WhenExemplar
	WhenTimes      = model.WhenTimes
	WhenFinding    = model.WhenFinding

	SyntheticMessages = model.SyntheticMessages
	Distribution      = model.Distribution

	Code           = model.Code
	Vertex         = model.Vertex
	VertexKind     = model.VertexKind
	Context        = model.Context
	CallTransition = model.CallTransition
	LoopTransition = model.LoopTransition

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
	WaitsTooLong         = model.WaitsTooLong
	WaitsTooManyCalls    = model.WaitsTooManyCalls
	WaitsFailed          = model.WaitsFailed
	WaitsTooManyDistinct = model.WaitsTooManyDistinct
)

// The states of a thread in a When, and the number of units of WhenPlane.Base in a level.
const (
	WhenComputing         = model.WhenComputing
	WhenWaiting           = model.WhenWaiting
	WhenFiles             = model.WhenFiles
	WhenOther             = model.WhenOther
	WhenReady             = model.WhenReady
	WhenStates            = model.WhenStates
	WhenBaseUnitsPerLevel = model.WhenBaseUnitsPerLevel
)

// The types of values.
const (
	TypeNone        = model.TypeNone
	TypeInt         = model.TypeInt
	TypeTime        = model.TypeTime
	TypeHandle      = model.TypeHandle
	TypeRequest     = model.TypeRequest
	TypeObject      = model.TypeObject
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

// NoPreviousPlace is the value of Histogram.PreviousPlace for a thread's first call, which has no call before it.
const NoPreviousPlace = model.NoPreviousPlace

// The kinds of vertices of Code, and the values of LoopTransition that are not loops.
const (
	FunctionVertex = model.FunctionVertex
	LoopVertex     = model.LoopVertex
	CallVertex     = model.CallVertex

	NoLoopTransition  = model.NoLoopTransition
	UnknownTransition = model.UnknownTransition
)

// Well-known keys of Reader.Meta.
const (
	MetaCommand     = model.MetaCommand
	MetaMPI         = model.MetaMPI
	MetaLibrary     = model.MetaLibrary
	MetaClock       = model.MetaClock
	MetaStart       = model.MetaStart
	MetaLayers      = model.MetaLayers
	MetaOptions     = model.MetaOptions
	MetaProducer    = model.MetaProducer
	MetaTimingError = model.MetaTimingError
	MetaImported    = model.MetaImported
	MetaNote        = model.MetaNote
	MetaProblem     = model.MetaProblem
	MetaTag         = model.MetaTag
)

const (
	// MaxRanks bounds the number of ranks of a trace.
	MaxRanks = model.MaxRanks
	// FirstLocal is the lowest number of a handle that a rank created itself.
	FirstLocal = model.FirstLocal
	// AsidesAnywhere is the BeforeCall of an Aside whose position is unknown, as it is the sum of many short ones.
	AsidesAnywhere = model.AsidesAnywhere
	// SumError is the largest relative error of the sum of a Stat or Spread. The sum over all calls of a class is more
	// accurate.
	SumError = sections.SumError
	// MinPool is the least number of distinct calls of a class, differing in values only, that share one summary of
	// their times.
	MinPool = sections.MinPoolSize
)

// RoundingError returns the rounding error of a process's duration in ns, in a trace of the given number of ranks.
func RoundingError(ns int64, ranks int) int64 { return sections.RoundingError(ns, ranks) }
