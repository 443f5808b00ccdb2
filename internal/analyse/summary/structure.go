package summary

import "github.com/spoor-hpc/spoor/trace"

// A Structure is how much of the calls the program's own functions and loops explain. A function or loop that is reached from
// several places counts once for each.
type Structure struct {
	Functions int   `json:"functions"`
	Loops     int   `json:"loops"`
	Placed    int64 `json:"placed_calls"`
}

// structure begins the count; nil if the trace has no section code.
func (s *Summary) structure(r *trace.Reader) (*trace.Code, error) {
	code, err := r.Code()
	if code == nil || err != nil {
		return nil, err
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
	return code, nil
}

// place counts calls of a rank that have a vertex.
func (s *Summary) place(code *trace.Code, k *trace.Rank, terminal int, count uint64) {
	if k.Vertex(code, terminal) >= 0 {
		s.Structure.Placed += int64(count)
	}
}
