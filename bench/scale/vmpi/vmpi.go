// Package vmpi is an MPI for virtual ranks. A program runs for one rank at a time as a plain loop, and each of its
// calls becomes the values that the recorder would record. The result is the rank's track, in the form in which the
// merge gets it from a real process.
//
// No message is sent. The program may specify the message that a receive gets; by default it is the one that the
// receive asks for.
package vmpi

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
)

// A Rank is a virtual process: it makes no MPI calls, but records them as a rank of a real run would.
type Rank struct {
	Rank, Size int

	name    string
	sigs    signature.LaneTable
	grammar *grammar.Builder
	prev    uint32
	key     signature.Key
	made    int64 // number of one-shot requests created so far
	comms   int64 // number of communicators created so far
	types   int64 // number of datatypes created so far
	splits  map[int64]int64
	clock   uint64
	load    uint64 // factor by which this rank's calls take longer, in units of 1/64
	calls   uint64
	lane    []int32 // words of key that may be in a lane
	left    []int   // positions in key at which arrays of displacements begin that may be left out
	posted  []int   // positions in key at which statuses begin that follow from their receives, and are left out
	passed  int     // position in key of an array of requests of which some may stay unfinished; 0: the call has no such array
	ended   []int   // indices of the requests that the call completes, in the array of requests at passed
	leaves  signature.RequestArrayState
	sum     uint64
	sites   map[uint64]track.Site
	hashes  map[int]uint64
	paths   *track.TimesByPrevious // histograms of the calls' times; nil: none are kept
}

// Run executes a program as one rank of a world and returns the rank with its recorded calls.
func Run(name string, rank, size int, program func(v *Rank)) *Rank {
	v := newRank(name, rank, size)
	program(v)
	return v
}

// RunTimed is Run that records times as spoor run does with --timing stats or hist.
func RunTimed(name string, rank, size int, mode timing.Mode, program func(v *Rank)) *Rank {
	v := newRank(name, rank, size)
	if mode.HasHistograms() {
		v.paths = track.NewTimesByPrevious(rank, false, true)
	}
	program(v)
	return v
}

func newRank(name string, rank, size int) *Rank {
	v := &Rank{
		Rank: rank, Size: size, name: name, grammar: grammar.NewBuilder(), prev: signature.NoTerminal,
		key: make(signature.Key, signature.KeyHeaderWords, 64), splits: make(map[int64]int64),
		clock: uint64(rank)*0x9e3779b97f4a7c15 + 1, sites: make(map[uint64]track.Site), hashes: make(map[int]uint64),
	}
	v.load = 58 + noise(rank)>>50%13
	return v
}

// Calls returns how many calls the rank made.
func (v *Rank) Calls() uint64 { return v.calls }

// Sum returns a hash of all calls that the rank made, in order, as Mix computes it.
func (v *Rank) Sum() uint64 { return v.sum }

// Mix returns the hash of a sequence of calls, given the hash of the sequence without its last call, and that call.
func Mix(sum uint64, call uint16, vals []int64) uint64 {
	sum = (sum ^ uint64(call)) * 0x9e3779b97f4a7c15
	for _, v := range vals {
		sum = bits.RotateLeft64((sum^uint64(v))*0x9fb21c651e98df25, 29)
	}
	return sum
}

// id returns the number that mpi/calls.txt gives an MPI function.
func id(name string) uint16 {
	c, ok := mpi.CallNamed(name)
	if !ok {
		panic(fmt.Sprintf("vmpi: no call %s", name))
	}
	return c.ID
}

// begin starts the values of a call with its return code, success.
func (v *Rank) begin() {
	v.key, v.lane, v.left, v.posted = append(v.key[:signature.KeyHeaderWords], 0), v.lane[:0], v.left[:0], v.posted[:0]
	v.passed, v.ended = 0, v.ended[:0]
}

// tag adds a value to the call, and notes that the value may be in a lane.
func (v *Rank) tag(tag int64) {
	v.lane = append(v.lane, int32(len(v.key)))
	v.put(tag)
}

func (v *Rank) put(vals ...int64) { v.key = append(v.key, vals...) }

func (v *Rank) buf(b Buf) {
	v.put(b.Segment)
	if b.Segment&7 == 0 {
		v.put(b.Offset) // a special address such as MPI_IN_PLACE never is in a lane
	} else {
		v.tag(b.Offset)
	}
}

// end adds the call with the values in key to the grammar, with pseudorandom times.
func (v *Rank) end(call uint16, site int) {
	v.key.SetHeader(call, v.site(site))
	v.sum = Mix(v.sum, call, v.key.Values())
	for _, at := range v.left {
		n := 1 + int(v.key[at])
		signature.OmitSummedDispls(v.key[at-n:at], v.key[at:at+n])
	}
	v.leaveOut()
	if v.passed > 0 {
		v.leaveRequests()
	}
	n := v.sigs.LookUpOrInsertInLane(v.prev, 0, v.key, func(signature.Key) []int32 { return v.lane })
	v.prev = n
	v.grammar.Append(n)
	v.calls++
	v.clock = v.clock*6364136223846793005 + 1442695040888963407
	t := v.sigs.Times(n)
	duration, gap := (1000+v.clock>>54)*v.load/64, 300+v.clock>>48&1023
	t.Duration.Add(duration)
	t.Gap.Add(gap)
	if v.paths == nil {
		return
	}
	for m := v.paths.TerminalCount(); m <= int(n); m++ {
		k := v.sigs.Key(uint32(m))
		v.paths.AddTerminalSite(k.FunctionID(), k.Site())
	}
	v.paths.Add(n, gap, duration)
}

// leaveOut removes from key the parts of statuses that follow from their receives, as a recorder does.
func (v *Rank) leaveOut() {
	const rest = signature.StatusCancelledPosition
	for i, at := range v.posted {
		at -= i * rest
		v.key[at] += signature.StatusFormImplied - signature.StatusFormFilled
		v.cut(at, rest)
	}
}

// cut removes as many values after key[at] as rest says, and adjusts the positions of later values in lane.
func (v *Rank) cut(at, rest int) {
	v.key = slices.Delete(v.key, at+1, at+1+rest)
	lane := v.lane[:0]
	for _, w := range v.lane {
		switch {
		case int(w) <= at:
			lane = append(lane, w)
		case int(w) > at+rest:
			lane = append(lane, w-int32(rest))
		}
	}
	v.lane = lane
}

// leaveRequests removes the call's array of requests from key if it is as an earlier call left it. A recorder does the
// same.
func (v *Rank) leaveRequests() {
	n := int(v.key[v.passed])
	var requests []int64
	for _, name := range v.key[v.passed+1 : v.passed+1+n] {
		r, _ := signature.RequestOfName(name, v.made)
		requests = append(requests, r)
	}
	leftOut := v.leaves.CanOmitArray(requests, v.made)
	v.leaves.SetPassedArray(requests, v.made, leftOut)
	v.leaves.EndCall(signature.EndedRequests{AreKnown: true, Indices: v.ended})
	if leftOut {
		v.key[v.passed] = signature.LengthFromEarlierCall
		v.cut(v.passed, n)
	}
}

// site returns the hash that identifies the program's n-th call site.
func (v *Rank) site(n int) uint64 {
	if h, ok := v.hashes[n]; ok {
		return h
	}
	s := track.Site{Module: "/home/user/bin/" + v.name, Offset: uint64(0x1180 + 0x4c*n + n*n%7)}
	f := fnv.New64a()
	fmt.Fprint(f, v.name)
	s.BuildID = fmt.Sprintf("%016x%016x%08x", f.Sum64(), f.Sum64()*0x9fb21c651e98df25, uint32(f.Sum64()*31))
	fmt.Fprint(f, n)
	h := f.Sum64() &^ (1 << 63)
	v.sites[h], v.hashes[n] = s, h
	return h
}

// Track returns the rank's recorded calls as the track that a recorder would hand to the merge.
func (v *Rank) Track() *track.Track {
	t := &track.Track{Rank: v.Rank, Strings: map[uint64]string{}, Sites: v.sites}
	folding := v.sigs.Promote([]*grammar.Grammar{v.grammar.Grammar()})
	var order []uint32
	var number []int
	t.Streams, order, number = track.RenumberTerminals(folding.Streams, v.sigs.Len())
	for i, n := range order {
		k := v.sigs.Key(n)
		vals := slices.Clone(k.Values())
		if v.sigs.Lane(n) != nil {
			l, _ := folding.LaneOf(n, i, vals, nil)
			t.Lanes = append(t.Lanes, l)
		}
		t.Signatures = append(t.Signatures, signature.Signature{FunctionID: k.FunctionID(), Site: k.Site(), Values: vals})
		s := *v.sigs.Times(n)
		for _, m := range folding.PlainSignatures(n) {
			number[m] = i
			s.Duration.Merge(v.sigs.Times(m).Duration)
			s.Gap.Merge(v.sigs.Times(m).Gap)
		}
		t.Times = append(t.Times, track.Times{Duration: s.Duration, Gap: s.Gap})
	}
	if v.paths != nil {
		_, t.Hists = v.paths.CoursesAndHists(number)
	}
	// As in a real run, processes differ in start (up to two seconds apart) and end (up to a millisecond apart).
	random := noise(v.Rank)
	start, end := int64(random>>33), int64(60_000_000_000+random>>20&0xfffff)
	t.Process = track.Process{
		Host: fmt.Sprintf("node%04d", v.Rank/64), PID: 20000 + v.Rank%64*3 + int(random>>10&1), EndState: track.EndFinished, Threads: 1,
		StartNs: 1_700_000_000_000_000_000 + start, SpanNs: end - start,
	}
	return t
}

// noise returns a pseudorandom number for a rank, the same in every run.
func noise(rank int) uint64 {
	n := (uint64(rank) + 1) * 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// Handles of reduction operations, as numbers of the standard's ABI.
const (
	Sum = 0x21
	Max = 0x23
)

// A Type is a datatype.
type Type struct{ Handle, Bytes int64 }

// Predefined datatypes.
var (
	Byte    = Type{0x247, 1}
	Int     = Type{0x209, 4}
	Double  = Type{0x214, 8}
	Complex = Type{0x21d, 16}
)

// A Comm is a communicator.
type Comm struct{ Handle int64 }

// World is MPI_COMM_WORLD.
var World = Comm{0x101}

// A Buf is an address as a track has it: the number of a segment, and an offset in bytes.
type Buf struct{ Segment, Offset int64 }

// Heap returns the start of the n-th allocated block.
func Heap(n int64) Buf { return Buf{n<<8 | 1, 0} }

// Static returns an address in the program's static data, offset bytes from its start.
func Static(offset int64) Buf { return Buf{3, offset} }

// Stack returns an address on the main thread's stack, offset bytes below its start.
func Stack(offset int64) Buf { return Buf{4, -offset} }

// InPlace is MPI_IN_PLACE.
var InPlace = Buf{0, 1}

// Plus returns the address that is a number of bytes after b.
func (b Buf) Plus(bytes int64) Buf { return Buf{b.Segment, b.Offset + bytes} }

// A Status is what a receive found.
type Status struct{ Source, Tag, Bytes int64 }

// A Request is a non-blocking operation; the zero value is MPI_REQUEST_NULL.
type Request struct {
	id   int64
	recv bool
	st   Status
	says signature.ReceiveEnvelope // source, tag and size that the receive asks for
}

// Active reports whether the request isn't null.
func (r *Request) Active() bool { return r.id != 0 }

// distance is the request's value in a call now: twice how many request creations ago it was made, from 1; 0 for null.
func (v *Rank) distance(r *Request) int64 {
	if r.id == 0 {
		return 0
	}
	return 2 * (v.made - r.id + 1)
}

func (v *Rank) create(recv bool, st Status, says signature.ReceiveEnvelope) Request {
	v.made++
	v.put(2)
	return Request{v.made, recv, st, says}
}

// status adds the status of a completed operation to the values of the call that completes it.
func (v *Rank) status(recv bool, st Status, says signature.ReceiveEnvelope, ignored bool) {
	switch {
	case !recv:
		v.put(signature.StatusFormOfSend, 0)
	default:
		form := int64(signature.StatusFormFilled)
		if ignored {
			form = signature.StatusFormIgnored
		}
		if says.PredictsStatus(st.Source, st.Tag, st.Bytes, 0) {
			v.posted = append(v.posted, len(v.key))
		}
		v.put(form, st.Source)
		v.tag(st.Tag)
		v.put(st.Bytes, 0)
	}
}

// expected is the status of a receive that gets what it asks for.
func expected(source, tag, bytes int64) Status {
	if source == mpi.ProcNull {
		return Status{mpi.ProcNull, mpi.AnyTag, 0}
	}
	return Status{source, tag, bytes}
}
