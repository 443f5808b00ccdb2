package traced

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

const (
	own     = mpi.FirstUserHandleID // the first object of its kind
	noInfo  = 0x130
	fileIs  = 77 // its name
	another = 4096
)

// endsAt predicts what two ranks do and looks at when they end, without MPI_Init and MPI_Finalize.
func endsAt(t *testing.T, what, also string, want int64, first, second func(r *recorder)) *Prediction {
	t.Helper()
	m, err := machine.ParseMachine("plain", []byte(plain+also))
	if err != nil {
		t.Fatal(err)
	}
	p := predict(t, record(t, 2, timing.ModeLossless, beside(first, second)), Options{Machine: m})
	for rank, x := range p.Ranks {
		if got := x.EndPs/1000 - took - end; got != want {
			t.Errorf("%s: rank %d ends after %d ns, want %d", what, rank, got, want)
		}
	}
	for _, u := range p.Unmodelled {
		if u.KeepsRecordedTime && u.Description != "MPI_Init" {
			t.Errorf("%s: not modelled: %+v", what, u)
		}
	}
	return p
}

// A put keeps its rank for the overhead, and has ended a latency after it arrived; a get is asked for first. Windows are
// made by an all-gather of 24 bytes, a fence is a barrier behind the end of all transfers.
func TestOneSided(t *testing.T) {
	const made = 1224
	open := func(r *recorder) {
		r.call("MPI_Win_allocate", 30, 800, 1, noInfo, tracktest.World, 6, 0, own)
	}
	fence := func(r *recorder) { r.call("MPI_Win_fence", 31, 0, own) }
	put := func(r *recorder, bytes int64) {
		r.call("MPI_Put", 32, 1, 0, bytes, byteType, 1-int64(r.Rank), 0, bytes, byteType, own)
	}
	endsAt(t, "a put between fences", "", made+1200+300+1000+1700+1200,
		func(r *recorder) { open(r); fence(r); r.compute(300); put(r, 500); fence(r) },
		func(r *recorder) { open(r); fence(r); fence(r) })
	endsAt(t, "two puts, of which the second leaves behind the first", "", made+500+1000+1300+1200,
		func(r *recorder) { open(r); put(r, 500); put(r, 100); fence(r) },
		func(r *recorder) { open(r); fence(r) })
	endsAt(t, "a get under a lock", "", made+1000+1600+1200,
		func(r *recorder) {
			open(r)
			r.call("MPI_Win_lock", 33, 1, 1, 0, own)
			r.call("MPI_Get", 34, 1, 0, 400, byteType, 1, 0, 400, byteType, own)
			r.call("MPI_Win_unlock", 35, 1, own)
			r.barrier()
		},
		func(r *recorder) { open(r); r.barrier() })
	endsAt(t, "a put with a request, beside a computation", "", made+5000+1200,
		func(r *recorder) {
			open(r)
			r.call("MPI_Rput", 36, 1, 0, 500, byteType, 1, 0, 500, byteType, own, 2)
			r.compute(4900)
			r.wait(1, 0, 0)
			r.call("MPI_Win_flush_all", 37, own)
			r.barrier()
		},
		func(r *recorder) { open(r); r.barrier() })
}

// Who locks memory for itself waits for those who had it before, in the traced order: in the lock, or, where that
// returned before its turn, in what comes behind.
func TestLocks(t *testing.T) {
	const made, put, shared = 1224, 2700, 302
	for _, c := range []struct {
		what  string
		kinds [2]int64
		late  uint64 // ns after which the second locks
		want  int64
	}{
		{"one after the other", [2]int64{mpi.LockExclusive, mpi.LockExclusive}, 300, 2 * put},
		{"a lock that returns before its turn", [2]int64{mpi.LockExclusive, mpi.LockExclusive}, 60, 2 * put},
		{"one for itself, then shared", [2]int64{mpi.LockExclusive, shared}, 300, 2 * put},
		{"shared, then one for itself", [2]int64{shared, mpi.LockExclusive}, 300, 2 * put},
		{"shared", [2]int64{shared, shared}, 300, 300 + put},
	} {
		program := func(wait uint64, kind int64) func(r *recorder) {
			return func(r *recorder) {
				r.call("MPI_Win_allocate", 30, 800, 1, noInfo, tracktest.World, 6, 0, own)
				r.compute(wait)
				r.call("MPI_Win_lock", 33, kind, 1, 0, own)
				r.call("MPI_Put", 34, 1, 0, 500, byteType, 1, 0, 500, byteType, own)
				r.call("MPI_Win_unlock", 35, 1, own)
				r.barrier()
			}
		}
		endsAt(t, c.what, "", made+c.want+1200, program(0, c.kinds[0]), program(c.late, c.kinds[1]))
	}
}

// Where single times are not known nobody knows who came first: locks are named.
func TestUnordered(t *testing.T) {
	r := record(t, 2, timing.ModeStats, func(r *recorder) {
		r.call("MPI_Win_allocate", 30, 800, 1, noInfo, tracktest.World, 6, 0, own)
		for range 3 {
			r.call("MPI_Win_lock", 33, mpi.LockExclusive, 1, 0, own)
			r.call("MPI_Win_unlock", 35, 1, own)
		}
	})
	for _, u := range predict(t, r, Options{}).Unmodelled {
		if u.Description == unordered {
			if u.Calls != 6 || math.Abs(u.RecordedNs-6*took) > took || u.KeepsRecordedTime {
				t.Errorf("%+v", u)
			}
			return
		}
	}
	t.Error("not named")
}

// Of two epochs that can't be at the same time the second waits for the first, or for one that does.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*locked
		for i := range rapid.IntRange(0, 12).Draw(t, "epochs") {
			l := &locked{exclusive: rapid.Bool().Draw(t, "exclusive"), end: int64(i)}
			l.rank = rapid.IntRange(0, 3).Draw(t, "rank")
			list = append(list, l)
		}
		order(list)
		behind := make([]map[int]bool, len(list))
		for i, l := range list {
			behind[i] = make(map[int]bool)
			for j, b := range list[:i] {
				if slices.Contains(l.after, b) || b.rank == l.rank {
					maps.Copy(behind[i], behind[j])
					behind[i][j] = true
				}
			}
			for j, b := range list[:i] {
				if conflict := l.exclusive || b.exclusive; conflict && !behind[i][j] {
					t.Fatalf("epoch %d of %d does not wait for %d", i, len(list), j)
				} else if !conflict && slices.Contains(l.after, b) {
					t.Fatalf("epoch %d waits for %d, which it needn't", i, j)
				}
			}
		}
	})
}

// Word of an exposed window goes to whom it is exposed, who waits for it, and word of the end comes back behind what was put.
func TestGroups(t *testing.T) {
	const made, world, two = 1224, own, own + 1
	open := func(r *recorder) {
		r.call("MPI_Win_allocate", 30, 800, 1, noInfo, tracktest.World, 6, 0, own)
		r.call("MPI_Comm_group", 31, tracktest.World, world)
		r.call("MPI_Group_incl", 32, world, 1, 1, int64(1-r.Rank), two)
	}
	post := func(r *recorder) { r.call("MPI_Win_post", 33, two, 0, own) }
	start := func(r *recorder) { r.call("MPI_Win_start", 34, two, 0, own) }
	put := func(r *recorder) {
		r.call("MPI_Put", 35, 1, 0, 500, byteType, 1-int64(r.Rank), 0, 500, byteType, own)
	}
	complete := func(r *recorder) { r.call("MPI_Win_complete", 36, own) }
	wait := func(r *recorder) { r.call("MPI_Win_wait", 37, own) }
	startLate := func(r *recorder) {
		open(r)
		r.compute(5000)
		start(r)
		put(r)
		complete(r)
		r.barrier()
	}
	const local = 2 * took // of the calls that make groups
	// Posted after 700, known 1,200 later; the put has ended 2,700 behind that, and word of the end is there 1,200 later still.
	endsAt(t, "late post", "", made+local+700+1200+2700+1200+1200,
		func(r *recorder) { open(r); start(r); put(r); complete(r); r.barrier() },
		func(r *recorder) { open(r); r.compute(700); post(r); wait(r); r.barrier() })
	endsAt(t, "late start", "", made+local+5000+100+2700+1200+1200,
		startLate,
		func(r *recorder) { open(r); post(r); wait(r); r.barrier() })
	endsAt(t, "a test that finds", "", made+local+5000+100+2700+1200+1200,
		startLate,
		func(r *recorder) {
			open(r)
			post(r)
			r.call("MPI_Win_test", 38, own, 0)
			r.call("MPI_Win_test", 38, own, 1)
			r.barrier()
		})
	// Both post and start at once: word of it needs 100 at either end.
	endsAt(t, "both ways", "", made+local+1200+2700+1200,
		func(r *recorder) {
			open(r)
			post(r)
			start(r)
			put(r)
			complete(r)
			wait(r)
		},
		func(r *recorder) {
			open(r)
			post(r)
			start(r)
			put(r)
			complete(r)
			wait(r)
		})
	// Groups of other makings: ranges, and what is left of a group.
	for _, how := range []func(r *recorder){
		func(r *recorder) { r.call("MPI_Group_excl", 40, world, 1, 1, int64(r.Rank), two) },
		func(r *recorder) {
			r.call("MPI_Group_range_incl", 41, world, 1, 3, int64(1-r.Rank), int64(1-r.Rank), 1, two)
		},
		func(r *recorder) {
			r.call("MPI_Group_range_excl", 41, world, 1, 3, int64(r.Rank), int64(r.Rank), -1, two)
		},
		func(r *recorder) {
			r.call("MPI_Group_incl", 32, world, 1, 1, int64(r.Rank), two)
			r.call("MPI_Group_difference", 42, world, two, two+1)
			r.call("MPI_Group_intersection", 43, world, two+1, two+2)
			r.call("MPI_Group_union", 44, 0x109, two+2, two)
		},
	} {
		both := func(r *recorder) {
			r.call("MPI_Win_allocate", 30, 800, 1, noInfo, tracktest.World, 6, 0, own)
			r.call("MPI_Comm_group", 31, tracktest.World, world)
			how(r)
			post(r)
			start(r)
			put(r)
			complete(r)
			wait(r)
		}
		m, err := machine.ParseMachine("plain", []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		p := predict(t, record(t, 2, timing.ModeLossless, both), Options{Machine: m})
		for _, u := range p.Unmodelled {
			if u.Description != "MPI_Init" {
				t.Errorf("not modelled: %+v", u)
			}
		}
	}
}

// Two groups of one: their leaders tell each other 4 bytes; then a broadcast over, and a reduction back.
func TestTwoGroups(t *testing.T) {
	program := func(r *recorder) {
		alone, both := int64(0x102), int64(own) // MPI_COMM_SELF
		r.call("MPI_Intercomm_create", 50, alone, 0, tracktest.World, int64(1-r.Rank), 12, both, 0, int64(r.Rank), 0, 1, int64(1-r.Rank), 1, 0)
		root := []int64{mpi.MPIRoot, 0}[r.Rank]
		r.call("MPI_Bcast", 51, 1, 0, 400, byteType, root, both)
		r.call("MPI_Reduce", 52, 1, 0, 1, another, 300, byteType, 0x21, root, both)
	}
	endsAt(t, "two groups", "", 1204+1600+1500, program, program)
}

// So do those that are waited for later: of the trace a prediction, of its schedule the messages.
func TestTwoGroupsLater(t *testing.T) {
	program := func(r *recorder) {
		alone, both := int64(0x102), int64(own) // MPI_COMM_SELF
		r.call("MPI_Intercomm_create", 50, alone, 0, tracktest.World, int64(1-r.Rank), 12, both, 0, int64(r.Rank), 0, 1, int64(1-r.Rank), 1, 0)
		r.compute(uint64(3000 - 2900*r.Rank))
		r.call("MPI_Ibcast", 51, 1, 0, 400, byteType, []int64{mpi.MPIRoot, 0}[r.Rank], both, 2)
		r.compute(uint64(300 * r.Rank))
		r.wait(1, 0, 0)
		r.compute(uint64(5000 * r.Rank))
	}
	sameAsSchedule(t, record(t, 2, timing.ModeLossless, program), 0)
	endsAt(t, "a broadcast of two groups", "", 1204+3000+1600+5000, program, program)
}

// Files take a latency and their bytes; collective calls end together.
func TestFiles(t *testing.T) {
	const files = "[files]\nlatency_ns = 1000\nread_ns_per_byte = 2\nwrite_ns_per_byte = 1\nshared_ns_per_byte = 0.75\n"
	status := func(bytes int64) []int64 { return []int64{1, 0, 0, bytes, 0} }
	program := func(r *recorder) {
		r.compute(uint64(500 * r.Rank))
		r.call("MPI_File_open", 40, tracktest.World, fileIs, 0, noInfo, own)
		r.call("MPI_File_write_at", 41, append([]int64{own, 0, 1, 0, 300, byteType}, status(300)...)...)
		r.call("MPI_File_write_at_all", 42, append([]int64{own, 0, 1, 0, 100, byteType}, status(100)...)...)
		r.call("MPI_File_iwrite_at", 43, own, 0, 1, 0, 1000, byteType, 2)
		r.compute(500)
		r.wait(1, 0, 0)
		r.call("MPI_File_read_at", 44, append([]int64{own, 0, 1, 0, 400, byteType}, status(10)...)...) // of which there are 10
		r.call("MPI_File_close", 45, own)
	}
	p := endsAt(t, "files", files, 500+1000+1300+1150+2000+1020+1000, program, program)
	if x := p.Ranks[1]; x.ComputePs != 1000*1000 || x.TransferPs != 1000*(1000+1300+1150+1500+1020+1000+end) {
		t.Errorf("%+v", x)
	}
}

// Through a view with holes a rank alone moves all that lies between its bytes, to write there twice; all ranks of a
// call together move their bytes. A sync takes a time and that of what was written since the last one.
func TestViews(t *testing.T) {
	const files = "[files]\nlatency_ns = 1000\nopen_ns = 3000\nread_ns_per_byte = 2\nwrite_ns_per_byte = 1\nsync_ns = 500\nsync_ns_per_byte = 4\n"
	status := func(bytes int64) []int64 { return []int64{1, 0, 0, bytes, 0} }
	program := func(r *recorder) {
		r.call("MPI_Type_vector", 38, 5, 1, 4, byteType, own, 5, 0, 20, 0, 17) // 5 bytes of 20
		r.call("MPI_File_open", 40, tracktest.World, fileIs, 0, noInfo, own)
		r.call("MPI_File_set_view", 41, own, 0, byteType, own, fileIs, noInfo)
		r.call("MPI_File_write_at", 42, append([]int64{own, 0, 1, 0, 300, byteType}, status(300)...)...)
		r.call("MPI_File_write_at_all", 43, append([]int64{own, 0, 1, 0, 100, byteType}, status(100)...)...)
		r.call("MPI_File_sync", 44, own)
		r.call("MPI_File_read_at", 45, append([]int64{own, 0, 1, 0, 100, byteType}, status(100)...)...)
		r.call("MPI_File_sync", 44, own)
		r.call("MPI_File_close", 46, own)
	}
	endsAt(t, "views", files, took+3000+1200+(1000+2400+1000+1200)+1100+(500+1600)+(1000+800)+500+3000, program, program)
}

// A neighbourhood collective is a message along each edge: here two each way, of which the second leaves 300 ns
// behind the first.
func TestNeighbourhoods(t *testing.T) {
	const made = 1200 + contextMask
	ring := func(r *recorder) {
		r.call("MPI_Cart_create", 50, tracktest.World, 1, 1, 2, 1, 1, 0, own, 0, 0, int64(r.Rank), 2, -1, 0, 0)
	}
	for _, c := range []struct {
		name string
		call func(r *recorder)
		want int64
	}{
		{"alltoall", func(r *recorder) {
			r.call("MPI_Neighbor_alltoall", 51, 1, 0, 300, byteType, 1, another, 300, byteType, own)
		}, 1800},
		{"allgather", func(r *recorder) {
			r.call("MPI_Neighbor_allgather", 52, 1, 0, 300, byteType, 1, another, 300, byteType, own)
		}, 1800},
		{"beside a computation", func(r *recorder) {
			r.call("MPI_Ineighbor_alltoall", 53, 1, 0, 300, byteType, 1, another, 300, byteType, own, 2)
			r.compute(1000)
			r.wait(1, 0, 0)
		}, 1800},
		{"persistent", func(r *recorder) {
			r.call("MPI_Neighbor_alltoall_init", 55, 1, 0, 300, byteType, 1, another, 300, byteType, own, noInfo, 2*0+1)
			r.call("MPI_Start", 56, 2*0+1)
			r.compute(1000)
			r.call("MPI_Wait", 57, 2*0+1, 1, 0, 0, 8, 0)
		}, took + 1800},
		{"two persistent ones at once", func(r *recorder) {
			r.call("MPI_Neighbor_alltoall_init", 55, 1, 0, 300, byteType, 1, another, 300, byteType, own, noInfo, 2*0+1)
			r.call("MPI_Neighbor_alltoall_init", 55, 1, 0, 300, byteType, 1, another, 300, byteType, own, noInfo, 2*1+1)
			r.call("MPI_Startall", 56, 2, 2, 2*0+1, 2*1+1)
			r.call("MPI_Wait", 57, 2*0+1, 1, 0, 0, 8, 0)
			r.call("MPI_Wait", 57, 2*1+1, 1, 0, 0, 8, 0)
		}, 2*took + 3*300 + 1500},
		{"of sizes of their own", func(r *recorder) {
			r.call("MPI_Neighbor_alltoallv", 54, 1, 0, 2, 100, 700, 2, 0, 0, byteType, 1, another, 2, 100, 700, 2, 0, 0, byteType, own)
		}, 100 + 1900},
	} {
		program := func(r *recorder) { ring(r); c.call(r) }
		endsAt(t, c.name, "", made+c.want, program, program)
	}
}

// Partitions leave when they are ready; the message is there when the last one is.
func TestPartitioned(t *testing.T) {
	for _, c := range []struct {
		what string
		send func(r *recorder)
		want int64
	}{
		{"one after the other", func(r *recorder) {
			r.compute(1000)
			r.call("MPI_Pready", 62, 0, 2*0+1)
			r.compute(500)
			r.call("MPI_Pready", 62, 1, 2*0+1)
		}, 1000 + 100 + 500 + 1450},
		{"the second behind the first", func(r *recorder) {
			r.call("MPI_Pready", 62, 0, 2*0+1)
			r.call("MPI_Pready", 62, 1, 2*0+1)
		}, 250 + 1450},
		{"both at once", func(r *recorder) {
			r.compute(300)
			r.call("MPI_Pready_range", 63, 0, 1, 2*0+1)
		}, 300 + 1700},
	} {
		endsAt(t, c.what, "", took+c.want+1200,
			func(r *recorder) {
				r.call("MPI_Psend_init", 60, 1, 0, 2, 250, byteType, 1, 5, tracktest.World, noInfo, 2*0+1)
				r.call("MPI_Start", 61, 2*0+1)
				c.send(r)
				r.call("MPI_Wait", 64, 2*0+1, 1, 0, 0, 8, 0)
				r.barrier()
			},
			func(r *recorder) {
				r.call("MPI_Precv_init", 65, 1, 0, 2, 250, byteType, 0, 5, tracktest.World, noInfo, 2*0+1)
				r.call("MPI_Start", 61, 2*0+1)
				r.call("MPI_Wait", 64, 2*0+1, 1, 0, 5, 500, 0)
				r.barrier()
			})
	}
}

// Collectives are done as the machine says: an all-reduce of two members is the same, a gather of three is not.
func TestAlgorithms(t *testing.T) {
	program := func(r *recorder) {
		r.call("MPI_Reduce", 60, 1, 0, 1, another, 400, byteType, 0x21, 0, tracktest.World)
		r.barrier()
	}
	for also, want := range map[string]int64{"": 2 * 1600, "algorithms = \"openmpi\"\n": 1600 + 3*100} {
		m, err := machine.ParseMachine("plain", []byte(also+plain))
		if err != nil {
			t.Fatal(err)
		}
		p := predict(t, record(t, 4, timing.ModeLossless, program), Options{Machine: m})
		without := predict(t, record(t, 4, timing.ModeLossless, func(r *recorder) { r.barrier() }), Options{Machine: m})
		if got := (p.Ranks[0].EndPs - without.Ranks[0].EndPs) / 1000; got < want-300 || got > want+300 {
			t.Errorf("%q: a reduction takes %d ns, about %d are wanted", also, got, want)
		}
	}
}
