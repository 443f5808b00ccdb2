package capture

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// A program is what the threads of a synthetic process do, one step at a time.
type synthProgram struct {
	threads []*synth
	live    []uint64 // requests that nobody waited for, by variable
	comms   []uint64
	next    uint64
	blocks  [5]uint64 // serials, which no two blocks ever share; 0: none
	serials uint64
	counter int
	own     [4]int // by thread
	types   []uint64
	freed   []uint64 // types that are free to be made again
	lasting []uint64 // persistent requests, by variable
}

func newProgram(tb testing.TB, threads int, capacity uint64) *synthProgram {
	p := &synthProgram{}
	for i := range threads {
		p.threads = append(p.threads, newSynth(tb, i, capacity))
	}
	return p
}

// step makes thread number i do something that the choices say.
func (p *synthProgram) step(i, what int) {
	s := p.threads[i%len(p.threads)]
	for _, t := range p.threads {
		s.w.NextTicks = max(s.w.NextTicks, t.w.NextTicks) // one clock
	}
	what %= 29
	switch {
	case what == 0 && len(p.live) < 40:
		p.next++
		place := 0x5000 + 4*p.next
		p.live = append(p.live, place)
		s.isend(shared, place)
	case what == 1 && len(p.live) < 40:
		p.next++
		place := 0x5000 + 4*p.next
		p.live = append(p.live, place)
		s.isend(0x98000000+p.next, place)
	case what == 2 && len(p.live) > 0:
		place := p.live[0]
		p.live = p.live[1:]
		s.wait(shared, place)
	case what == 3:
		p.next++
		raw := 0x84000000 + p.next
		p.comms = append(p.comms, raw)
		s.enter("MPI_Comm_dup", commWorld)
		s.leave("MPI_Comm_dup", cat(raw, 0, 1, 4, -1, 0, 0)...)
	case what == 4 && len(p.comms) > 0:
		raw := p.comms[len(p.comms)/2]
		p.comms = append(p.comms[:len(p.comms)/2], p.comms[len(p.comms)/2+1:]...)
		s.enter("MPI_Comm_free", raw)
		s.leave("MPI_Comm_free")
	case what == 5:
		serial := &p.blocks[p.next%5]
		if *serial == 0 {
			p.serials++
			*serial = p.serials
			s.w.Write(0, event.KindSegment, 0, []uint64{*serial, 4096, 0, event.AddressClassHeap})
		}
		s.enter("MPI_Send", cat(uint64(event.AddressClassHeap<<56)|*serial, 8, 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Send")
	case what == 6:
		if serial := &p.blocks[p.next%5]; *serial != 0 {
			s.w.Write(0, event.KindSegmentFreed, 0, []uint64{*serial})
			*serial = 0
		}
		p.next++
	case what == 7:
		s.enter("MPI_Comm_set_name", cat(commWorld, 1, uint64('a'+len(p.live)%3))...)
		s.leave("MPI_Comm_set_name")
	case what == 8:
		s.enter("MPI_Barrier", commWorld)
		s.commRank()
		s.leave("MPI_Barrier")
	case what == 9:
		s.allreduce()
	case what == 10:
		if s.stacks < 5 {
			s.from(0x401000+8*uint64(s.stacks), 0x402000, 0x403000)
		}
		s.commRank()
		s.site = 0x401000
	case what == 12:
		s.iprobe()
		s.attach(p.next%3, int64(p.next)-5)
	case what == 11 && s.stacks > 0:
		s.site = event.StackKey(s.w.Ring.Thread(), 1)
		s.allreduce()
		s.site = 0x401000
	case what == 14:
		p.counter++
		s.send(p.counter, stackBuf)
	case what == 15:
		p.own[i%len(p.threads)]++
		tag := 2 * p.own[i%len(p.threads)]
		s.enter("MPI_Recv", cat(buffer(stackBuf), 4, typeInt, 1, tag, commWorld)...)
		s.leave("MPI_Recv", statusOf(1, int64(tag), 16)...)
	case what == 16:
		p.counter++
		s.enter("MPI_Barrier", commWorld)
		s.send(p.counter, stackBuf)
		s.leave("MPI_Barrier")
	case what == 17:
		p.own[i%len(p.threads)]++
		s.send(p.own[i%len(p.threads)]/2%40+1000, stackBuf+1024*uint64(p.own[i%len(p.threads)]%2))
	case what == 18:
		p.next++
		place := 0x5000 + 4*p.next
		tag := int(p.next)
		s.enter("MPI_Irecv", cat(buffer(stackBuf+64), 4, typeInt, 1, tag, commWorld)...)
		s.leave("MPI_Irecv", 0x98000000+p.next, place)
		s.enter("MPI_Waitall", cat(1, 1, place, 4, 0x98000000+p.next)...)
		s.leave("MPI_Waitall", cat(1, statusOf(1, int64(tag), 16))...)
	case what >= 20:
		p.makers(s, what)
	default:
		s.iprobe()
	}
}

// makers are steps that make and free what has a name; a handle that is free is the
// next one that is made.
func (p *synthProgram) makers(s *synth, what int) {
	p.next++
	made := func() uint64 {
		raw := 0x8c000000 + p.next
		if n := len(p.freed); n > 0 {
			raw, p.freed = p.freed[n-1], p.freed[:n-1]
		}
		p.types = append(p.types, raw)
		return raw
	}
	at := func(list []uint64) int { return int(p.next) % len(list) }
	switch {
	case what == 20:
		s.enter("MPI_Type_contiguous", uint64(3+what%2), typeInt)
		s.leave("MPI_Type_contiguous", cat(made(), 12, 0, 12, 0, 12)...)
	case what == 21 && len(p.types) > 0:
		i := at(p.types)
		raw := p.types[i]
		p.types, p.freed = append(p.types[:i], p.types[i+1:]...), append(p.freed, raw)
		s.enter("MPI_Type_free", raw)
		s.leave("MPI_Type_free")
	case what == 22 && len(p.types) > 0:
		raw := p.types[at(p.types)]
		s.enter("MPI_Type_commit", raw)
		s.leave("MPI_Type_commit", raw)
	case what == 23 && len(p.types) > 0:
		s.enter("MPI_Type_size", p.types[at(p.types)])
		s.leave("MPI_Type_size", 12)
	case what == 24 && len(p.types) > 0 && len(p.types) < 100:
		// Contents that have a handle are handed out once more, and freed.
		raw := p.types[at(p.types)]
		s.enter("MPI_Type_get_contents", raw, 1, 0, 2)
		s.leave("MPI_Type_get_contents", cat(1, 5, 0, 2, raw, typeInt)...)
		s.enter("MPI_Type_free", raw)
		s.leave("MPI_Type_free")
	case what == 25 && len(p.lasting) < 20:
		place := 0x7000 + 4*p.next
		p.lasting = append(p.lasting, place)
		s.enter("MPI_Send_init", cat(buffer(stackBuf), 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Send_init", 0xa8000000+place, place)
	case what == 26 && len(p.lasting) > 0:
		place := p.lasting[at(p.lasting)]
		s.enter("MPI_Start", 0xa8000000+place, place)
		s.leave("MPI_Start")
		s.wait(0xa8000000+place, place)
	case what == 27 && len(p.lasting) > 0:
		i := at(p.lasting)
		place := p.lasting[i]
		p.lasting = append(p.lasting[:i], p.lasting[i+1:]...)
		s.enter("MPI_Request_free", 0xa8000000+place, place)
		s.leave("MPI_Request_free")
	case what == 28:
		s.enter("MPI_Wtime")
		s.leave("MPI_Wtime", p.next<<40)
	}
}

func (s *synth) send(tag int, addr uint64) {
	s.enter("MPI_Send", cat(buffer(addr), 4, typeInt, 1, tag, commWorld)...)
	s.leave("MPI_Send")
}

func room(p *synthProgram) uint64 {
	least := ^uint64(0)
	for _, s := range p.threads {
		head, err := s.w.Ring.Head()
		if err != nil {
			return 0
		}
		least = min(least, s.w.Ring.Capacity()-(head-s.w.Ring.Released()))
	}
	return least
}

// TestStepsAndLayout: what records are read by and what signatures are taken apart by go side
// by side.
func TestStepsAndLayout(t *testing.T) {
	for _, flavour := range mpi.Flavours() {
		c, err := New(ProcessConfig{Context: Context{Flavour: flavour, Ranks: 1, TicksPerNs: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range mpi.Calls() {
			p := c.program(call.ID)
			var in, out []signature.ParamLayout
			if p.layout.ResultValueCount != signature.WidthNone {
				out = append(out, signature.ParamLayout{Width: p.layout.ResultValueCount})
			}
			for _, q := range p.layout.Params {
				if q.IsInput {
					in = append(in, q)
				}
				if q.IsOutput {
					out = append(out, q)
				}
			}
			for _, x := range []struct {
				steps []instruction
				parts []signature.ParamLayout
			}{{p.in, in}, {p.out, out}} {
				if len(x.steps) != len(x.parts) {
					t.Fatalf("%s: %d steps, %d parts", call.Name, len(x.steps), len(x.parts))
				}
				for i := range x.steps {
					if got := partOf(&x.steps[i]); got.Width != x.parts[i].Width || got.Dims != x.parts[i].Dims {
						t.Errorf("%s: part %d is %+v, and is recorded as %+v", call.Name, i, x.parts[i], got)
					}
				}
			}
		}
	}
}

func partOf(s *instruction) (p signature.ParamLayout) {
	code := s.code
	if code == codeArray {
		p.Dims, code = 1, s.element
		if code == codeArray {
			p.Dims, code = 2, codeString
		}
	}
	switch code {
	case codeAddress:
		p.Width = signature.WidthAddress
	case codeStatus:
		p.Width = signature.WidthStatus
	default:
		p.Width = signature.WidthOne
	}
	return p
}
