// Package convert writes traces for other tools: for Chrome, for Perfetto, for Paraver and Dimemas, for SimGrid's
// SMPI, and as tables. Formats with a folder of their own share some parts: named facts about calls, files written in
// the background, and files with lines that are filled in later.
package convert

import (
	"math"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Options select what is written besides calls.
type Options struct {
	SourceLine func(trace.Site) (file string, line int) // returns a call site's source line, or else its module with offset, and line 0
	Metadata   map[string]string                        // properties of the trace as a whole, by name
	Marks      []TimeMark                               // texts at times, in the order of time
}

// A TimeMark is a text at a time, for formats that support it.
type TimeMark struct {
	Ns   int64
	Text string
}

// An EventDetail is a named value of a call, for formats whose events have such values.
type EventDetail struct {
	Name   string
	Text   string // "": the value is Number
	Number int64
}

// EventDetails appends a call's actions with their amounts, and the values attached to the call.
func EventDetails(c *ops.Call, list []EventDetail) []EventDetail {
	number := func(name string, n int64) { list = append(list, EventDetail{Name: name, Number: n}) }
	completed, received := int64(0), int64(0)
	for i := range c.Acts {
		a := &c.Acts[i]
		switch a.Kind {
		case ops.ActSend, ops.ActSendBegin:
			number("to", int64(a.PeerWorldRank()))
			number("send tag", a.Tag)
			number("bytes sent", int64(a.SentBytes))
		case ops.ActRecv:
			number("from", int64(a.PeerWorldRank()))
			number("receive tag", a.Tag)
			number("bytes received", int64(a.ReceivedBytes))
		case ops.ActRecvBegin:
			if a.PeerInComm >= 0 {
				number("from", int64(a.PeerWorldRank()))
			}
			number("bytes wanted", int64(a.ReceivedBytes))
		case ops.ActCollective, ops.ActCollectiveBegin, ops.ActPut, ops.ActGet, ops.ActAtomic, ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin:
			if a.Root >= 0 && a.Window == nil && a.File == nil {
				number("root", int64(a.Root))
			}
			if a.Window != nil {
				number("target", int64(a.Comm.WorldRank(a.PeerInComm)))
				list = append(list, EventDetail{Name: "window", Text: a.Window.String()})
			}
			if a.File != nil {
				list = append(list, EventDetail{Name: "file", Text: a.File.Name})
			}
			number("bytes sent", int64(a.SentBytes))
			number("bytes received", int64(a.ReceivedBytes))
		case ops.ActSendEnd, ops.ActCollectiveEnd, ops.ActRMAEndByRequest, ops.ActReadEnd, ops.ActWriteEnd:
			completed++
		case ops.ActRecvEnd:
			completed++
			received += int64(a.ReceivedBytes)
		}
		switch a.Kind {
		case ops.ActSend, ops.ActSendBegin, ops.ActRecv, ops.ActRecvBegin, ops.ActCollective, ops.ActCollectiveBegin, ops.ActCommMade, ops.ActCommFreed:
			list = append(list, EventDetail{Name: "communicator", Text: CommName(a.Comm)})
		}
	}
	for i := range c.Values {
		v := &c.Values[i]
		if v.Sum == math.Trunc(v.Sum) {
			number(v.Name, int64(v.Sum))
		} else {
			list = append(list, EventDetail{Name: v.Name, Text: strconv.FormatFloat(v.Sum, 'g', 6, 64)})
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
