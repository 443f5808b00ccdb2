// Package simulate holds predictions against an MPI and against another simulator: machine files
// measured here, and SimGrid's replay of the same trace on the same machine.
//
// It needs MPIs, the tool built (make), and SMPI.
package simulate
