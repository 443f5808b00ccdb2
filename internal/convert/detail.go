// Package convert writes traces for other tools: for Chrome, for Perfetto, for Paraver and Dimemas, for SimGrid's SMPI, and as tables. Formats with a folder of their own
// share with these facts about calls by name, and files that are written behind what makes them, or filled in later.
package convert

import (
	"math"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Options say what to write besides calls.
type Options struct {
	SourceLine func(trace.Site) (file string, line int) // the source line of a call site, or else where it is in which module, and no line
	Metadata   map[string]string                        // what is known of the trace as a whole
	Marks      []Mark                                   // in the order of time
}

// A Mark says what is to be seen at a time, for formats that have such.
type Mark struct {
	Ns   int64
	Text string
}

// A Detail is a fact about a call, for formats whose events have named values.
type Detail struct {
	Name   string
	Text   string // if there is any
	Number int64
}

// Details appends what a call did, with the amounts that it completed, and the values attached to it.
func Details(c *ops.Call, list []Detail) []Detail {
	number := func(name string, n int64) { list = append(list, Detail{Name: name, Number: n}) }
	completed, received := int64(0), int64(0)
	for i := range c.Acts {
		a := &c.Acts[i]
		switch a.Kind {
		case ops.Send, ops.SendBegin:
			number("to", int64(a.World()))
			number("send tag", a.Tag)
			number("bytes sent", int64(a.Sent))
		case ops.Recv:
			number("from", int64(a.World()))
			number("receive tag", a.Tag)
			number("bytes received", int64(a.Received))
		case ops.RecvBegin:
			if a.Peer >= 0 {
				number("from", int64(a.World()))
			}
			number("bytes wanted", int64(a.Received))
		case ops.Collective, ops.CollectiveBegin, ops.Put, ops.Get, ops.Atomic, ops.Read, ops.ReadBegin, ops.Write, ops.WriteBegin:
			if a.Root >= 0 && a.Window == nil && a.File == nil {
				number("root", int64(a.Root))
			}
			if a.Window != nil {
				number("target", int64(a.Comm.WorldRank(a.Peer)))
				list = append(list, Detail{Name: "window", Text: a.Window.String()})
			}
			if a.File != nil {
				list = append(list, Detail{Name: "file", Text: a.File.Name})
			}
			number("bytes sent", int64(a.Sent))
			number("bytes received", int64(a.Received))
		case ops.SendEnd, ops.CollectiveEnd, ops.TransferDone, ops.ReadEnd, ops.WriteEnd:
			completed++
		case ops.RecvEnd:
			completed++
			received += int64(a.Received)
		}
		switch a.Kind {
		case ops.Send, ops.SendBegin, ops.Recv, ops.RecvBegin, ops.Collective, ops.CollectiveBegin, ops.CommMade, ops.CommFreed:
			list = append(list, Detail{Name: "communicator", Text: CommName(a.Comm)})
		}
	}
	for i := range c.Values {
		v := &c.Values[i]
		if v.Sum == math.Trunc(v.Sum) {
			number(v.Name, int64(v.Sum))
		} else {
			list = append(list, Detail{Name: v.Name, Text: strconv.FormatFloat(v.Sum, 'g', 6, 64)})
		}
	}
	if completed > 0 {
		number("completed", completed)
	}
	if received > 0 {
		number("bytes received", received)
	}
	return list
}

// CommName names a communicator as the trace numbers them.
func CommName(c *handles.Comm) string {
	switch {
	case c.Number < 0:
		return "MPI_COMM_SELF"
	case c.MadeBy == "":
		return "MPI_COMM_WORLD"
	case c.Name != "":
		return c.Name + " (comm " + strconv.Itoa(c.Number) + ")"
	}
	return "comm " + strconv.Itoa(c.Number) + " (" + c.MadeBy + ")"
}
