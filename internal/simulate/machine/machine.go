// Package machine describes computers for the simulation of runs, and measures them (CalibrateMachine): distances
// between ranks, times of messages over each distance, and speed of cores.
//
// The model is LogGP (Alexandrov et al., SPAA 1995) with tables in place of one latency and one bandwidth: o is the
// overhead of a message at either end, g the gap between messages. L and G together are the one-way time of a message
// by size, for each of two protocols. The model has no network congestion; Contention makes networks slower by a
// fixed factor.
package machine

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A Machine is the content of a machine file. Times are in ps.
type Machine struct {
	Name             string
	FiguresSource    string         // where the figures come from
	CPUSpeedup       float64        // speed of the cores relative to those of the traced run
	CombinePsPerByte float64        // ps to combine one byte of an operand in a reduction
	Levels           []NetworkLevel // network levels, the nearest first

	TracingCost          TracingCost
	CollectiveTimes      []CollectiveTimes
	CollectiveAlgorithms string     // algorithms of collectives: "" for MPICH's, or OpenMPIAlgorithms
	Files                *FileCosts // nil: costs of operations on files are not known
}

// OpenMPIAlgorithms as Machine.CollectiveAlgorithms selects Open MPI's algorithms of collectives.
const OpenMPIAlgorithms = "openmpi"

// FileCosts is the cost of MPI's operations on files: a latency for each call, and times per byte.
type FileCosts struct {
	LatencyPs     int64   // ps of each call that reads or writes
	OpenPs        int64   // ps of opening or closing; 0: LatencyPs
	SyncPs        int64   // ps of MPI_File_sync
	SyncPsPerByte float64 // additional ps for each byte written since the last sync; this and SyncPs 0: not known
	// ps per byte: of a rank alone, and of all members of a collective call together.
	ReadPsPerByte, WritePsPerByte, CollectivePsPerByte float64
}

// OpenTimePs is the time to open or close a file, in ps.
func (f *FileCosts) OpenTimePs() int64 {
	if f.OpenPs > 0 {
		return f.OpenPs
	}
	return f.LatencyPs
}

// IsSyncTimeKnown reports whether the costs include MPI_File_sync.
func (f *FileCosts) IsSyncTimeKnown() bool { return f.SyncPs > 0 || f.SyncPsPerByte > 0 }

// SyncTimePs returns the time in ps of MPI_File_sync after a rank has written a number of bytes.
func (f *FileCosts) SyncTimePs(bytes int64) int64 {
	return f.SyncPs + int64(math.Round(min(longest, float64(bytes)*f.SyncPsPerByte)))
}

// SievedTimePs returns the time in ps in which one rank reads or writes noncontiguous bytes with data sieving. The
// extent is holes times the bytes. All of it is read and, in a write, written back.
func (f *FileCosts) SievedTimePs(bytes int64, write bool, holes float64) int64 {
	span := int64(min(float64(bytes)*holes, 1<<50))
	t := f.TransferTimePs(span, false, 1)
	if write {
		t += f.TransferTimePs(span, true, 1)
	}
	return t
}

// TransferTimePs returns the time in ps of a call in which each of a number of members reads or writes a number of
// bytes.
func (f *FileCosts) TransferTimePs(bytes int64, write bool, members int) int64 {
	one := f.ReadPsPerByte
	if write {
		one = f.WritePsPerByte
	}
	return f.LatencyPs + int64(math.Round(min(longest, float64(bytes)*max(one, f.CollectivePsPerByte*float64(members)))))
}

// A TracingCost is what tracing adds to the recorded times on a machine, in ps per call.
type TracingCost struct {
	GapPs  int64 // added to each gap
	CallPs int64 // added to each call's duration
}

// A CollectiveTimes is the time that a collective call takes after the last member has arrived, as measured.
type CollectiveTimes struct {
	Operation meaning.CollectiveOperation
	LevelName string // name of the nearest network level that all members share
	Members   int
	Times     SizeTimeTable // by size: the bytes that a member passes, or gets from a root
}

// A NetworkLevel is one distance between ranks, and the times of messages over it in ps. Ranks at this distance share
// a core, a socket, a node or a switch.
type NetworkLevel struct {
	Name string
	// Number of ranks in a unit of the level (e.g. a node); 0 in the last level, which contains all ranks.
	RanksPerUnit      int
	SendOverheadPs    int64         // core time of the sender, for the smallest message
	ReceiveOverheadPs int64         // core time of the receiver, for the smallest message
	MinGapPs          int64         // least time between two messages of a sender
	SendOverheads     SizeTimeTable // SendOverhead by size; nil: the same for all sizes
	ReceiveOverheads  SizeTimeTable // ReceiveOverhead by size; nil: the same for all sizes
	// By size: time between two messages of a sender. nil: it is MinGapPs or the time of the bytes, whichever is larger.
	Gaps            SizeTimeTable
	EagerLimitBytes int64 // size in bytes above which messages wait for their receive
	EagerTimes      SizeTimeTable
	RendezvousTimes SizeTimeTable // without rows: times in EagerTimes plus two latencies for the handshake

	// Contention is the relative slowdown of a message's bytes for each other rank that may send over the level at
	// the same time. These ranks are those in one unit of the next nearer level; on the nearest level, those that
	// share it. LogGP has no contention: 0.
	Contention float64
}

// NoEagerLimit is the EagerLimit of a level on which messages of all sizes are eager.
const NoEagerLimit = math.MaxInt64

// LatencyPs returns the time in transit of the smallest message in ps, without the overheads at both ends.
func (l *NetworkLevel) LatencyPs() int64 {
	return max(0, l.EagerTimes.TimePs(0)-l.SendOverheadPs-l.ReceiveOverheadPs)
}

// EagerTimePs returns the ps from the beginning of a send to the end of its receive, if that was posted before.
func (l *NetworkLevel) EagerTimePs(bytes int64) int64 {
	return max(l.EagerTimes.TimePs(bytes), l.SendOverheadPs+l.ReceiveOverheadPs, l.sending(bytes))
}

// RendezvousTimePs returns what EagerTimePs does for a message that waits for its receive.
func (l *NetworkLevel) RendezvousTimePs(bytes int64) int64 {
	if len(l.RendezvousTimes) == 0 {
		return l.EagerTimePs(bytes) + 2*l.LatencyPs()
	}
	return max(l.RendezvousTimes.TimePs(bytes), l.SendOverheadPs+l.ReceiveOverheadPs+l.LatencyPs(), l.sending(bytes))
}

func (l *NetworkLevel) sending(bytes int64) int64 {
	if l.SendOverheads == nil {
		return l.SendOverheadPs
	}
	return l.SendOverheads.TimePs(bytes)
}

// SenderBusyTimePs returns the ps before the sender can begin the next message: the gap, or the time of the message's
// bytes.
func (l *NetworkLevel) SenderBusyTimePs(bytes int64, rendezvous bool) int64 {
	if l.Gaps != nil {
		return l.Gaps.TimePs(bytes)
	}
	t := l.EagerTimes
	if rendezvous && len(l.RendezvousTimes) > 0 {
		t = l.RendezvousTimes
	}
	return max(l.MinGapPs, t.TimePs(bytes)-max(0, t.TimePs(0)))
}

// A MessageCost is the cost of a message of some size on a network level, in ps.
type MessageCost struct {
	SenderCorePs   int64 // core time of the sender
	SenderBusyPs   int64 // from the message's departure to the earliest departure of the next one
	TravelPs       int64 // from the message's departure to when the receiver can receive it
	ReceiverCorePs int64 // core time of the receiver; TravelPs and ReceiverCorePs add up to the one-way time
}

// CostOfMessage returns the cost of a message, with the rendezvous or the eager protocol.
func (l *NetworkLevel) CostOfMessage(bytes int64, rendezvous bool) MessageCost {
	c := MessageCost{SenderCorePs: l.sending(bytes), ReceiverCorePs: l.ReceiveOverheadPs, SenderBusyPs: l.SenderBusyTimePs(bytes, rendezvous)}
	time, least := int64(0), l.SendOverheadPs
	if rendezvous {
		time, least = l.RendezvousTimePs(bytes), least+l.LatencyPs()
	} else {
		time = l.EagerTimePs(bytes)
	}
	if l.ReceiveOverheads != nil { // the overhead may be most of the one-way time, if the receiver copies the bytes
		c.ReceiverCorePs = min(l.ReceiveOverheads.TimePs(bytes), max(l.ReceiveOverheadPs, time-least))
	}
	c.TravelPs = max(0, time-c.ReceiverCorePs)
	return c
}

// CollectiveTimePs returns the ps that a collective takes on a network level after all members have arrived; false if no
// table has it. Between numbers of members in tables it interpolates linearly in their logarithm.
func (m *Machine) CollectiveTimePs(operation meaning.CollectiveOperation, l *NetworkLevel, members int, bytes int64) (int64, bool) {
	var below, above *CollectiveTimes
	for i := range m.CollectiveTimes {
		c := &m.CollectiveTimes[i]
		if c.Operation != operation || c.LevelName != l.Name {
			continue
		}
		if c.Members <= members && (below == nil || c.Members > below.Members) {
			below = c
		}
		if c.Members >= members && (above == nil || c.Members < above.Members) {
			above = c
		}
	}
	if below == nil || above == nil {
		return 0, false
	}
	a, b := below.Times.TimePs(bytes), above.Times.TimePs(bytes)
	if below.Members == above.Members {
		return a, true
	}
	lower := math.Log2(float64(below.Members))
	share := (math.Log2(float64(members)) - lower) / (math.Log2(float64(above.Members)) - lower)
	return a + int64(math.Round(share*float64(b-a))), true
}

// A SizeTimeTable gives times by message size. It is linear between its rows and beyond the last one. One-way times
// rise with the size; overheads and gaps need not.
type SizeTimeTable []SizeTime

// A SizeTime is a message size in bytes, and a time in ps for messages of that size.
type SizeTime struct{ Bytes, TimePs int64 }

// longest is the largest time in a table, in ps, so that a sum over a run's messages fits an int64.
const longest = 1e15 // 1,000 s

// TimePs returns the time in ps for a size.
func (t SizeTimeTable) TimePs(bytes int64) int64 {
	switch {
	case len(t) == 0:
		return 0
	case len(t) == 1:
		return t[0].TimePs
	}
	i := 1
	for i < len(t)-1 && t[i].Bytes < bytes {
		i++
	}
	a, b := t[i-1], t[i]
	slope := float64(b.TimePs-a.TimePs) / float64(b.Bytes-a.Bytes)
	if bytes > b.Bytes { // times may fall with the size, but not below the last row's
		slope = max(0, slope)
		a = b
	}
	return a.TimePs + int64(math.Round(max(-float64(a.TimePs), min(longest, float64(bytes-a.Bytes)*slope))))
}

//go:embed machines/*.toml
var shipped embed.FS

// MachineNames returns the names of the machines that come with the tool.
func MachineNames() []string {
	entries, err := shipped.ReadDir("machines")
	if err != nil {
		panic(err) // can't fail: the files are embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// MachineFileText returns the text of the file of a machine that comes with the tool; false if there is no such
// machine.
func MachineFileText(name string) ([]byte, bool) {
	text, err := shipped.ReadFile(path.Join("machines", name+".toml"))
	return text, err == nil
}

// LoadMachine reads a machine that comes with the tool, by its name, or else a machine file.
func LoadMachine(name string) (*Machine, error) {
	if text, ok := MachineFileText(name); ok {
		return ParseMachine(name, text)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/.") {
		return nil, fmt.Errorf("no machine %q: a file, or one of %s", name, strings.Join(MachineNames(), ", "))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	return ParseMachine(name, text)
}

// A MachineChange is factors for times of a machine; 1 leaves a time unchanged.
type MachineChange struct {
	LatencyFactor  float64 // for the time of the smallest message without overheads; with rendezvous also the handshake
	ByteTimeFactor float64 // for the additional time of a message's bytes
	OverheadFactor float64 // for the overheads of sends and receives, and the least gap
	ComputeFactor  float64 // for the time of computation
}

// WithChange returns a changed copy of the machine. Factors must be at least 0, and Compute more than 0.
func (m *Machine) WithChange(c MachineChange) *Machine {
	x := *m
	x.CPUSpeedup /= c.ComputeFactor
	x.Levels = make([]NetworkLevel, len(m.Levels))
	for i := range m.Levels {
		x.Levels[i] = m.Levels[i].with(c)
	}
	x.CollectiveTimes = slices.Clone(m.CollectiveTimes)
	for i := range x.CollectiveTimes {
		x.CollectiveTimes[i].Times = x.CollectiveTimes[i].Times.with(0, c)
	}
	return &x
}

func (l NetworkLevel) with(c MachineChange) NetworkLevel {
	overhead := l.SendOverheadPs + l.ReceiveOverheadPs
	l.EagerTimes, l.RendezvousTimes = l.EagerTimes.with(overhead, c), l.RendezvousTimes.with(overhead, c)
	l.SendOverheadPs, l.ReceiveOverheadPs, l.MinGapPs = scaled(l.SendOverheadPs, c.OverheadFactor), scaled(l.ReceiveOverheadPs, c.OverheadFactor), scaled(l.MinGapPs, c.OverheadFactor)
	l.SendOverheads, l.ReceiveOverheads, l.Gaps = l.SendOverheads.with(l.SendOverheads.TimePs(0), c), l.ReceiveOverheads.with(l.ReceiveOverheads.TimePs(0), c), l.Gaps.with(l.Gaps.TimePs(0), c)
	return l
}

func (t SizeTimeTable) with(overhead int64, c MachineChange) SizeTimeTable {
	least := t.TimePs(0)
	overhead = min(overhead, least)
	var out SizeTimeTable
	for _, r := range t {
		bytes := max(0, r.TimePs-least)
		out = append(out, SizeTime{r.Bytes, scaled(overhead, c.OverheadFactor) + scaled(least-overhead, c.LatencyFactor) + scaled(bytes, c.ByteTimeFactor)})
	}
	return out
}

func scaled(time int64, factor float64) int64 {
	return int64(math.Round(min(longest, float64(time)*factor)))
}
