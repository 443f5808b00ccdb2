package inputs

import (
	"fmt"
	"strings"
)

// HPCCFor is HPCC for another number of ranks.
func HPCCFor(ranks int) string {
	p := 1
	for q := 2; q*q <= ranks; q++ {
		if ranks%q == 0 {
			p = q
		}
	}
	return strings.NewReplacer("2            Ps", fmt.Sprint(p, " Ps"), "2            Qs", fmt.Sprint(ranks/p, " Qs")).Replace(HPCC)
}

// HPCC is hpccinf.txt for HPC Challenge on 4 ranks, for a second.
const HPCC = `HPLinpack benchmark input file
a small run
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
120          Ns
1            # of NBs
24           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
`
