package calltree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// peersOf renders the ranks that calls name, destination, source or root, as functions of the rank if possible.
func (b *builder) peersOf(list terms) (string, error) {
	const room = 3
	var texts []string
	for _, t := range list {
		terminal := b.leaves.Terminal(t.leaf)
		text, known := b.peers[terminal]
		if !known {
			var err error
			if text, err = b.peersOfTerminal(terminal); err != nil {
				return "", err
			}
			b.peers[terminal] = text
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > room {
		sign, _, _ := strings.Cut(texts[0], " ")
		return fmt.Sprintf("%s %d different", sign, len(texts)), nil
	}
	return strings.Join(texts, ", "), nil
}

var peerSigns = map[string]string{"dest": "→", "source": "←", "root": "root", "target_rank": "→"}

func (b *builder) peersOfTerminal(t int) (_ string, err error) {
	c := b.k.CallWithoutParams(t)
	var at *trace.Positions
	var texts []string
	for i := range c.Func.Params {
		p := &c.Func.Params[i]
		sign := peerSigns[p.Name]
		if p.Kind != mpi.KindRank || sign == "" || p.Dims > 0 {
			continue
		}
		if at == nil {
			if at, err = b.k.Positions(t); err != nil {
				return "", err
			}
		}
		if in := at.Params[i].In; in >= 0 {
			texts = append(texts, sign+" "+b.rankText(t, in))
		}
	}
	return strings.Join(texts, " "), nil
}

// rankText renders the rank that terminal t has as its value number at.
func (b *builder) rankText(t, at int) string {
	name := func(v int64) string {
		x := trace.Value{Type: trace.TypeInt, Num: v}
		switch s := x.Render(mpi.KindRank); s {
		case "MPI_PROC_NULL":
			return "none"
		case "MPI_ANY_SOURCE":
			return "any"
		default:
			return s
		}
	}
	if v, ok := b.x.Uniform(t, at); ok {
		return name(v)
	}
	formula, others := b.x.Formula(t, at)
	if formula == "" {
		seen := make(map[int64]bool)
		b.x.Each(t, at, func(_ int, v int64) { seen[v] = true })
		return fmt.Sprintf("one of %d", len(seen))
	}
	for _, v := range others {
		formula += " or " + name(v)
	}
	return formula
}
