package trace_test

import (
	"fmt"
	"log"

	"github.com/spoor-hpc/spoor/trace"
)

// The calls of a rank come in program order, in memory that does not depend on how many there are.
func Example() {
	r, err := trace.Open("testdata/golden.spoor")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range k.Calls(0) {
		if err != nil {
			log.Fatal(err)
		}
		if c.Index == 4 {
			break
		}
		fmt.Println(c.Index, c.Text())
	}
	// Output:
	// 0 MPI_Init() = MPI_SUCCESS
	// 1 MPI_Comm_split(comm=MPI_COMM_WORLD, color=0, key=5, newcomm=comm0) = MPI_SUCCESS # rank 0 of 1, leader 0, ordinal 0
	// 2 MPI_Irecv(buf=heap1+16, count=4, datatype=MPI_INT, source=1, tag=7, comm=comm0, request=request0) = MPI_SUCCESS
	// 3 MPI_Isend(buf=stack2-32, count=4, datatype=MPI_INT, dest=2, tag=7, comm=MPI_COMM_WORLD, request=request1) = MPI_SUCCESS
}

// The structure of a rank is loops and distinct calls. It is as short as the trace, and
// takes no longer to walk for a loop of a million rounds.
func ExampleRank_Structure() {
	r, err := trace.Open("testdata/golden.spoor")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	var show func(n *trace.Node, indent string)
	show = func(n *trace.Node, indent string) {
		switch n.Kind {
		case trace.CallNode:
			c, err := k.Terminal(n.Terminal)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(indent + c.Name())
			return
		case trace.LoopNode:
			fmt.Printf("%s%d times\n", indent, n.Count)
			indent += "  "
		}
		for _, part := range n.Children() {
			show(&part, indent)
		}
	}
	root := k.Structure(0)
	show(&root, "")
	// Output:
	// MPI_Init
	// MPI_Comm_split
	// 50 times
	//   MPI_Irecv
	//   MPI_Isend
	//   MPI_Waitall
	// MPI_Op_create
	// MPI_Comm_set_name
	// MPI_Send
}

// Times are kept by distinct call, for all ranks of a class together: ranks that made the
// same calls in the same order.
func ExampleReader_Times() {
	r, err := trace.Open("testdata/golden.spoor")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for class := range r.Classes() {
		times, err := r.Times(class)
		if err != nil {
			log.Fatal(err)
		}
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			log.Fatal(err)
		}
		for t := range times {
			c, err := k.Terminal(t)
			if err != nil {
				log.Fatal(err)
			}
			d := times[t].Duration
			fmt.Printf("%d calls of %s took %d to %d ns\n", d.Count, c.Name(), d.Min, d.Max)
		}
	}
	// Output:
	// 2 calls of MPI_Init took 90 to 110 ns
	// 2 calls of MPI_Comm_split took 90 to 110 ns
	// 100 calls of MPI_Irecv took 90 to 120 ns
	// 100 calls of MPI_Isend took 90 to 120 ns
	// 100 calls of MPI_Waitall took 90 to 120 ns
	// 2 calls of MPI_Op_create took 90 to 110 ns
	// 2 calls of MPI_Comm_set_name took 90 to 110 ns
	// 4 calls of MPI_Send took 90 to 120 ns
	// 1 calls of MPI_Init took 5 to 5 ns
	// 1 calls of MPI_Alltoallv took 50 to 50 ns
}
