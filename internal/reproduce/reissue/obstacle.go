package reissue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// An Obstacle is a reason why some calls of a trace can't be made again.
type Obstacle struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
	Calls    uint64 `json:"calls"` // over all ranks
	Ranks    int    `json:"ranks"`
}

func (o Obstacle) String() string {
	return fmt.Sprintf("%s: %d calls on %d ranks: %s", o.Function, o.Calls, o.Ranks, o.Reason)
}

// Compare orders obstacles for sorting: the one with most calls first, then by function and reason.
func (o Obstacle) Compare(b Obstacle) int {
	return cmp.Or(cmp.Compare(b.Calls, o.Calls), cmp.Compare(o.Function, b.Function), cmp.Compare(o.Reason, b.Reason))
}

// Reasons for the last calls of a program that did not finish.
const (
	neverReturned = "the call never returned"
	endsProgram   = "it ends the program"
)

// IsAtStreamEnd reports whether the obstacle's calls are those at which StreamEnds stop.
func (o Obstacle) IsAtStreamEnd() bool { return o.Reason == neverReturned || o.Reason == endsProgram }

// A TargetMPI is the MPI on which calls are to be made.
type TargetMPI struct {
	Flavour              string                 // mpich, openmpi, abi; "": the trace's
	HasFunction          func(name string) bool // reports whether the MPI has a function; nil: it has all
	KeepMPIChosenNumbers bool                   // numbers that the MPI chose, such as attribute keys, stay as recorded
}

// IsForeignTo reports whether the target's flavour differs from the flavour from of the trace.
func (t TargetMPI) IsForeignTo(from string) bool {
	return t.Flavour != "" && from != "" && t.Flavour != from
}

// An ObstacleSearch finds obstacles, one rank after the other.
type ObstacleSearch struct {
	from   string // the trace's flavour
	target TargetMPI
	ObstacleTally
}

// An ObstacleTally is the obstacles of the ranks added so far, by cause.
type ObstacleTally map[ObstacleCause]*Obstacle

// An ObstacleCause identifies an obstacle: the function and the reason.
type ObstacleCause struct{ Function, Reason string }

// Add adds a rank's number of calls for each obstacle.
func (t ObstacleTally) Add(calls map[ObstacleCause]uint64) {
	for at, n := range calls {
		o := once.GetOrMake(t, at, func() *Obstacle { return &Obstacle{Function: at.Function, Reason: at.Reason} })
		o.Calls += n
		o.Ranks++
	}
}

// CollectRank adds the obstacles of a rank. calls are its distinct calls, by terminal. why returns the reason why a
// call is an obstacle, or "".
func (t ObstacleTally) CollectRank(k *trace.Rank, calls []*trace.Call, why func(*trace.Call) string) {
	reasons, mine := make([]string, len(calls)), make(map[ObstacleCause]uint64)
	for i, c := range calls {
		reasons[i] = why(c)
	}
	for stream := range k.Streams() {
		for i, n := range k.TerminalCounts(stream) {
			if reasons[i] != "" {
				mine[ObstacleCause{calls[i].Name(), reasons[i]}] += n
			}
		}
	}
	t.Add(mine)
}

// List returns the obstacles, most calls first.
func (t ObstacleTally) List() []Obstacle {
	list := make([]Obstacle, 0, len(t))
	for _, o := range t {
		list = append(list, *o)
	}
	slices.SortFunc(list, Obstacle.Compare)
	return list
}

// NewObstacleSearch begins a search in a trace. Ranks without a track are obstacles, and calls that the trace lacks.
func NewObstacleSearch(r *trace.Reader, target TargetMPI) (*ObstacleSearch, error) {
	s := &ObstacleSearch{from: r.Meta()[trace.MetaMPIFlavour], target: target, ObstacleTally: make(ObstacleTally)}
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	for rank, p := range procs.All() {
		if r.ClassOf(rank) < 0 {
			s.Add(map[ObstacleCause]uint64{{"any", "the rank left no track"}: 0})
		}
		if p.LostCalls > 0 {
			s.Add(map[ObstacleCause]uint64{{"any", "the trace lacks calls"}: p.LostCalls})
		}
	}
	return s, nil
}

// AddRank adds the obstacles of a rank. calls are its distinct calls, by terminal.
func (s *ObstacleSearch) AddRank(k *trace.Rank, calls []*trace.Call) {
	made, low := MadeHandles(calls), lowTypesOf(calls)
	s.CollectRank(k, calls, func(c *trace.Call) string {
		return cmp.Or(ObstacleOf(c, s.from, s.target), made.ObstacleText(c, s.target.IsForeignTo(s.from)), low.why(c))
	})
}

// Obstacles lists the reasons why calls of a trace can't be made again.
func Obstacles(r *trace.Reader, target TargetMPI) ([]Obstacle, error) {
	s, err := NewObstacleSearch(r, target)
	if err != nil {
		return nil, fmt.Errorf("reissue: %w", err)
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		calls, err := k.DistinctCalls()
		if err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		s.AddRank(k, calls)
	}
	return s.List(), nil
}

// A subject is a distinct call that is examined for obstacles.
type subject struct {
	c       *trace.Call
	def     *mpi.Call
	target  TargetMPI
	foreign bool // the target is an MPI of another flavour than the trace's
}

// An obstacleRule is a reason why calls can't be made again, and for which calls it holds.
type obstacleRule struct {
	why     string
	applies func(x *subject) bool
}

// missingOutcome are reasons why any call, also one on files, can't be made again: the MPI lacks its function, or the
// call never returned normally. The first reason that applies counts.
var missingOutcome = []obstacleRule{
	{"the MPI at hand does not have it", func(x *subject) bool {
		return x.target.HasFunction != nil && !x.target.HasFunction(x.c.Name()) && !x.def.Has(mpi.AttrPosix)
	}},
	{neverReturned, func(x *subject) bool {
		return x.c.Return == trace.ReturnCodeNeverReturned && !x.def.Has(mpi.AttrFinalises)
	}},
	{"the program left the call by a jump or an exception", func(x *subject) bool { return x.c.Return == trace.ReturnCodeLeftByJump }},
}

// unrepeatable gives, by name without _c, the reason why no call of a function can be made again, whatever its
// values.
var unrepeatable = func() map[string]string {
	list := map[string]string{"MPI_Abort": endsProgram}
	for why, names := range map[string][]string{
		"processes that it started are not in the trace": {"MPI_Comm_spawn", "MPI_Comm_spawn_multiple"},
		"who meets whom through a port or a socket is not in the trace": {
			"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Open_port", "MPI_Close_port",
			"MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name",
		},
		"an event instance exists only while its callback runs": {
			"MPI_T_event_read", "MPI_T_event_copy", "MPI_T_event_get_timestamp", "MPI_T_event_get_source",
		},
	} {
		for _, name := range names {
			list[name] = why
		}
	}
	return list
}()

// missingValue are further reasons why an MPI call can't be made again: the trace lacks a value that it needs, or has
// one that only the traced MPI knows.
var missingValue = []obstacleRule{
	{"the parents of the program are not in the trace", func(x *subject) bool {
		p := x.c.Param("parent")
		return x.c.Name() == "MPI_Comm_get_parent" && p != nil && p.Out.Num >= trace.FirstCreatedHandle
	}},
	{"variables of the tools interface are those of one MPI", func(x *subject) bool { return x.foreign && x.def.Has(mpi.AttrTool) }},
	{"numbers of error classes are those of one MPI", func(x *subject) bool {
		return x.foreign && x.target.KeepMPIChosenNumbers && (x.c.Name() == "MPI_Add_error_code" || x.c.Name() == "MPI_Add_error_string")
	}},
	{"whether it gives the same datatypes or copies is up to the MPI", func(x *subject) bool {
		return x.foreign && x.target.KeepMPIChosenNumbers && givesTypes(x.c)
	}},
	{"which request it gave is not in the trace", func(x *subject) bool {
		return x.c.Name() == "MPI_Request_f2c" || x.c.Name() == "MPI_Request_fromint"
	}},
	{"the trace lacks the displacements of its blocks", func(x *subject) bool { return scattered(x.def, x.c) }},
}

// reason returns the reason of the first rule that applies; "" if none does.
func (x *subject) reason(rules []obstacleRule) string {
	for i := range rules {
		if rules[i].applies(x) {
			return rules[i].why
		}
	}
	return ""
}

// ObstacleOf returns the reason why a distinct call can't be made again; "" if it can. from is the flavour of the
// trace's MPI.
func ObstacleOf(c *trace.Call, from string, target TargetMPI) string {
	def, known := mpi.CallNamed(c.Name())
	if !known {
		return "not in the standard that this release knows"
	}
	x := &subject{c: c, def: def, target: target, foreign: target.IsForeignTo(from)}
	if why := x.reason(missingOutcome); why != "" {
		return why
	}
	if def.Has(mpi.AttrPosix) {
		return whyFile(c)
	}
	if why := unrepeatable[strings.TrimSuffix(c.Name(), "_c")]; why != "" {
		return why
	}
	if why := x.reason(missingValue); why != "" {
		return why
	}
	if why := whyParams(c); why != "" {
		return why
	}
	return absolute(c)
}

// whyParams returns the reason why a call with unknown handles or requests can't be made again; "" if it has none.
func whyParams(c *trace.Call) string {
	for i := range c.Params {
		p := &c.Params[i]
		// A null pointer for an object of the tools interface is an error that is repeatable.
		if p.In.Type == trace.TypeMPITObject && (c.Return != 0 || TakesAllPvarHandles(c.Name())) {
			continue
		}
		if why := whyValue(p, &p.In); why != "" {
			return why
		}
		if p.Def.Type == trace.TypeRequest && p.Out.Type == trace.TypeRequest && p.Out.RequestForm == trace.RequestUnknown {
			return unseenRequest
		}
	}
	return ""
}

// scattered reports whether a call lacks the displacements of its blocks, as imports of OTF2 do.
func scattered(def *mpi.Call, c *trace.Call) bool {
	for i := range def.Params {
		x := &def.Params[i].BufferContent
		if x.Displs == "" {
			continue
		}
		counts, displs := c.Param(x.Count), c.Param(x.Displs)
		if counts != nil && displs != nil && len(counts.In.Elems) > 0 && len(displs.In.Elems) == 0 {
			return true
		}
	}
	return false
}

// givesTypes reports whether a call decodes a datatype into datatypes that the program made.
func givesTypes(c *trace.Call) bool {
	if p := c.Param("array_of_datatypes"); p != nil && strings.HasPrefix(c.Name(), "MPI_Type_get_contents") {
		for i := range p.Out.Elems {
			if p.Out.Elems[i].Num >= trace.FirstCreatedHandle {
				return true
			}
		}
	}
	return false
}

// TakesAllPvarHandles reports whether a function accepts MPI_T_PVAR_ALL_HANDLES. An unknown handle in a successful call
// is this constant.
func TakesAllPvarHandles(name string) bool {
	switch name {
	case "MPI_T_pvar_start", "MPI_T_pvar_stop", "MPI_T_pvar_reset":
		return true
	}
	return false
}

const unseenRequest = "a request that was not seen being made"

func whyValue(p *trace.Param, v *trace.Value) string {
	switch v.Type {
	case trace.TypeHandle, trace.TypeMPITObject:
		if v.Num == trace.UnknownHandle && p.Kind() != mpi.KindToolBoundHandle {
			return "a handle that was not seen being made (" + p.Name() + ")"
		}
	case trace.TypeRequest:
		switch v.RequestForm {
		case trace.RequestUnknown:
			return unseenRequest
		case trace.RequestOfOtherThread:
			return "a request of another thread, numbered by what that thread happened to have made"
		}
	case trace.TypeArray:
		for i := range v.Elems {
			if why := whyValue(p, &v.Elems[i]); why != "" {
				return why
			}
		}
	}
	return ""
}
