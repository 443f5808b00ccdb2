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
	FiguresSource    string         // where its figures come from
	CPUSpeedup       float64        // speed of its cores relative to the traced run's
	CombinePsPerByte float64        // ps for each byte of an operand of a reduction
	Levels           []NetworkLevel // the nearest first

	TracingCost TracingCost
	Collectives []Collective
	Algorithms  string     // of collectives: "" for MPICH's, or OpenMPIAlgorithms
	Files       *FileCosts // nil: not known
}

// OpenMPIAlgorithms selects Open MPI's algorithms of collectives.
const OpenMPIAlgorithms = "openmpi"

// FileCosts is the cost of MPI file operations: a latency for each call, and bandwidths.
type FileCosts struct {
	LatencyPs                                          int64   // ps of each call that reads or writes
	OpenPs                                             int64   // ps of opening or closing; 0: LatencyPs
	SyncPs                                             int64   // ps of MPI_File_sync
	SyncPsPerByte                                      float64 // additional ps for each byte written since; both 0: not known
	ReadPsPerByte, WritePsPerByte, CollectivePsPerByte float64 // ps per byte: of a rank alone, and of all ranks of a collective call together
}

// OpenTime is the time to open or close a file, in ps.
func (f *FileCosts) OpenTime() int64 {
	if f.OpenPs > 0 {
		return f.OpenPs
	}
	return f.LatencyPs
}

// SyncTimeKnown reports whether it is known how long MPI_File_sync takes.
func (f *FileCosts) SyncTimeKnown() bool { return f.SyncPs > 0 || f.SyncPsPerByte > 0 }

// SyncTime returns the time of a sync after a rank has written this many bytes, in ps.
func (f *FileCosts) SyncTime(bytes int64) int64 {
	return f.SyncPs + int64(math.Round(min(longest, float64(bytes)*f.SyncPsPerByte)))
}

// SievedTime is one rank's time to read or write noncontiguous bytes with data sieving. The extent is holes times the
// bytes. All of it is read and, in a write, written back.
func (f *FileCosts) SievedTime(bytes int64, write bool, holes float64) int64 {
	span := int64(min(float64(bytes)*holes, 1<<50))
	t := f.TransferTime(span, false, 1)
	if write {
		t += f.TransferTime(span, true, 1)
	}
	return t
}

// TransferTime is the time in ps of a call in which each of a number of members reads or writes that many bytes.
func (f *FileCosts) TransferTime(bytes int64, write bool, members int) int64 {
	one := f.ReadPsPerByte
	if write {
		one = f.WritePsPerByte
	}
	return f.LatencyPs + int64(math.Round(min(longest, float64(bytes)*max(one, f.CollectivePsPerByte*float64(members)))))
}

// A TracingCost is the overhead of tracing on a machine, in ps per call.
type TracingCost struct {
	Gap  int64 // in the recorded gaps
	Call int64 // in the recorded durations of calls
}

// A Collective is the time of a collective call after the last member has arrived.
type Collective struct {
	Operation meaning.Operation
	Level     string // the nearest level that all members share
	Members   int
	Times     SizeTimeTable // by the bytes that a member passes, or gets from a root
}

// A NetworkLevel is one distance between ranks: they share a core, a socket, a node or a switch.
type NetworkLevel struct {
	Name             string
	RanksSharing     int           // number of ranks in a unit; 0 in the last level, which contains all
	SendOverhead     int64         // core time of the sender for the smallest message
	ReceiveOverhead  int64         // core time of the receiver
	MinGap           int64         // least time between two messages of a sender
	SendOverheads    SizeTimeTable // SendOverhead by size; nil: the same for all
	ReceiveOverheads SizeTimeTable // ReceiveOverhead by size
	Gaps             SizeTimeTable // by size, replacing MinGap and the time of the bytes; nil: none
	EagerLimit       int64         // in bytes: larger messages wait for their receive
	EagerTimes       SizeTimeTable
	RendezvousTimes  SizeTimeTable // without rows: the eager table's times, plus two latencies for the handshake

	// Contention is the relative slowdown of bytes for each other rank that may send over the level at the same time:
	// the ranks of the same unit of the level before, or on the first level the ranks that share it. LogGP has no
	// contention: 0.
	Contention float64
}

// NoEagerLimit is the EagerLimit of a level on which messages of all sizes are eager.
const NoEagerLimit = math.MaxInt64

// Latency is the time in transit of the smallest message, without the overheads at both ends.
func (l *NetworkLevel) Latency() int64 {
	return max(0, l.EagerTimes.OneWay(0)-l.SendOverhead-l.ReceiveOverhead)
}

// EagerTime is the time from the beginning of a send to the end of a receive posted before.
func (l *NetworkLevel) EagerTime(bytes int64) int64 {
	return max(l.EagerTimes.OneWay(bytes), l.SendOverhead+l.ReceiveOverhead, l.sending(bytes))
}

// RendezvousTime is the same time for a message that waits for its receive.
func (l *NetworkLevel) RendezvousTime(bytes int64) int64 {
	if len(l.RendezvousTimes) == 0 {
		return l.EagerTime(bytes) + 2*l.Latency()
	}
	return max(l.RendezvousTimes.OneWay(bytes), l.SendOverhead+l.ReceiveOverhead+l.Latency(), l.sending(bytes))
}

func (l *NetworkLevel) sending(bytes int64) int64 {
	if l.SendOverheads == nil {
		return l.SendOverhead
	}
	return l.SendOverheads.OneWay(bytes)
}

// SenderBusyTime is the time before the sender can begin the next message: the gap, or the time of the message's
// bytes.
func (l *NetworkLevel) SenderBusyTime(bytes int64, rendezvous bool) int64 {
	if l.Gaps != nil {
		return l.Gaps.OneWay(bytes)
	}
	t := l.EagerTimes
	if rendezvous && len(l.RendezvousTimes) > 0 {
		t = l.RendezvousTimes
	}
	return max(l.MinGap, t.OneWay(bytes)-max(0, t.OneWay(0)))
}

// A MessageCost is the cost of a message of some size.
type MessageCost struct {
	SenderCorePs   int64 // core time of the sender
	SenderBusyPs   int64 // from its departure to the earliest departure of the next message
	TravelPs       int64 // from its departure to when the receiver can receive it
	ReceiverCorePs int64 // core time of the receiver; TravelPs and ReceiverCorePs add up to the one-way time
}

// CostOfMessage returns the cost of a message, with the rendezvous or the eager protocol.
func (l *NetworkLevel) CostOfMessage(bytes int64, rendezvous bool) MessageCost {
	c := MessageCost{SenderCorePs: l.sending(bytes), ReceiverCorePs: l.ReceiveOverhead, SenderBusyPs: l.SenderBusyTime(bytes, rendezvous)}
	time, least := int64(0), l.SendOverhead
	if rendezvous {
		time, least = l.RendezvousTime(bytes), least+l.Latency()
	} else {
		time = l.EagerTime(bytes)
	}
	if l.ReceiveOverheads != nil { // the overhead may be most of the one-way time if the receiver copies
		c.ReceiverCorePs = min(l.ReceiveOverheads.OneWay(bytes), max(l.ReceiveOverhead, time-least))
	}
	c.TravelPs = max(0, time-c.ReceiverCorePs)
	return c
}

// Collective returns the time of a collective on a level after all members have arrived; false if no table has it.
// Between tabulated numbers of members it interpolates linearly in the logarithm.
func (m *Machine) Collective(operation meaning.Operation, l *NetworkLevel, members int, bytes int64) (int64, bool) {
	var below, above *Collective
	for i := range m.Collectives {
		c := &m.Collectives[i]
		if c.Operation != operation || c.Level != l.Name {
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
	a, b := below.Times.OneWay(bytes), above.Times.OneWay(bytes)
	if below.Members == above.Members {
		return a, true
	}
	lower := math.Log2(float64(below.Members))
	share := (math.Log2(float64(members)) - lower) / (math.Log2(float64(above.Members)) - lower)
	return a + int64(math.Round(share*float64(b-a))), true
}

// A SizeTimeTable gives times by size. It is linear between its rows and beyond the last one. One-way times rise with
// the size; overheads and gaps need not.
type SizeTimeTable []SizeTime

// A SizeTime is a size in bytes and the time in ps that a message of that size takes one way.
type SizeTime struct{ Bytes, Time int64 }

// longest is the largest time in a table, in ps, so that a sum over a run's messages fits an int64.
const longest = 1e15 // 1,000 s

// OneWay returns the time for a size.
func (t SizeTimeTable) OneWay(bytes int64) int64 {
	switch {
	case len(t) == 0:
		return 0
	case len(t) == 1:
		return t[0].Time
	}
	i := 1
	for i < len(t)-1 && t[i].Bytes < bytes {
		i++
	}
	a, b := t[i-1], t[i]
	slope := float64(b.Time-a.Time) / float64(b.Bytes-a.Bytes)
	if bytes > b.Bytes { // overheads may fall with the size, but not below the last row's
		slope = max(0, slope)
		a = b
	}
	return a.Time + int64(math.Round(max(-float64(a.Time), min(longest, float64(bytes-a.Bytes)*slope))))
}

//go:embed machines/*.toml
var shipped embed.FS

// MachineNames returns the names of the machines that come with the tool.
func MachineNames() []string {
	entries, err := shipped.ReadDir("machines")
	if err != nil {
		panic(err) // embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// MachineFileText returns the file of a machine that comes with the tool.
func MachineFileText(name string) ([]byte, bool) {
	text, err := shipped.ReadFile(path.Join("machines", name+".toml"))
	return text, err == nil
}

// LoadMachine reads a machine by its name, or from a file.
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

// A MachineChange multiplies times of a machine; 1 leaves a time unchanged.
type MachineChange struct {
	Latency  float64 // time of the smallest message without overheads; for rendezvous with the handshake
	Bytes    float64 // additional time of a message's bytes
	Overhead float64 // of sends and receives
	Compute  float64 // computing
}

// WithChange returns a changed copy of the machine. Factors must be at least 0, and Compute greater.
func (m *Machine) WithChange(c MachineChange) *Machine {
	x := *m
	x.CPUSpeedup /= c.Compute
	x.Levels = make([]NetworkLevel, len(m.Levels))
	for i := range m.Levels {
		x.Levels[i] = m.Levels[i].with(c)
	}
	x.Collectives = slices.Clone(m.Collectives)
	for i := range x.Collectives {
		x.Collectives[i].Times = x.Collectives[i].Times.with(0, c)
	}
	return &x
}

func (l NetworkLevel) with(c MachineChange) NetworkLevel {
	overhead := l.SendOverhead + l.ReceiveOverhead
	l.EagerTimes, l.RendezvousTimes = l.EagerTimes.with(overhead, c), l.RendezvousTimes.with(overhead, c)
	l.SendOverhead, l.ReceiveOverhead, l.MinGap = scaled(l.SendOverhead, c.Overhead), scaled(l.ReceiveOverhead, c.Overhead), scaled(l.MinGap, c.Overhead)
	l.SendOverheads, l.ReceiveOverheads, l.Gaps = l.SendOverheads.with(l.SendOverheads.OneWay(0), c), l.ReceiveOverheads.with(l.ReceiveOverheads.OneWay(0), c), l.Gaps.with(l.Gaps.OneWay(0), c)
	return l
}

func (t SizeTimeTable) with(overhead int64, c MachineChange) SizeTimeTable {
	least := t.OneWay(0)
	overhead = min(overhead, least)
	var out SizeTimeTable
	for _, r := range t {
		bytes := max(0, r.Time-least)
		out = append(out, SizeTime{r.Bytes, scaled(overhead, c.Overhead) + scaled(least-overhead, c.Latency) + scaled(bytes, c.Bytes)})
	}
	return out
}

func scaled(time int64, factor float64) int64 {
	return int64(math.Round(min(longest, float64(time)*factor)))
}
