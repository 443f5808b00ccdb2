package handles

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A FreeWithCallbackUses is a call that frees an object which callbacks still use during that call (e.g. MPI_Comm_free with an
// attribute's delete function). It precedes the calls of the callbacks in its stream.
type FreeWithCallbackUses struct {
	FreeCall, LastUse uint64 // indices in the stream of the freeing call, and of the last call that uses the object
	FreeTerminal      int    // terminal of the freeing call
}

// haveDeleters are the kinds of objects that have attributes, and so delete functions that are called when they are
// freed.
var haveDeleters = []mpi.Kind{mpi.KindComm, mpi.KindDatatype, mpi.KindWin}

// FreesWithCallbackUses returns the nested frees by stream, in the order of the freeing calls; nil if the rank registers no
// delete functions.
func FreesWithCallbackUses(k *trace.Rank) ([][]FreeWithCallbackUses, error) {
	if !deletes(k) { // a quick check: it doesn't decode the values of calls
		return nil, nil
	}
	distinct, err := k.DistinctCalls()
	if err != nil {
		return nil, err
	}
	t := &turner{k: k, distinct: distinct, uses: make(map[turnKey]*trace.Occurrences), handed: make([][]trace.Handover, k.Streams())}
	lists := make([][]FreeWithCallbackUses, k.Streams())
	for stream := range lists {
		if t.handed[stream], err = k.Handovers(stream); err != nil {
			return nil, err
		}
	}
	for n, c := range distinct {
		for i := range c.Params {
			p := &c.Params[i]
			if c.Return != 0 || p.Def.Dir != trace.DirFree || p.In.Type != trace.TypeHandle || p.In.Num < trace.FirstCreatedHandle || !slices.Contains(haveDeleters, p.Kind()) {
				continue
			}
			for stream := range lists {
				h := &trace.Handover{Kind: p.Kind(), Handle: p.In.Num}
				for at := range k.Occurrences(stream, func(t int) bool { return t == n }).All() {
					if last, ok := t.lastUse(stream, h, at); ok && last > at && len(lists[stream]) < maxNested {
						lists[stream] = append(lists[stream], FreeWithCallbackUses{at, last, n})
					}
				}
			}
		}
	}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b FreeWithCallbackUses) int { return cmp.Compare(a.FreeCall, b.FreeCall) })
	}
	return lists, nil
}

// maxNested is the largest number of nested frees of a stream that FreesWithCallbackUses returns; later ones are left out.
const maxNested = 1 << 20

// deletes reports whether the rank calls a function that can register a delete function for attributes.
func deletes(k *trace.Rank) bool {
	for n := range k.Terminals() {
		for _, p := range k.CallWithoutParams(n).Func.Params {
			if p.Kind == mpi.KindFunction && strings.Contains(p.Name, "delete") {
				return true
			}
		}
	}
	return false
}
