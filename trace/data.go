package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Plain data that readers return; package model describes it.
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

	Thinned = model.Thinned
	Drawn   = model.Drawn
	Extreme = model.Extreme
	Bin     = model.Bin

	Waits        = model.Waits
	WaitSite     = model.WaitSite
	WaitCause    = model.WaitCause
	WaitRank     = model.WaitRank
	WaitRankNs   = model.WaitRankNs
	WaitOther    = model.WaitOther
	WaitLoss     = model.WaitLoss
	WaitPath     = model.WaitPath
	WaitPathSite = model.WaitPathSite
	WaitPathRank = model.WaitPathRank
	WaitPlace    = model.WaitPlace
	WaitsLeft    = model.WaitsLeft

	When           = model.When
	WhenLoop       = model.WhenLoop
	WhenRow        = model.WhenRow
	WhenPlane      = model.WhenPlane
	WhenHighest    = model.WhenHighest
	WhenIterations = model.WhenIterations
	WhenExemplar   = model.WhenExemplar
	WhenTimes      = model.WhenTimes
	WhenFinding    = model.WhenFinding

	Partners     = model.Partners
	Distribution = model.Distribution

	Code       = model.Code
	Vertex     = model.Vertex
	VertexKind = model.VertexKind
	Context    = model.Context
	Step       = model.Step
	Way        = model.Way

	Round = model.Round

	Sample      = model.Sample
	SampleKind  = model.SampleKind
	Timing      = model.Timing
	Stretch     = model.Stretch
	LeafTimes   = model.LeafTimes
	LoopEntries = model.LoopEntries
)

// Why it isn't known who waited for whom.
const (
	WaitsKnown   = model.WaitsKnown
	LeftTime     = model.LeftTime
	LeftLog      = model.LeftLog
	LeftFailed   = model.LeftFailed
	LeftDistinct = model.LeftDistinct
)

// The states of a When, and the unit of bases.
const (
	WhenComputing = model.WhenComputing
	WhenWaiting   = model.WhenWaiting
	WhenFiles     = model.WhenFiles
	WhenOther     = model.WhenOther
	WhenReady     = model.WhenReady
	WhenStates    = model.WhenStates
	WhenBase      = model.WhenBase
)

// The types of values.
const (
	None        = model.None
	Int         = model.Int
	Time        = model.Time
	Handle      = model.Handle
	Request     = model.Request
	Object      = model.Object
	Address     = model.Address
	FunctionRef = model.FunctionRef
	String      = model.String
	Array       = model.Array
	Status      = model.Status
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
	Nonblocking = model.Nonblocking
	Persistent  = model.Persistent
	Completes   = model.Completes
	Starts      = model.Starts
	CreatesComm = model.CreatesComm
	CreatesType = model.CreatesType
	CreatesWin  = model.CreatesWin
	Collective  = model.Collective
	Local       = model.Local
	Large       = model.Large
	Posix       = model.Posix
)

// The directions of parameters.
const (
	DirIn    = model.DirIn
	DirOut   = model.DirOut
	DirInOut = model.DirInOut
	DirFree  = model.DirFree
)

// The classes of addresses, and offsets of those of class Special.
const (
	Special      = model.Special
	Heap         = model.Heap
	DeviceMemory = model.DeviceMemory
	Static       = model.Static
	Stack        = model.Stack
	UnknownPlace = model.UnknownPlace
	MPIMemory    = model.MPIMemory

	SpecialNull            = model.SpecialNull
	SpecialInPlace         = model.SpecialInPlace
	SpecialBufferAutomatic = model.SpecialBufferAutomatic
)

// FromStart is a Histogram's From where a thread's first call is; others are places.
const FromStart = model.FromStart

// The kinds of vertices of Code, and ways that aren't rounds.
const (
	FunctionVertex = model.FunctionVertex
	LoopVertex     = model.LoopVertex
	CallVertex     = model.CallVertex

	Forward = model.Forward
	Lost    = model.Lost
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
	// FirstLocal is the number of a rank's first own handle.
	FirstLocal = model.FirstLocal
	// Scattered is the Call of an Aside that was spent here and there.
	Scattered = model.Scattered
	// SumWithin is how far the sum of a Stat, or of a Spread, may be from the true one, as a part of
	// it. Sums of all calls of a class are nearer.
	SumWithin = sections.SumError
	// PoolFrom is how many calls of a class that differ in nothing but values share
	// one summary of their times.
	PoolFrom = sections.MinPool
)

// RoundedBy is how far a duration of a process may be from the true one, in a trace of so
// many ranks.
func RoundedBy(ns int64, ranks int) int64 { return sections.RoundingError(ns, ranks) }
