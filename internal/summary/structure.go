package summary

import "github.com/spoor-hpc/spoor/trace"

// A Structure is how much of the calls the program's own functions and loops explain. A function or loop that is reached from
// several places counts once for each.
type Structure struct {
	Functions int   `json:"functions"`
	Loops     int   `json:"loops"`
	Placed    int64 `json:"placed_calls"`
}

// A placer finds calls in section code.
type placer struct {
	code    *trace.Code
	numbers map[trace.Site]int
}

// structure begins the count; nil if the trace has no section code.
func (s *Summary) structure(r *trace.Reader) (*placer, error) {
	code, err := r.Code()
	if code == nil || err != nil {
		return nil, err
	}
	sites, err := r.Sites()
	if err != nil {
		return nil, err
	}
	p := &placer{code, make(map[trace.Site]int, len(sites))}
	for i, site := range sites {
		p.numbers[site] = i
	}
	s.Structure = &Structure{}
	for i := range code.Vertices {
		switch code.Vertices[i].Kind {
		case trace.FunctionVertex:
			s.Structure.Functions++
		case trace.LoopVertex:
			s.Structure.Loops++
		}
	}
	return p, nil
}

// place counts calls of a function from a site if these have a vertex.
func (s *Summary) place(p *placer, function uint16, site trace.Site, count uint64) {
	if n, known := p.numbers[site]; known && p.code.Vertex(function, n) >= 0 {
		s.Structure.Placed += int64(count)
	}
}
