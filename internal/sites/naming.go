package sites

import (
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A Naming determines the names of call sites, and which addresses are the same call site: as compilers copy calls,
// one source line may have several. An address without a line in the debug information is a call site of its own.
type Naming struct {
	Locate calltree.Locator

	first map[line]trace.Site // by line: the lowest address of its calls
	of    map[trace.FunctionSite]trace.FunctionSite
	alone map[frame]trace.Site
	outer map[trace.Site]*trace.Site
	count map[trace.FunctionSite]int // by call site without its callers: number of its addresses
}

// A line is a source line as printed, with the function called there.
type line struct{ function, module, text string }

// A frame is an address in a call stack. function is the MPI function called from there; "" for the frames of
// callers.
type frame struct {
	function string
	at       trace.Site
}

// NamingByAddress returns a naming in which each address is a call site.
func NamingByAddress(where calltree.Locator) *Naming { return &Naming{Locate: where} }

// NamingByLine returns a naming in which addresses are the same call site if the source
// lines of the call and of all its callers are the same.
func NamingByLine(r *trace.Reader, where calltree.Locator) (*Naming, error) {
	s := &Naming{
		Locate: where, first: make(map[line]trace.Site), of: make(map[trace.FunctionSite]trace.FunctionSite), alone: make(map[frame]trace.Site),
		outer: make(map[trace.Site]*trace.Site), count: make(map[trace.FunctionSite]int),
	}
	var frames []frame
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return nil, err
		}
		for t := range k.Terminals() {
			c := k.CallWithoutParams(t)
			function := c.Name()
			for at := &c.Site; at != nil; at = at.Caller {
				f := frame{function, at.WithoutCallers()}
				function = ""
				if _, known := s.alone[f]; known {
					continue
				}
				s.alone[f] = f.at
				frames = append(frames, f)
			}
		}
	}
	lines := make(map[frame]line)
	for _, f := range frames {
		p := where(f.function, f.at)
		if p.Precision < symbolise.PrecisionLine {
			continue
		}
		l := line{f.function, f.at.Module, p.String()}
		lines[f] = l
		if first, known := s.first[l]; !known || f.at.Offset < first.Offset {
			s.first[l] = f.at
		}
	}
	for _, f := range frames {
		if l, known := lines[f]; known {
			s.alone[f] = s.first[l]
		}
		if f.function != "" {
			s.count[trace.FunctionSite{Function: f.function, Site: s.alone[f]}]++
		}
	}
	return s, nil
}

// Representative returns the lowest of the addresses that are the same call site as x.
func (s *Naming) Representative(x trace.FunctionSite) trace.FunctionSite {
	if s == nil || s.alone == nil {
		return x
	}
	return once.GetOrMake(s.of, x, func() trace.FunctionSite {
		for x.Site.Caller != nil {
			if p := s.Locate(x.Function, x.Site); !p.IsStub() {
				break
			}
			x.Site = *x.Site.Caller
		}
		at := s.frame(x.Function, x.Site)
		at.Caller = s.around(x.Site.Caller)
		return trace.FunctionSite{Function: x.Function, Site: at}
	})
}

// around returns the frames of a call's callers, from at outwards. Equal frames give equal pointers.
func (s *Naming) around(at *trace.Site) *trace.Site {
	if at == nil {
		return nil
	}
	one := s.frame("", *at)
	one.Caller = s.around(at.Caller)
	return once.GetOrMake(s.outer, one, func() *trace.Site { return &one })
}

func (s *Naming) frame(function string, at trace.Site) trace.Site {
	f := frame{function, at.WithoutCallers()}
	if one, known := s.alone[f]; known {
		return one
	}
	return f.at
}

// CountAddresses returns the number of addresses that are the same call site as x, regardless of callers. It is 1
// unless the compiler copied the call.
func (s *Naming) CountAddresses(x trace.FunctionSite) int {
	if s == nil {
		return 1
	}
	return max(1, s.count[x.WithoutCallers()])
}
