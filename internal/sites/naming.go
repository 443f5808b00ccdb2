package sites

import (
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A Naming determines the names of call sites, and which addresses are one: compilers copy calls, so that one
// source line has several addresses. An address without a line in the debug information is a call site of its own.
type Naming struct {
	Locate calltree.Locator

	first map[line]trace.Site // by line: its lowest address
	of    map[trace.FunctionSite]trace.FunctionSite
	alone map[frame]trace.Site
	outer map[trace.Site]*trace.Site
	count map[trace.FunctionSite]int // number of addresses of each call site, regardless of its callers
}

// A line is a source line as printed, with the function called there.
type line struct{ function, module, text string }

// A frame is an address with the function called from it; "" for frames around the call.
type frame struct {
	function string
	at       trace.Site
}

// NamingByAddress returns a naming in which each address is a call site.
func NamingByAddress(where calltree.Locator) *Naming { return &Naming{Locate: where} }

// NamingByLine returns a naming in which the addresses of one source line in one call path are one call site.
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

// Representative returns the call site with the lowest address, of those that are one with x.
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

// around returns the frames around a call, with equal pointers for equal frames.
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

// CountAddresses counts the addresses that are one call site, regardless of callers: 1, unless the compiler copied the
// call.
func (s *Naming) CountAddresses(x trace.FunctionSite) int {
	if s == nil {
		return 1
	}
	return max(1, s.count[x.WithoutCallers()])
}
