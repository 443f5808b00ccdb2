package show

import (
	"fmt"
)

// A Loop is a loop of a run as every verb names it. Package calltree finds them.
type Loop struct {
	Function string `json:"function,omitempty"` // that contains it; empty: not known
	Place    string `json:"place,omitempty"`    // file and line, or offset; empty: found by the order of calls
	First    string `json:"first"`              // the first call in it
	Depth    int    `json:"depth"`              // number of loops around it
	Rounds   uint64 `json:"rounds"`             // the most of one entry
	Around   int    `json:"-"`                  // the loop around it, by its place in the list; -1: none
}

func (l *Loop) String() string {
	if l.Place != "" {
		return l.Function + " " + l.Place
	}
	return fmt.Sprintf("%s times: %s", Grouped(l.Rounds), l.First)
}
