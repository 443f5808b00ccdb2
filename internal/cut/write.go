package cut

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/trace"
)

// Write writes the part to a file, with what the trace knows of the program's code.
func (p *Part) Write(path string, overwrite bool) error {
	if err := sections.WriteFile(path, p.Content, overwrite); err != nil || p.code == nil {
		return err
	}
	r, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	sites, err := r.Sites()
	if err != nil {
		return err
	}
	number := make(map[trace.Site]int, len(sites))
	for i, s := range sites {
		number[s] = i
	}
	code := *p.code
	code.Contexts = nil
	for _, c := range p.code.Contexts {
		if n, here := number[p.sites[c.Site]]; here {
			c.Site = n
			code.Contexts = append(code.Contexts, c)
		}
	}
	slices.SortFunc(code.Contexts, func(a, b trace.Context) int {
		if a.Site != b.Site {
			return a.Site - b.Site
		}
		return int(a.Function) - int(b.Function)
	})
	return trace.AddCode(path, &code)
}
