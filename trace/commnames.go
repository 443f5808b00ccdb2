package trace

import (
	"fmt"
	"slices"
)

// maxNamed bounds how many calls that name communicators are looked at on a rank.
const maxNamed = 1 << 16

// nameComms gives communicators the names that the program did.
func (r *Reader) nameComms(c *Comms) error {
	naming := make([][]int, r.Classes()) // terminals, by class
	for n := range naming {
		x, err := r.classAt(n)
		if err != nil {
			return err
		}
		for t := range x.Terminals {
			if r.byID[x.Terminals[t].Group.Call].Name == "MPI_Comm_set_name" {
				naming[n] = append(naming[n], t)
			}
		}
	}
	for rank := range r.Ranks() {
		n := r.ClassOf(rank)
		if n < 0 || len(naming[n]) == 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return err
		}
		for stream := range k.Streams() {
			calls := k.Occurrences(stream, func(t int) bool { return slices.Contains(naming[n], t) })
			for i := range min(calls.Total(), maxNamed) {
				index, _ := calls.Nth(i)
				call, err := k.Call(stream, index)
				if err != nil {
					return fmt.Errorf("names of communicators: %w", err)
				}
				comm, name := call.Param("comm"), call.Param("comm_name")
				if comm == nil || name == nil || comm.In.Type != Handle {
					continue
				}
				if x := c.At(rank, stream, index, comm.In.Num); x != nil && x.Name == "" {
					x.Name = name.In.Text
				}
			}
		}
	}
	return nil
}

// String names a communicator for people.
func (c *Comm) String() string {
	switch {
	case c.Number < 0:
		return "MPI_COMM_SELF"
	case c.Number == 0:
		return "MPI_COMM_WORLD"
	case c.Name != "":
		return fmt.Sprintf("communicator %q", c.Name)
	case c.MadeBy == "":
		return fmt.Sprintf("communicator %d", c.Number)
	}
	return fmt.Sprintf("communicator %d of %s", c.Number, c.MadeBy)
}
