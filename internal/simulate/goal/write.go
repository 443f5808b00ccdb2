package goal

import (
	"bufio"
	"fmt"
	"io"
)

// Write writes a schedule as GOAL's text. Read gives the same schedule again.
func (s *Schedule) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "num_ranks %d\n", s.Ranks())
	for rank := range s.Ranks() {
		fmt.Fprintf(out, "\nrank %d {\n", rank)
		from, to := s.Rank(rank)
		for op := from; op < to; op++ {
			fmt.Fprintf(out, "l%d: %s\n", op-from, s.Ops[op])
		}
		for op := from; op < to; op++ {
			for _, waits := range s.AfterStart(op) {
				fmt.Fprintf(out, "l%d irequires l%d\n", waits-from, op-from)
			}
			for _, waits := range s.AfterEnd(op) {
				fmt.Fprintf(out, "l%d requires l%d\n", waits-from, op-from)
			}
		}
		fmt.Fprintln(out, "}")
	}
	return out.Flush()
}
