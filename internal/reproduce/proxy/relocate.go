package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// Displacements that are addresses of the processes that were recorded are written as
// relocate(0x7ffd3a2c1040): the program sets memory aside for each 4 GiB that such numbers
// point into, at a place that is the same in all ranks, and relocate says where in it.

// hasAddresses reports whether a parameter has such displacements, on some rank.
func (w *writer) hasAddresses(i int) bool {
	if len(w.g.windows) == 0 || !reissue.Absolute(w.c.c, &w.c.c.Params[i]) {
		return false
	}
	any := func(n *node) bool {
		return n.typ == trace.Int && slices.ContainsFunc(w.c.column(n.at), reissue.IsAddress)
	}
	for k := range w.c.in[i].elems {
		if any(&w.c.in[i].elems[k]) {
			return true
		}
	}
	return any(&w.c.in[i])
}

// attachRelocated has what was set aside be part of a dynamic window that was made.
func (w *writer) attachRelocated(i int) {
	if out := &w.c.out[i]; len(w.g.windows) > 0 && w.c.f.Name == "MPI_Win_create_dynamic" && out.typ == trace.Handle && w.c.vals[0][out.at] >= trace.FirstLocal {
		w.after = append(w.after, fmt.Sprintf("attach_relocated(win[%s]);", w.slot(out.at)))
	}
}

// setAside is the statement that says which regions there are.
func (g *generator) setAside() string {
	if len(g.windows) == 0 {
		return ""
	}
	list := make([]string, len(g.windows))
	for i, w := range g.windows {
		list[i] = fmt.Sprintf("%#x", int64(w))
	}
	return fmt.Sprintf("    relocate_regions(%d, (const int64_t[]){%s});\n", len(list), strings.TrimSpace(wrap(list, "        ")))
}
