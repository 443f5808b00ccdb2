package waits

import "github.com/spoor-hpc/spoor/trace"

// A callSite is a function at a call site: the function's number in the trace's schema, and the number of the site in
// the trace. It means the same on all ranks.
type callSite uint64

const placeBits = 32

// Places converts between functions at call sites and their numbers, which are the same on all ranks.
type Places struct {
	schema []*trace.Function
	sites  []trace.Site
	of     map[trace.Site]int
	number map[*trace.Function]int
}

// NewPlaces numbers the places of a trace.
func NewPlaces(r *trace.Reader) (*Places, error) {
	sites, err := r.Sites()
	if err != nil {
		return nil, err
	}
	x := &Places{r.Schema(), sites, make(map[trace.Site]int), make(map[*trace.Function]int)}
	for i, s := range sites {
		x.of[s] = i + 1
	}
	for i, f := range x.schema {
		x.number[f] = i
	}
	return x, nil
}

func (x *Places) place(f *trace.Function, s trace.Site) callSite {
	return callSite(x.number[f])<<placeBits | callSite(x.of[s])
}

// PlaceOf returns a call's place in the form that traces store.
func (x *Places) PlaceOf(f *trace.Function, s trace.Site) trace.FunctionSiteNumbers {
	return x.wait(x.place(f, s))
}

// Site returns the function and call site of a place.
func (x *Places) Site(p trace.FunctionSiteNumbers) trace.FunctionSite { return x.at(x.placeAt(p)) }

func (x *Places) at(p callSite) (at trace.FunctionSite) {
	if n := int(p >> placeBits); n < len(x.schema) {
		at.Function = x.schema[n].Name
	}
	if n := int(p & (1<<placeBits - 1)); n > 0 && n <= len(x.sites) {
		at.Site = x.sites[n-1]
	}
	return at
}
