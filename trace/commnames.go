package trace

import (
	"fmt"
	"slices"
)

// maxNamed bounds how many calls that name communicators are looked at on a rank.
const maxNamed = 1 << 16

// names reports whether a function names communicators.
func names(f *Function) bool { return f.Name == "MPI_Comm_set_name" }

// nameComms gives communicators the names that the program did.
func (r *Reader) nameComms(c *Comms) error {
	if !slices.ContainsFunc(r.schema, names) {
		return nil
	}
	for k, err := range r.Tracks() {
		if err != nil {
			return err
		}
		for stream := range k.Streams() {
			calls := k.Occurrences(stream, func(t int) bool { return names(r.byID[k.class.Terminals[t].Group.Call]) })
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
				if x := c.At(k.number, stream, index, comm.In.Num); x != nil && x.Name == "" {
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
