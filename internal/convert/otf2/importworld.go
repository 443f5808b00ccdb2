package otf2

// What a tool did not record is not made up, with these exceptions, each of which is counted and
// kept in the trace: where a call needs a datatype, it is MPI_BYTE, with as many of it as bytes were
// moved; communicators that no recorded call made are made by a call of MPI_Comm_create_group
// that takes no time; a started persistent request becomes a non-blocking call.
// Buffers are unknown addresses, handles of which nothing was recorded unknown ones.

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A world is the state shared by all ranks of an archive.
type world struct {
	a       *Archive
	ranks   []*rank
	comms   []*comm
	byID    map[uint32]*comm // by id in the archive
	notes   ops.Losses
	command string               // from the first rank's events; "": none
	first   uint64               // ticks of the first call of any rank
	bounds  bool                 // some rank has a call of MPI_Init or MPI_Finalize
	regions map[uint32]*mpi.Call // by id of a region: the MPI function; nil: a function that is not MPI's
}

// A rank is a process, with the results of the first pass over its events.
type rank struct {
	number  int
	host    string
	threads []uint64 // locations, the main thread first
	first   uint64   // ticks of its first call
	last    uint64
	calls   uint64

	// begun has, by thread, the numbers in outcomes of its operations with requests, in the order of their begin.
	begun            [][]uint32
	makers           []commCreation
	uses             []use // of communicators, in the order of first use
	used             map[uint32]int
	ends             bool   // some completion of a request is recorded
	begins, finished bool   // MPI_Init is recorded; MPI_Finalize is recorded
	off              []bool // by thread: recording was switched off to the end
}

// A commCreation is a call that makes a communicator.
type commCreation struct {
	call *mpi.Call
	comm uint32 // id of the communicator that the call made; Undefined: not recorded
}

// A use is a communicator that a rank uses, and the number of communicator-making calls before the first use.
type use struct {
	comm   uint32
	makers int
}

var errNoRanks = errors.New("no process takes part in MPI: no locations of MPI processes are defined")

// mostRanks is the largest number of processes of a trace.
const mostRanks = 1 << 24

// newWorld determines which locations are the ranks of MPI_COMM_WORLD.
func newWorld(path string) (*world, error) {
	a, err := OpenArchive(path)
	if err != nil {
		return nil, err
	}
	w := &world{a: a, byID: make(map[uint32]*comm), notes: make(ops.Losses), regions: make(map[uint32]*mpi.Call)}
	if a.Clock.Resolution == 0 {
		return nil, fmt.Errorf("%s: its clock is not defined, or does not tick", a.Path)
	}
	if err := w.findRanks(); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Path, err)
	}
	for id, r := range a.Regions {
		if c := function(a.String(r.Name)); c != nil {
			w.regions[id] = c
		}
	}
	if len(w.regions) == 0 {
		return nil, fmt.Errorf("%s: no region has the name of an MPI function", a.Path)
	}
	return w, nil
}

func (w *world) findRanks() error {
	a := w.a
	at := make(map[uint64]int) // by location id: index in Archive.Locations
	for i, l := range a.Locations {
		at[l.ID] = i
	}
	var masters []uint64
	for _, g := range a.Groups {
		if g.Type == GroupTypeCommLocations && ofMPI(g) {
			masters = g.Members
			break
		}
	}
	if len(masters) == 0 {
		masters = w.firstThreads()
	}
	if len(masters) == 0 {
		return errNoRanks
	}
	if len(masters) > mostRanks || len(masters) > len(a.Locations) {
		return fmt.Errorf("%d MPI processes, and %d locations", len(masters), len(a.Locations))
	}
	processes := make(map[uint32]LocationGroup)
	for _, p := range a.LocationGroups {
		processes[p.ID] = p
	}
	of := make(map[uint32]*rank) // by id of a location group, which is a process
	for _, id := range masters {
		i, ok := at[id]
		if !ok {
			return fmt.Errorf("location %d of an MPI process is not defined", id)
		}
		p := a.Locations[i].Group
		if of[p] != nil {
			return fmt.Errorf("process %d is two ranks", p)
		}
		k := &rank{number: len(w.ranks), threads: []uint64{id}, used: make(map[uint32]int)}
		k.host = a.String(a.SystemTreeNodes[processes[p].Node].Name)
		of[p] = k
		w.ranks = append(w.ranks, k)
	}
	others := slices.Clone(a.Locations)
	slices.SortStableFunc(others, func(x, y Location) int { return cmp.Compare(x.ID, y.ID) })
	for _, l := range others {
		switch k := of[l.Group]; {
		case k == nil || l.Type != LocationTypeCPUThread:
			w.notes.Add("locations that are no threads of an MPI process", 1)
		case l.ID != k.threads[0] && !slices.Contains(k.threads, l.ID):
			k.threads = append(k.threads, l.ID)
		}
	}
	return nil
}

// firstThreads returns the first thread of each process, for archives without communicators.
func (w *world) firstThreads() (list []uint64) {
	first := make(map[uint32]uint64)
	for _, l := range w.a.Locations {
		if id, ok := first[l.Group]; l.Type == LocationTypeCPUThread && (!ok || l.ID < id) {
			first[l.Group] = l.ID
		}
	}
	groups := slices.Clone(w.a.LocationGroups)
	slices.SortFunc(groups, func(x, y LocationGroup) int { return cmp.Compare(x.ID, y.ID) })
	for _, p := range groups {
		if id, ok := first[p.ID]; ok && p.Type == LocationGroupTypeProcess && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// function returns the MPI function with a region's name, as spelled in C or Fortran.
func function(name string) *mpi.Call {
	if len(name) < 5 || !strings.EqualFold(name[:4], "MPI_") {
		return nil
	}
	if c, ok := mpi.CallNamed(name); ok {
		return c
	}
	base := strings.ToLower(strings.TrimRight(name[4:], "_"))
	if base == "" {
		return nil
	}
	c, _ := mpi.CallNamed("MPI_" + strings.ToUpper(base[:1]) + base[1:])
	return c
}

// ns converts a number of ticks to ns. It returns 1<<63 - 1 if the result has more than 64 bits.
func (w *world) ns(ticks uint64) uint64 {
	if w.a.Clock.Resolution == 1e9 {
		return ticks
	}
	hi, lo := bits.Mul64(ticks, 1e9)
	if hi >= w.a.Clock.Resolution {
		return 1<<63 - 1
	}
	n, _ := bits.Div64(hi, lo, w.a.Clock.Resolution)
	return n
}

// place adds a source line, or else a function, to the trace's sites. It returns the site's hash; 0: neither is known.
func (r *recorder) place(file string, line uint32, function string) uint64 {
	if file == "" && function == "" {
		return 0
	}
	module, id, offset := model.SourceLineSite(file, line, function)
	if name, at, ok := moduleOffset(file); ok && line == 0 && function == "" {
		module, id, offset = name, "", at
	}
	h := symbol.HashString([]byte(fmt.Sprintf("%s\x00%s\x00%d", module, id, offset)))
	r.out.AddSite(h, track.Site{Module: module, BuildID: id, Offset: offset})
	return h
}

// moduleOffset parses a place without a line in the form of exports: module+0xoffset.
func moduleOffset(s string) (module string, offset uint64, ok bool) {
	i := strings.LastIndex(s, "+0x")
	if i <= 0 {
		return "", 0, false
	}
	n, err := fmt.Sscanf(s[i+1:], "0x%x", &offset)
	return s[:i], offset, n == 1 && err == nil
}
