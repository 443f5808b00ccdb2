package files

import (
	"fmt"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

const first = mpi.FirstUserHandleID

// own is the value of a path in which the rank's number is told apart.
func own(r *tracktest.Recorder, path string) int64 {
	return r.String(string(signature.FileTemplate([]byte(path), r.Rank)))
}

// program has each rank write a file of its own in strides, and read one of all at random.
func program(r *tracktest.Recorder) {
	r.Call("MPI_Init", 1)
	r.Call("open", 2, first, own(r, ownName(r.Rank)), 0x241, 0o644)
	for i := range int64(10) {
		r.LaneOn(0, "pwrite", 3, []int{4}, 0, 4096, first, 4096, i*8192)
	}
	r.Call("lseek", 4, 100, first, 100, 0)
	r.Call("write", 5, 50, first, 50)
	r.Call("write", 5, 50, first, 50)
	r.Call("close", 6, 0, first)
	r.CallOn(0, "open", 7, 2, 1, r.String("none"), 0, 0) // ENOENT
	r.Call("fopen", 8, first, r.String("all.txt"), r.String("r"))
	r.Call("fread", 9, 3, 1000, 4, first)
	r.Call("fgets", 10, 17, 100, first)
	r.Call("fileno", 11, first, first)
	r.Call("fstat", 12, 0, first)
	for _, at := range []int64{1 << 20, 5, 12345} {
		r.Call("pread", 13, 10, first, 10, at)
	}
	r.Call("fclose", 14, 0, first)
	r.Call("write", 15, 9, mpiStdout, 9)
	r.Call("MPI_Finalize", 16)
}

const mpiStdout = 17

func ownName(rank int) string { return fmt.Sprintf("out.%05d", rank) }

func TestCompute(t *testing.T) {
	const ranks = 3
	r := mergetest.Run(t, ranks, program)
	for _, each := range []bool{false, true} {
		rep, err := Analyse(r, Options{SeparateRankFiles: each})
		if err != nil {
			t.Fatal(err)
		}
		files := make(map[string]*File)
		for _, f := range rep.Files {
			files[f.Path] = f
		}
		want := "out.%05d"
		if each {
			want = "out.00002"
		}
		f := files[want]
		if f == nil || f.IsFilePerRank == each {
			t.Fatalf("each %v: files %v", each, files)
		}
		u := f.UseByRank[2]
		if u.Opens != 1 || u.Writes.Calls != 12 || u.Writes.Bytes != 10*4096+100 || u.MetaCalls != 3 || u.FailedCalls != 0 {
			t.Errorf("own file: %+v", *u)
		}
		// the first, and the two after the seek: the second of these follows
		if u.SequentialAccesses != 2 || u.StridedAccesses != 9 || u.RandomAccesses != 1 || u.UnalignedAccesses != 2 || u.FurthestByte != 9*8192+4096 {
			t.Errorf("own file: %d sequential, %d strided, %d random, %d unaligned, to %d", u.SequentialAccesses, u.StridedAccesses, u.RandomAccesses, u.UnalignedAccesses, u.FurthestByte)
		}
		if u.Writes.SizeHistogram[0] != 2 || u.Writes.SizeHistogram[2] != 10 {
			t.Errorf("sizes %v", u.Writes.SizeHistogram)
		}
		if n := files["none"]; n == nil || n.Total.FailedCalls != ranks || n.Total.Opens != 0 {
			t.Errorf("a file that isn't there: %+v", n)
		}
		all := files["all.txt"]
		if all.SharingRanks() != ranks || all.IsFilePerRank {
			t.Errorf("all.txt is shared by %d", all.SharingRanks())
		}
		if u := all.UseByRank[0]; u.Reads.Calls != 5 || u.Reads.Bytes != 3000+17+30 || u.MetaCalls != 4 || u.RandomAccesses != 3 || u.SequentialAccesses != 2 {
			t.Errorf("all.txt: %+v", *u)
		}
		if o := files["STDOUT_FILENO"]; o == nil || o.Total.Writes.Bytes != 9*ranks {
			t.Errorf("standard output: %+v", o)
		}
	}
}

// A file for each of very many ranks takes little more than one.
func TestManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("16,384 ranks take some seconds")
	}
	const ranks = 16384
	r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
		r.Call("MPI_Init", 1)
		r.Call("open", 2, first, own(r, ownName(r.Rank)), 0x241, 0o644)
		for i := range int64(8) {
			r.LaneOn(0, "pwrite", 3, []int{4}, 0, 4096, first, 4096, i*4096)
		}
		r.Call("close", 6, 0, first)
		r.Call("MPI_Finalize", 16)
	})
	for _, rank := range []int{0, 7, 12345} {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.Call(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.Param("path").In.Text, ownName(rank); got != want {
			t.Errorf("rank %d opens %q, want %q", rank, got, want)
		}
	}
	size := 0
	for _, s := range r.Sections() {
		switch s.Name {
		case "strings", "signatures", "classes", "columns", "lanes":
			size += int(s.StoredBytes)
		}
	}
	t.Logf("%d bytes of calls", size)
	if size == 0 || size > 2048 {
		t.Errorf("%d ranks with a file each: %d bytes of calls", ranks, size)
	}
}

func TestBins(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		bin   int
	}{{0, 0}, {99, 0}, {100, 1}, {1023, 1}, {1024, 2}, {1 << 30, 9}, {math.MaxInt64 - 1, 9}} {
		var m Transfers
		m.count(c.bytes, 0)
		if m.SizeHistogram[c.bin] != 1 {
			t.Errorf("%d bytes: %v", c.bytes, m.SizeHistogram)
		}
	}
}
