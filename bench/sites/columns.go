package main

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// listColumns prints which columns are kept when all is looked for, how many numbers they have, and what they take each for itself.
func listColumns(w io.Writer, r *trace.Reader) error {
	give := ways[len(ways)-1].give
	trees, err := treesOf(r, give.requests)
	if err != nil {
		return err
	}
	packed := func(raw []byte) int {
		b, _ := container.Pack(container.Columns, raw)
		return len(b)
	}
	fmt.Fprintf(w, "%8d  shape\n", packed(encode(trees, give).shape))
	for _, t := range trees {
		f := newFitter(t, give)
		for n := range t.nodes {
			if t.nodes[n].kind.column() {
				if m := f.fit(n); m.way == kept {
					numbers := 0
					lists := f.lists(n, &m)
					for _, list := range lists {
						numbers += len(list)
					}
					fmt.Fprintf(w, "%8d  %s: %d numbers\n", packed(keep(lists)), t.name(n), numbers)
				}
			}
			f.known(n)
		}
	}
	return nil
}

// name says what a node is.
func (t *tree) name(n int) string {
	if t.nodes[n].kind == loop {
		for place := range t.sites {
			if t.sites[place].call > n {
				return fmt.Sprintf("rounds of the loop that begins with %s", t.sites[place].function.Name)
			}
		}
	}
	name := ""
	for place := range t.sites {
		s := &t.sites[place]
		if s.call > n {
			break
		}
		name = s.function.Name
		for _, p := range s.parts {
			if len(p.nodes) > 0 && p.nodes[0] <= n && p.param >= 0 && p.param != signature.Made {
				name = s.function.Name + ", " + s.function.Params[p.param].Name
			}
		}
	}
	return name + map[kind]string{call: ", whether it is called", status: ", form", option: ", whether it is there", list: ", length"}[t.nodes[n].kind]
}
