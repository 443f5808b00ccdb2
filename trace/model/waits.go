package model

// Waits is the wait states of a run, determined by the ranks at its end. Times are in ns, to 1 %, and are sums over
// ranks.
type Waits struct {
	Status           WaitsStatus // why wait states are unknown; 0: they are known
	EstimatedCostNs  int64       // with WaitsTooLong: estimated time of the analysis
	AnalysedShare    float64     // share of the run, up to its end, that was analysed
	MaxThreads       int         // largest number of threads of a rank
	RunNs            int64       // sum over all threads, each from its first call to the end of its last
	MPINs            int64
	Messages         uint64 // messages with both ends known
	BackwardMessages uint64 // messages received before they were sent, by their times
	ClockErrorNs     int64  // largest distance by which a message of BackwardMessages was early
	Sites            []WaitSite
	ByRank           []WaitRank // in rank order; of many ranks, those that waited longest or were waited for longest
	Unexplained      []UnexplainedWaits
	Omissions        []WaitOmission
	Path             *CriticalPath // nil: not known
}

// WaitsStatus is the reason why wait states are unknown.
type WaitsStatus uint8

// Reasons why wait states are unknown.
const (
	WaitsKnown           WaitsStatus = iota
	WaitsTooLong                     // the analysis would have taken too long
	WaitsTooManyCalls                // a rank made more calls than its log keeps times of
	WaitsFailed                      // the analysis failed on a rank
	WaitsTooManyDistinct             // there are too many distinct calls
)

// A WaitPlace is a function and its call site. Function is its index in the schema, or -1 for several functions
// together. Site is its number in the trace's sites, from 1.
type WaitPlace struct{ Function, Site int }

// A WaitSite is the time that calls from one place waited for one reason.
type WaitSite struct {
	WaitPlace
	Kind         int // reason; see package waits
	Count        uint64
	WaitedNs     int64
	Ranks        []WaitRankNs // ranks that waited longest; WaitingRanks is how many waited
	LateRanks    []WaitRankNs // ranks that were waited for longest; AwaitedRanks is how many were
	WaitingRanks int
	AwaitedRanks int
	Causes       []WaitCause // calls in which the late ranks were late
}

// A WaitRankNs is a rank with its part of a sum of times.
type WaitRankNs struct {
	Rank int
	Ns   int64
}

// A WaitCause is a call in which a rank arrived late.
type WaitCause struct {
	WaitPlace
	WaitShare    float64 // share of the site's waiting time
	ComputeShare float64 // the part of WaitShare that the late ranks spent outside MPI
}

// A WaitRank is how long a rank waited, and how long others waited for it.
type WaitRank struct {
	Rank                             int
	RunNs, MPINs, WaitedNs, CausedNs int64
}

// An UnexplainedWaits is a function whose calls were not analysed.
type UnexplainedWaits struct {
	Function int
	Ns       int64
}

// A WaitOmission is a reason why calls were not analysed, and how many.
type WaitOmission struct {
	What  string
	Count uint64
}

// A CriticalPath is the critical path of a run, or of its end.
type CriticalPath struct {
	LengthNs   int64 // length of the path
	OutsideNs  int64 // part of the path outside MPI
	RecorderNs int64
	Hops       int
	Rank       int // rank on which the path ends
	Sites      []CriticalPathSite
	Ranks      []CriticalPathRank // ranks with the largest parts of the path
}

// A CriticalPathRank is a rank's part of the path.
type CriticalPathRank struct {
	Rank             int
	ComputeNs, MPINs int64
}

// A CriticalPathSite is the part of the path at one place.
type CriticalPathSite struct {
	WaitPlace
	ComputeNs, MPINs, MeanNs int64
	Rank                     int // rank with the largest part
}
