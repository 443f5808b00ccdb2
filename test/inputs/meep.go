package inputs

import (
	"fmt"
	"strings"
)

// Meep is a waveguide, computed for some steps.
const Meep = `
(set! geometry-lattice (make lattice (size 12 6 no-size)))
(set! geometry (list (make block (center 0 0) (size infinity 1 infinity) (material (make dielectric (epsilon 12))))))
(set! sources (list (make source (src (make continuous-src (frequency 0.15))) (component Ez) (center -4 0))))
(set! pml-layers (list (make pml (thickness 1.0))))
(set! resolution 10)
(run-until 2)
`

// Grid is a grid of n by n vertices in Scotch's format.
func Grid(n int) string {
	var rows strings.Builder
	edges := 0
	for i := range n {
		for j := range n {
			var near []int
			for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				if a, b := i+d[0], j+d[1]; a >= 0 && a < n && b >= 0 && b < n {
					near = append(near, a*n+b)
				}
			}
			edges += len(near)
			fmt.Fprintf(&rows, "%d %s\n", len(near), strings.Trim(fmt.Sprint(near), "[]"))
		}
	}
	return fmt.Sprintf("0\n%d %d\n0 000\n%s", n*n, edges, rows.String())
}
