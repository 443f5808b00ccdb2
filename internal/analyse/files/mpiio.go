package files

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// isMPIIO reports whether a function opens an MPI file, works on an open one, or is passed its name.
func isMPIIO(def *mpi.Call) bool {
	return def != nil && !def.Has(mpi.AttrPosix) && strings.HasPrefix(def.Name, "MPI_File_") &&
		(def.UsesOpenFile() || def.Index("filename") >= 0) && !strings.HasSuffix(def.Name, "errhandler")
}

// mpiIO determines how many bytes a rank's MPI-IO calls read and write, and where in the file.
type mpiIO struct {
	moved *ops.MemberAmounts
	sizes *handles.Rank
}

// newMPIIO returns the mpiIO of a rank; nil if the trace has no MPI-IO calls.
func newMPIIO(r *trace.Reader, k *trace.Rank) (*mpiIO, error) {
	uses := false
	for _, f := range r.Schema() {
		def, _ := mpi.CallNamed(f.Name)
		uses = uses || isMPIIO(def)
	}
	if !uses {
		return nil, nil
	}
	sizes, err := handles.TableOf(r).Rank(k)
	if err != nil {
		return nil, err
	}
	class, err := ops.NewClassAmounts(r, k.Class())
	if err != nil {
		return nil, err
	}
	moved, err := class.Member(k, sizes)
	return &mpiIO{moved, sizes}, err
}

// moves lists a call's reads and writes. A split collective access counts at the call that begins it. It returns false
// if the call's function moves no data.
func (x *mpiIO) moves(c *trace.TimedCall, def *mpi.Call, o *opened) ([]move, bool) {
	name := strings.TrimPrefix(strings.TrimSuffix(def.Name, "_c"), "MPI_File_")
	written := strings.Contains(name, "write")
	if o == nil || !written && !strings.Contains(name, "read") {
		return nil, false
	}
	if strings.HasSuffix(name, "_end") {
		return nil, true
	}
	m := move{o: o, use: o.use, written: written, at: noPlace}
	amount := x.moved.Amounts(c.Terminal, c.Stream, c.Index, false)
	if m.bytes = int64(amount.In.TotalBytes); written {
		m.bytes = int64(amount.Out.TotalBytes)
	}
	at, explicit := number(c, "offset")
	switch {
	case o.unit == 0 || strings.Contains(name, "_shared") || strings.Contains(name, "_ordered"):
		m.at = unknown // the view has holes, or the access is at the file pointer that ranks share
	case explicit:
		m.at = o.base + at*o.unit
	}
	return []move{m}, true
}

// change updates, after a call, which file a handle refers to, and the file's view and position.
func (x *mpiIO) change(f *follower, c *trace.TimedCall, def *mpi.Call, o *opened, name string, u *Usage) {
	if c.Return != 0 {
		return
	}
	files := f.open[mpi.KindFile]
	fh := c.Param("fh")
	switch def.Name {
	case "MPI_File_open":
		u.Opens++
		mode, _ := number(c, "amode")
		o := &opened{name: name, use: u, unit: 1}
		if mode&mpi.ModeAppend != 0 {
			o.at = -1 // the first access is at the file's end, whose offset isn't known
		}
		files[fh.Out.Num] = o
	case "MPI_File_close":
		delete(files, fh.In.Num)
	case "MPI_File_set_view":
		size := func(name string) int64 {
			n, _ := x.sizes.TypeSize(c.Param(name).In.Num, c.Stream, c.Index)
			return n
		}
		o.at, o.base, o.unit = -1, 0, 0
		disp, ok := number(c, "disp")
		if ok && disp >= 0 && size("filetype") > 0 && x.sizes.ExtentRatio(c.Param("filetype").In.Num, c.Stream, c.Index) == 1 {
			o.at, o.base, o.unit = disp, disp, size("etype")
		}
	case "MPI_File_seek":
		at, _ := number(c, "offset")
		switch whence, _ := number(c, "whence"); {
		case whence == mpi.SeekEnd || o.unit == 0:
			o.at = -1
		case whence == mpi.SeekCurrent && o.at >= 0:
			o.at += at * o.unit
		case whence != mpi.SeekCurrent:
			o.at = o.base + at*o.unit
		}
	case "MPI_File_get_position":
		if p := c.Param("offset"); o.unit > 0 && p.Out.Type == trace.TypeInt {
			o.at = o.base + p.Out.Num*o.unit
		}
	}
}
