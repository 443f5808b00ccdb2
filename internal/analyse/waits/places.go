package waits

import "github.com/spoor-hpc/spoor/trace"

// A place is where a function is called: the number of the function in the trace's schema, and that of the site among the
// trace's. It means the same on all ranks.
type place uint64

const placeBits = 32

// places numbers places, and knows those that have numbers.
type places struct {
	schema []*trace.Function
	sites  []trace.Site
	of     map[trace.Site]int
	number map[*trace.Function]int
}

func newPlaces(r *trace.Reader) (*places, error) {
	sites, err := r.Sites()
	if err != nil {
		return nil, err
	}
	x := &places{r.Schema(), sites, make(map[trace.Site]int), make(map[*trace.Function]int)}
	for i, s := range sites {
		x.of[s] = i + 1
	}
	for i, f := range x.schema {
		x.number[f] = i
	}
	return x, nil
}

func (x *places) place(f *trace.Function, s trace.Site) place {
	return place(x.number[f])<<placeBits | place(x.of[s])
}

func (x *places) at(p place) (at trace.FunctionSite) {
	if n := int(p >> placeBits); n < len(x.schema) {
		at.Function = x.schema[n].Name
	}
	if n := int(p & (1<<placeBits - 1)); n > 0 && n <= len(x.sites) {
		at.Site = x.sites[n-1]
	}
	return at
}
