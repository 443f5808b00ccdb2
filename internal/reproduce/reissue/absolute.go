package reissue

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Some numbers in a trace are addresses of the recorded process, which the program passed as displacements: in
// datatypes used with MPI_BOTTOM, and in dynamic windows, where they are another process's addresses. The use and the
// size of a number decide whether it is such an address.
const (
	far     = 1 << 40 // real displacements, in bytes, are smaller; addresses of programs are larger
	farther = 1 << 47 // no process has memory above
)

// Reasons why calls can't be made again whose displacements are addresses of the recorded process. A caller that
// reserves memory at these addresses, see AddressWindows, overcomes both.
const (
	absoluteType   = "displacements that are addresses of the original process"
	absoluteTarget = "a displacement that is an address of the original process"
)

// IsAddressObstacle reports whether an obstacle's reason is that numbers are addresses of the recorded process.
func (o Obstacle) IsAddressObstacle() bool { return IsAddressReason(o.Reason) }

// IsAddressReason reports whether a reason is absoluteType or absoluteTarget.
func IsAddressReason(reason string) bool { return reason == absoluteType || reason == absoluteTarget }

// IsAbsolute reports whether those numbers of parameter p of call c for which IsAddress holds are addresses of the
// recorded process.
func IsAbsolute(c *trace.Call, p *trace.Param) bool {
	return p.Name() == "target_disp" ||
		c.NewType != nil && IsAddress(c.NewType.TrueLowerBound) && (p.Kind() == mpi.KindAint || p.Kind() == mpi.KindDisp)
}

// IsAddress reports whether a displacement is so large that it must be an address.
func IsAddress(n int64) bool { return n > far && n < farther }

// absolute returns the reason why a call can't be made again that has addresses of the recorded process as
// displacements; "" if it can.
func absolute(c *trace.Call) string {
	if p := c.Param("target_disp"); p != nil && (p.In.Num > far || p.In.Num < -far) {
		return absoluteTarget
	}
	if !c.Func.Has(trace.AttrCreatesType) {
		return ""
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Kind() != mpi.KindAint && p.Kind() != mpi.KindDisp {
			continue
		}
		for j := range p.In.Elems {
			switch v := p.In.Elems[j].Num; {
			case IsAddress(v) && IsAbsolute(c, p):
				return absoluteType
			case v > far || v < -far:
				return "displacements from one piece of the original process's memory to another"
			}
		}
	}
	return ""
}

// An AddressWindow is 4 GiB of a recorded process's address space. Its value is the upper 32 bits of the addresses in
// it.
type AddressWindow int64

// AddressWindowOf returns the window of an address, and the address's offset in it in bytes.
func AddressWindowOf(address int64) (w AddressWindow, offset int64) {
	return AddressWindow(address >> 32), address & (1<<32 - 1)
}

// AddressWindows returns the windows of all addresses that ranks use as displacements, of any process, in rising
// order. It reads the distinct calls of all ranks.
func AddressWindows(r *trace.Reader) ([]AddressWindow, error) {
	found := make(map[AddressWindow]bool)
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		calls, err := k.DistinctCalls()
		if err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		for _, c := range calls {
			for i := range c.Params {
				noteWindows(found, c, &c.Params[i])
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// mostWindows is the largest number of windows for which memory can be reserved.
const mostWindows = 4096

// WithoutAddressObstacles returns the obstacles that remain when memory is reserved for recorded addresses, and the
// windows that need it.
func WithoutAddressObstacles(r *trace.Reader, list []Obstacle) ([]Obstacle, []AddressWindow, error) {
	if !slices.ContainsFunc(list, Obstacle.IsAddressObstacle) {
		return list, nil, nil
	}
	windows, err := AddressWindows(r)
	if err != nil || len(windows) > mostWindows {
		return list, nil, err
	}
	return slices.DeleteFunc(list, Obstacle.IsAddressObstacle), windows, nil
}

func noteWindows(found map[AddressWindow]bool, c *trace.Call, p *trace.Param) {
	note := func(v *trace.Value) {
		if v.Type == trace.TypeInt && IsAddress(v.Num) && IsAbsolute(c, p) {
			w, _ := AddressWindowOf(v.Num)
			found[w] = true
		}
	}
	note(&p.In)
	for i := range p.In.Elems {
		note(&p.In.Elems[i])
	}
}

// lowTypes says, by the number of a datatype's handle, whether IsAddress holds for the lower bound of no type with
// this number. Used with MPI_BOTTOM, such a type contains addresses of a program that is loaded at low addresses.
type lowTypes map[int64]bool

func lowTypesOf(calls []*trace.Call) lowTypes {
	low := make(lowTypes)
	for _, c := range calls {
		for i := range c.Params {
			if p := &c.Params[i]; c.NewType != nil && p.Kind() == mpi.KindDatatype && p.Out.Type == trace.TypeHandle {
				before, known := low[p.Out.Num]
				low[p.Out.Num] = !IsAddress(c.NewType.TrueLowerBound) && c.NewType.TrueExtent > 0 && (before || !known)
			}
		}
	}
	return low
}

// why returns the reason why a call can't be made again that uses MPI_BOTTOM with a datatype for which low is true;
// "" if it can.
func (low lowTypes) why(c *trace.Call) string {
	for i := range c.Params {
		b := &c.Params[i]
		if b.Kind() != mpi.KindBuffer || b.In.Type != trace.TypeAddress || b.In.Addr.Class != trace.AddressSpecial || b.In.Addr.Offset != trace.SpecialNull {
			continue
		}
		if i+2 < len(c.Params) && c.Params[i+1].In.Type == trace.TypeInt && c.Params[i+1].In.Num > 0 && low[c.Params[i+2].In.Num] &&
			c.Params[i+2].Kind() == mpi.KindDatatype {
			return "MPI_BOTTOM with a datatype of low addresses of the original process"
		}
	}
	return ""
}
