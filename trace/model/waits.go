package model

// Waits is the wait states of a run, which the ranks determined at its end. Times are in ns, accurate to 1 %, and are
// sums over ranks.
type Waits struct {
	Status              WaitsStatus // why wait states are unknown; 0: they are known
	EstimatedAnalysisNs int64       // with WaitsAnalysisTooLong: estimated time of the analysis
	AnalysedShare       float64     // fraction of the run's time that was analysed: its last part
	MaxThreads          int         // largest number of threads of a rank
	ThreadRunNs         int64       // time from the first call to the end of the last one, summed over all threads
	MPINs               int64
	Messages            uint64 // number of messages whose send and receive are both known
	BackwardMessages    uint64 // number of messages that were received, by the time line, before they were sent
	ClockErrorNs        int64  // largest time by which a message of BackwardMessages was received too early
	Sites               []WaitSite
	ByRank              []WaitRank // by rank; in large runs only ranks that waited longest, or were waited for longest
	UnanalysedFunctions []UnanalysedFunction
	Omissions           []WaitOmission
	Path                *CriticalPath // nil: the critical path is unknown
}

// WaitsStatus says whether wait states are known, and if not, why.
type WaitsStatus uint8

// WaitsKnown means that wait states are known. The other values are reasons why not.
const (
	WaitsKnown           WaitsStatus = iota
	WaitsAnalysisTooLong             // the analysis would have taken too long
	WaitsTooManyCalls                // a rank made more calls than it keeps the times of for the analysis
	WaitsAnalysisFailed              // the analysis failed on a rank
	WaitsTooManyDistinct             // the run has too many distinct calls
)

// A FunctionSiteNumbers is a function and a call site. Function is its index in the trace's schema, or -1 for several functions
// together. Site is the site's number among the trace's sites, from 1.
type FunctionSiteNumbers struct{ FunctionIndex, SiteNumber int }

// A WaitSite is the time that calls of one function from one site waited for one reason. Count is their number.
type WaitSite struct {
	FunctionSiteNumbers
	Kind         int // number of the reason (e.g. late sender), as package waits defines them
	Count        uint64
	WaitedNs     int64
	Ranks        []WaitRankNs // the ranks that waited longest; WaitingRanks is how many ranks waited
	LateRanks    []WaitRankNs // the ranks that were waited for longest; AwaitedRanks is how many ranks were waited for
	WaitingRanks int
	AwaitedRanks int
	Causes       []WaitCause // calls in which the late ranks were late
}

// A WaitRankNs is a rank and its part, in ns, of a time that is summed over ranks.
type WaitRankNs struct {
	Rank int
	Ns   int64
}

// A WaitCause is a function and site whose calls, or the computation before them, made late ranks late.
type WaitCause struct {
	FunctionSiteNumbers
	WaitShare    float64 // fraction (0 to 1) of WaitSite.WaitedNs that this place caused
	ComputeShare float64 // fraction (0 to 1) of that part of WaitedNs in which late ranks were outside MPI
}

// A WaitRank is how long a rank waited (WaitedNs), and how long others waited for it (CausedWaitNs).
type WaitRank struct {
	Rank                                       int
	ThreadRunNs, MPINs, WaitedNs, CausedWaitNs int64
}

// An UnanalysedFunction is a function whose calls were not analysed: its index in the schema, and the time in its calls.
type UnanalysedFunction struct {
	FunctionIndex int
	CallNs        int64
}

// A WaitOmission is a reason why calls were not analysed (What), and how many they were.
type WaitOmission struct {
	Reason string
	Count  uint64
}

// A CriticalPath is the critical path of the analysed part of a run: the chain of computations and calls, over ranks,
// that determines when the run ends. Hops is how often it changes the rank.
type CriticalPath struct {
	LengthNs     int64 // duration of the path
	OutsideMPINs int64 // time of the path outside MPI
	AsideNs      int64
	Hops         int
	EndRank      int // rank on which the path ends
	Sites        []CriticalPathSite
	Ranks        []CriticalPathRank // the ranks on which the path is longest
}

// A CriticalPathRank is a rank's part of the critical path.
type CriticalPathRank struct {
	Rank             int
	ComputeNs, MPINs int64
}

// A CriticalPathSite is the part of the critical path in the calls of one function from one site (MPINs), and in the
// computation before them (ComputeNs). MeanNs is the mean over the ranks of their time in both, without waiting.
type CriticalPathSite struct {
	FunctionSiteNumbers
	ComputeNs, MPINs, MeanOverRanksNs int64
	MaxRank                           int // the rank with the largest part of these times
}
