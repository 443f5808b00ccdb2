package trace

import (
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Check decodes a whole trace and returns the first error that it finds. It is stricter than reading: it decodes
// everything for every rank, and compares numbers that must agree.
func Check(r *Reader) error {
	_, err := CheckCountingRanks(r)
	return err
}

// A few bytes of a damaged file may claim that a million ranks made a thousand distinct calls each. Therefore the
// number of decoded calls is limited in proportion to the file's size.
const (
	checkEach  = 64      // distinct calls decoded per byte of the file, over all ranks
	checkSlack = 1 << 18 // distinct calls decoded in addition, however small the file is
)

// CheckCountingRanks is like Check, and also returns on how many ranks it decoded distinct calls. These are all ranks with a
// track, unless that is too many calls for the file's size. Then they are spread evenly over each class.
func CheckCountingRanks(r *Reader) (ranks int, err error) {
	if err := r.checkTables(); err != nil {
		return 0, err
	}
	size, calls := int64(0), int64(0)
	for i := range r.sections {
		size += r.sections[i].StoredSize
	}
	for n, members := range r.members {
		c, err := r.classAt(n)
		if err != nil {
			return 0, err
		}
		calls += int64(members) * int64(len(c.Terminals)+1)
	}
	each := 1 + int32(calls/(checkEach*size+checkSlack)) // every each-th rank of a class is checked, and its last one
	places := r.places()
	for rank, n := range places.ClassOfRank {
		if n < 0 || places.IndexInClass[rank]%each > 0 && int(places.IndexInClass[rank]) != r.members[n]-1 {
			continue
		}
		ranks++
		if err := r.checkRank(rank); err != nil {
			return 0, err
		}
	}
	_, err = r.procs()
	return ranks, err
}

// checkTables checks the sections that do not belong to single ranks.
func (r *Reader) checkTables() error {
	if err := r.checkTimeless(); err != nil {
		return err
	}
	if _, err := r.Clocks(); err != nil {
		return err
	}
	if _, err := r.handovers(); err != nil {
		return err
	}
	if _, err := r.allocs(); err != nil {
		return err
	}
	if _, err := r.Code(); err != nil {
		return err
	}
	if _, err := r.Waits(); err != nil {
		return err
	}
	if _, err := r.When(); err != nil {
		return err
	}
	if _, err := r.MergedSizes(); err != nil {
		return err
	}
	if _, err := r.SyntheticLoops(); err != nil {
		return err
	}
	if _, err := r.SyntheticMessages(); err != nil {
		return err
	}
	r.ahead(container.SectionSites, container.SectionSignatures, container.SectionClasses, container.SectionColumns)
	for i := range r.sections {
		s := &r.sections[i]
		if s.Codec == container.CodecRaw {
			if err := s.VerifyChecksum(r.src); err != nil {
				return r.failed(s.ID, err)
			}
			continue
		}
		if _, err := r.load(s); err != nil {
			return r.failed(s.ID, err)
		}
	}
	t, err := r.tables()
	if err != nil {
		return err
	}
	if err := r.checkSignatures(t); err != nil {
		return err
	}
	for n := range r.Classes() {
		if err := r.checkClass(n); err != nil {
			return err
		}
	}
	return nil
}

// checkSignatures returns an error if the tables of signatures and functions have an entry that no class refers to.
func (r *Reader) checkSignatures(t *tables) error {
	terminals := 0
	for n := range r.Classes() {
		c, err := r.common(t, n)
		if err != nil {
			return err
		}
		terminals += len(c.Signatures)
	}
	if t.sigs.SignatureCount > terminals || t.sigs.DistinctCalls > terminals {
		return r.failed(container.SectionSignatures, fmt.Errorf("%d signatures, %d of them with stacks, of %d calls: %w", t.sigs.SignatureCount, t.sigs.DistinctCalls, terminals, ErrFormat))
	}
	used, called := make([]bool, t.sigs.SignatureCount), make([]bool, t.sigs.DistinctCalls)
	functions := make(map[uint16]bool)
	for n := range r.Classes() {
		c, err := r.common(t, n)
		if err != nil {
			return err
		}
		for _, s := range c.Signatures {
			g, _, _ := t.sigs.DistinctCall(s)
			called[s], used[t.sigs.SignatureOfCall(s)] = true, true
			functions[g.FunctionID] = true
		}
	}
	if s := slices.Index(called, false); s >= 0 {
		return r.failed(container.SectionSignatures, fmt.Errorf("no class has call %d: %w", s, ErrFormat))
	}
	for s, ok := range used {
		if !ok {
			return r.failed(container.SectionSignatures, fmt.Errorf("no class has signature %d: %w", s, ErrFormat))
		}
	}
	for _, f := range r.schema {
		if !functions[f.ID] {
			return r.failed(container.SectionSchema, fmt.Errorf("function %s does not occur: %w", f.Name, ErrFormat))
		}
	}
	return nil
}

// checkClass compares the statistics of class n with the numbers of its calls.
func (r *Reader) checkClass(n int) error {
	c, err := r.classAt(n)
	if err != nil {
		return err
	}
	times, hists, err := r.timesOf(n)
	if err != nil {
		return err
	}
	calls, err := r.calls(n, c)
	if err != nil {
		return err
	}
	if err := r.checkHistograms(n, hists, calls); err != nil {
		return err
	}
	if _, err := r.placed(n); err != nil {
		return err
	}
	if _, err := r.mixed(n, len(c.Terminals)); err != nil {
		return err
	}
	if err := r.checkPlacedValues(n, c); err != nil {
		return err
	}
	if err := r.checkTotals(n, times); err != nil {
		return err
	}
	values, err := r.AttachedStats(n)
	if err != nil {
		return err
	}
	if err := r.checkRankValues(n, values); err != nil {
		return err
	}
	for name, list := range values {
		for i, s := range list {
			slack := 1 + 1e-9*math.Max(math.Abs(float64(s.Min)), math.Abs(float64(s.Max)))
			out := s.Mean() < float64(s.Min)-slack || s.Mean() > float64(s.Max)+slack
			if s.Count > 0 && out && s.Sum != math.MaxInt64 && s.Sum != math.MinInt64 {
				return r.failed(container.SectionAttachedValues, fmt.Errorf("class %d: terminal %d: %s from %d to %d with the sum %d: %w", n, i, name, s.Min, s.Max, s.Sum, ErrFormat))
			}
		}
	}
	for i, t := range times {
		for _, s := range []Stat{t.Duration, t.Gap} {
			if err := sections.CheckStat(s, calls[i]); err != nil {
				return r.failed(container.SectionTimes, fmt.Errorf("class %d: terminal %d: %w: %w", n, i, err, ErrFormat))
			}
		}
		for _, s := range []Spread{t.SiteDurationTotals, t.SiteGapTotals} {
			if err := checkSpread(s); err != nil {
				return r.failed(container.SectionTimes, fmt.Errorf("class %d: terminal %d: %w: %w", n, i, err, ErrFormat))
			}
		}
	}
	return nil
}

// checkSpread returns an error if the mean of the ranks' totals isn't between the least and the largest of them.
func checkSpread(s Spread) error {
	if m := s.Mean(); s.Ranks > 0 && (float64(s.Min) > m+1 || float64(s.Max) < m-1) {
		return fmt.Errorf("ranks' totals from %d to %d have the mean %.0f", s.Min, s.Max, m)
	}
	return nil
}

// checkRank decodes every distinct call of a rank, and compares the numbers of calls by sum with the streams' lengths.
func (r *Reader) checkRank(rank int) error {
	k, err := r.Rank(rank)
	if err != nil {
		return err
	}
	calls, err := k.DistinctCalls()
	if err != nil {
		return err
	}
	for i, c := range calls {
		if err := checkCall(c); err != nil {
			return r.failed(container.SectionSignatures, fmt.Errorf("rank %d: terminal %d: %s: %w: %w", rank, i, c.Name(), err, ErrFormat))
		}
	}
	for stream := range k.Streams() {
		n := k.CallCount(stream)
		sum := uint64(0)
		for _, c := range k.TerminalCounts(stream) {
			sum += c
		}
		if sum != n {
			return r.failed(container.SectionClasses, fmt.Errorf("rank %d: stream %d: %d calls by sum, %d by length: %w", rank, stream, sum, n, ErrFormat))
		}
	}
	return k.checkSeries()
}

// checkCall finds values that decode but are impossible.
func checkCall(c *Call) error {
	for i := range c.Params {
		p := &c.Params[i]
		for _, v := range []*Value{&p.In, &p.Out} {
			if err := checkValue(v); err != nil {
				return fmt.Errorf("parameter %s: %w", p.Name(), err)
			}
		}
	}
	if n := c.NewComm; n != nil && (n.Rank < -1 || n.Rank >= n.Size) {
		return fmt.Errorf("rank %d in a communicator of %d", n.Rank, n.Size)
	}
	return nil
}

func checkValue(v *Value) error {
	switch v.Type {
	case TypeNone, TypeInt, TypeTime, TypeRequest, TypeMPITObject, TypeFunctionRef, TypeString, TypeStatus: // can't be invalid
	case TypeHandle:
		if v.Num < UnknownHandle {
			return fmt.Errorf("handle %d", v.Num)
		}
	case TypeAddress:
		if v.Addr.ID < 0 {
			return fmt.Errorf("segment %d", v.Addr.ID)
		}
	case TypeArray:
		for i := range v.Elems {
			if err := checkValue(&v.Elems[i]); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("value of type %d", v.Type)
	}
	return nil
}
