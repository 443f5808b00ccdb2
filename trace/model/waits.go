package model

// Waits is who waited for whom in a run, as the ranks found out at its end. Times are in ns, within 1 %, and sums over ranks.
type Waits struct {
	Status           WaitsStatus // why nothing was found out
	EstimatedCostNs  int64       // of LeftTime: about how long it would have taken
	AnalysedShare    float64     // of the run, up to its end, that this is of
	MaxThreads       int         // of the rank with most
	RunNs            int64       // of all threads, each from its first call to the end of its last
	MPINs            int64
	Messages         uint64 // those with both ends known
	BackwardMessages uint64 // of these, received before they were sent
	ClockErrorNs     int64  // by so much at most
	Sites            []WaitSite
	ByRank           []WaitRank // in order; of many, those that waited most or were waited for most
	Unexplained      []UnexplainedWaits
	Omissions        []WaitOmission
	Path             *WaitPath // nil: not known
}

// WaitsStatus says why it isn't known who waited for whom.
type WaitsStatus uint8

// Reasons.
const (
	WaitsKnown           WaitsStatus = iota
	WaitsTooLong                     // it would have taken too long
	WaitsTooManyCalls                // a rank made more calls than times are kept of
	WaitsFailed                      // a rank could not do it
	WaitsTooManyDistinct             // there are too many distinct calls
)

// A WaitPlace is a function, by its place in the schema, and where it is called, as a number in the trace's sites, from 1. Function is -1
// where several are taken together.
type WaitPlace struct{ Function, Site int }

// A WaitSite is what calls from one place waited for one reason.
type WaitSite struct {
	WaitPlace
	Kind         int // see package waits
	Count        uint64
	WaitedNs     int64
	Ranks        []WaitRankNs // that waited most, of Waiting ranks
	LateRanks    []WaitRankNs // that were waited for most, of Awaited ranks
	WaitingRanks int
	AwaitedRanks int
	Causes       []WaitCause // to which they came late
}

// A WaitRankNs is a rank's part of a time.
type WaitRankNs struct {
	Rank int
	Ns   int64
}

// A WaitCause is a call to which ranks came late.
type WaitCause struct {
	WaitPlace
	WaitShare    float64 // of what was waited at the site
	ComputeShare float64 // the part of that which the late ones were outside of MPI
}

// A WaitRank is what a rank waited, and others for it.
type WaitRank struct {
	Rank                             int
	RunNs, MPINs, WaitedNs, CausedNs int64
}

// A UnexplainedWaits is a function of whose calls nothing is said.
type UnexplainedWaits struct {
	Function int
	Ns       int64
}

// A WaitOmission is what could not be said, and how often.
type WaitOmission struct {
	What  string
	Count uint64
}

// A WaitPath is the critical path of a run, or of its end.
type WaitPath struct {
	LengthNs   int64 // how long it is
	OutsideNs  int64 // of MPI
	RecorderNs int64
	Hops       int
	Rank       int // on which it ends
	Sites      []WaitPathSite
	Ranks      []WaitPathRank // that have most of it
}

// A WaitPathRank is a rank's part of the path.
type WaitPathRank struct {
	Rank             int
	ComputeNs, MPINs int64
}

// A WaitPathSite is what a place has of the path.
type WaitPathSite struct {
	WaitPlace
	ComputeNs, MPINs, MeanNs int64
	Rank                     int // with most of it
}
