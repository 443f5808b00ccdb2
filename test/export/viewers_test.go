package export

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
)

// A slice is a call on a viewer's time line.
type slice struct {
	rank, thread int
	name         string
	start, end   int64 // ns
	sent         []string
	received     []string
}

// shown wants slices on a viewer's time line to be the calls, and flows to be the messages.
func shown(t *testing.T, x traced, list []slice) {
	t.Helper()
	all, _ := functions(t, x.r)
	names := make(map[string]int)
	type end struct{ from, to []slice }
	flows := make(map[string]*end)
	at := func(id string) *end {
		if flows[id] == nil {
			flows[id] = &end{}
		}
		return flows[id]
	}
	for _, s := range list {
		names[s.name]++
		for _, id := range s.sent {
			at(id).from = append(at(id).from, s)
		}
		for _, id := range s.received {
			at(id).to = append(at(id).to, s)
		}
	}
	if diff := cmp.Diff(all, names); diff != "" {
		t.Errorf("calls, and slices:\n%s", diff)
	}
	want, got := traffic(t, x.r), make(map[pair]matrix.Cell)
	for p, c := range want {
		want[p] = matrix.Cell{Messages: c.Messages}
	}
	for id, f := range flows {
		if x.name == "cancel.c" { // what is cancelled never arrives
			return
		}
		if len(f.from) != 1 || len(f.to) != 1 {
			t.Fatalf("message %s: sent by %v, received in %v", id, f.from, f.to)
		}
		from, to := f.from[0], f.to[0]
		if to.end < from.start {
			t.Errorf("message %s was there before it was sent: %v, %v", id, from, to)
		}
		c := got[pair{from.rank, to.rank}]
		c.Messages++
		got[pair{from.rank, to.rank}] = c
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages, and flows:\n%s", diff)
	}
}

func chrome(t *testing.T, path string) (list []slice) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Events []struct {
			Ph, Name, ID, Bp string
			Pid, Tid         int
			Ts, Dur          json.Number
			Args             map[string]any
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ns := func(n json.Number) int64 {
		f, _ := n.Float64()
		return int64(f*1000 + 0.5)
	}
	for _, e := range file.Events {
		if e.Ph == "X" {
			list = append(list, slice{rank: e.Pid, thread: e.Tid, name: e.Name, start: ns(e.Ts), end: ns(e.Ts) + ns(e.Dur)})
			if e.Args["call site"] == "" {
				t.Errorf("%v was called nowhere", e)
			}
		}
	}
	for _, e := range file.Events {
		if e.Ph != "s" && e.Ph != "f" {
			continue
		}
		// As viewers do: the innermost slice around it.
		at := -1
		for i, s := range list {
			if s.rank == e.Pid && s.thread == e.Tid && s.start <= ns(e.Ts) && (ns(e.Ts) < s.end || s.start == s.end) && (at < 0 || s.start >= list[at].start) {
				at = i
			}
		}
		switch {
		case at < 0:
			t.Errorf("%v belongs to no slice", e)
		case e.Ph == "s":
			list[at].sent = append(list[at].sent, e.ID)
		default:
			list[at].received = append(list[at].received, e.ID)
		}
	}
	return list
}

// fields calls f with each field of a message: a number, or bytes.
func fields(t *testing.T, b []byte, f func(field protowire.Number, n uint64, m []byte)) {
	t.Helper()
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var m []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			m, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d of kind %d", field, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		f(field, v, m)
	}
}

// flow is a message's number as a slice has it.
func flow(n uint64) string { return string(protowire.AppendVarint(nil, n)) }

// perfetto reads a trace by the numbers of trace_packet.proto and those that it includes.
func perfetto(t *testing.T, path string) (list []slice) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type track struct{ rank, thread int }
	tracks, processes := make(map[uint64]track), make(map[uint64]int)
	names := make(map[uint64]string)
	open := make(map[uint64][]slice)
	var id string
	fields(t, file, func(_ protowire.Number, _ uint64, packet []byte) {
		var time int64
		fields(t, packet, func(field protowire.Number, n uint64, m []byte) {
			switch field {
			case 8:
				time = int64(n)
			case 12: // interned_data: event_names
				fields(t, m, func(field protowire.Number, _ uint64, m []byte) {
					if field != 2 {
						return
					}
					var iid uint64
					fields(t, m, func(field protowire.Number, n uint64, m []byte) {
						if iid = max(iid, n); field == 2 {
							names[iid] = string(m)
						}
					})
				})
			case 60: // track_descriptor
				var uuid, parent uint64
				thread := 0
				fields(t, m, func(field protowire.Number, n uint64, m []byte) {
					switch field {
					case 1:
						uuid = n
					case 5:
						parent = n
					case 3:
						fields(t, m, func(field protowire.Number, n uint64, _ []byte) {
							if field == 1 {
								processes[uuid] = int(n) - 1
							}
						})
					case 4:
						for _, x := range tracks {
							if x.rank == processes[parent] {
								thread++
							}
						}
						tracks[uuid] = track{processes[parent], thread}
					}
				})
			case 11: // track_event
				var kind, uuid uint64
				var s slice
				fields(t, m, func(field protowire.Number, n uint64, m []byte) {
					id = flow(n)
					switch field {
					case 9:
						kind = n
					case 11:
						uuid = n
					case 10:
						s.name = names[n]
					case 47:
						s.sent = append(s.sent, id)
					case 48:
						s.received = append(s.received, id)
					}
				})
				stack := open[uuid]
				switch kind {
				case 1:
					s.rank, s.thread, s.start = tracks[uuid].rank, tracks[uuid].thread, time
					open[uuid] = append(stack, s)
				case 2:
					if len(stack) == 0 {
						t.Fatal("a slice ends that never began")
					}
					last := stack[len(stack)-1]
					last.end, last.received = time, s.received
					list = append(list, last)
					open[uuid] = stack[:len(stack)-1]
				}
			}
		})
	})
	for _, stack := range open {
		if len(stack) > 0 {
			t.Errorf("slices never end: %v", stack)
		}
	}
	if !slices.ContainsFunc(list, func(s slice) bool { return s.name == "MPI_Finalize" }) {
		t.Error("no MPI_Finalize")
	}
	return list
}
