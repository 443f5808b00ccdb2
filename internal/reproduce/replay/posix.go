package replay

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Calls on files are made by the C functions that proxies use, as their types are C's:
// internal/reproduce/proxy/runtime/posix.h. They get the recorded parameters and the recorded result. The replay
// calls them through replayer/under/files.c.
const (
	filesBegin = "files_begin"
	filesPlace = "again_file"
	filesCall  = "files_call"
)

// fileWords is the number of words passed to a C function that makes a call on a file.
const fileWords = 10

// beginFiles makes the folder that replaces the root directory in calls on files. Programs that make such calls
// themselves run in a folder below it.
func (p *Process) beginFiles() error {
	calls, err := p.rank.DistinctCalls()
	own, named := uint64(0), false
	for _, c := range calls {
		if c.Func.Has(trace.AttrPosix) && !reissue.IsMPILibraryFileCall(c) {
			own = 1
		}
		named = named || c.Param("filename") != nil
	}
	switch {
	case err != nil || own == 0 && (!named || p.o.FilesFolder == ""):
		return err
	case p.o.FilesFolder == "":
		return errors.New("calls of the C library on files are made in a scratch folder only")
	}
	name := append([]byte(p.o.FilesFolder), 0)
	at, err := p.host.Alloc(int64(len(name)))
	if err != nil {
		return err
	}
	copy(bytesAt(at, len(name)), name)
	_, err = p.ask(filesBegin, at, uint64(p.rank.Number()), own)
	return err
}

// encodeFile lays out the words of a call on a file. The process is locked.
func (s *Stream) encodeFile(c *trace.Call, plan *callPlan) error {
	words := s.arena.take(8 * (fileWords + 1)) // the last word is errno
	if words == 0 {
		return s.arena.err
	}
	clear(bytesAt(words, 8*(fileWords+1)))
	n := 0
	put := func(v uint64) error {
		if n == fileWords {
			return fmt.Errorf("%s has more than %d words", c.Name(), fileWords)
		}
		store(words+8*uint64(n), 8, v)
		n++
		return nil
	}
	for i := range plan.params {
		st := &plan.params[i]
		if st.index < 0 {
			continue
		}
		w, err := s.fileWord(c, st, &c.Params[st.index])
		if err == nil {
			err = put(w)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", st.def.Name, err)
		}
	}
	got := uint64(0)
	if c.Result.Type == trace.TypeInt {
		got = uint64(c.Result.Num)
	}
	if err := put(got); err != nil {
		return err
	}
	if err := put(uint64(c.Return)); err != nil {
		return err
	}
	s.call.FunctionAddress = plan.through
	s.call.Words[0], s.call.Words[1], s.call.Words[2] = plan.address, words, words+8*fileWords
	s.call.OutcomeAddress = 0
	return s.arena.err
}

// fileWord returns the word for a parameter of a call on a file.
func (s *Stream) fileWord(c *trace.Call, st *argument, p *trace.Param) (uint64, error) {
	v := &p.In
	switch v.Type {
	case trace.TypeString:
		if v.IsNullString {
			return 0, nil
		}
		return s.cstring(v), s.arena.err
	case trace.TypeArray:
		if n := c.Param("iovcnt"); n == nil || n.In.Num != int64(len(v.Elems)) {
			return 0, nil // the recorder could not read the array
		}
		at := s.arena.take(8 * int64(max(1, len(v.Elems))))
		for i := range v.Elems {
			store(at+8*uint64(i), 8, uint64(v.Elems[i].Num))
		}
		return at, s.arena.err
	case trace.TypeHandle:
		w, err := s.find(st.def.Kind, v.Num)
		if err == nil {
			s.forget(c, st, v.Num)
		}
		return w, err
	case trace.TypeInt, trace.TypeNone:
		return uint64(v.Num), nil
	}
	return 0, fmt.Errorf("%s: %s: values of type %d can't be passed", c.Name(), st.def.Name, v.Type)
}

// fileOutcome returns what the call on a file just returned in the replay: errno, if it failed, and its result.
func (s *Stream) fileOutcome(c *trace.Call) (errno, result int64) {
	result = int64(s.call.Result)
	code := int64(load(s.call.Words[2], 8))
	failed := false
	switch s.plan.call.Failure() {
	case mpi.FailsNegative:
		failed = result < 0
	case mpi.FailsNull:
		failed = result == 0
	case mpi.FailsMapFailed:
		failed = result == -1
	case mpi.FailsBelowCount:
		n := c.Param("n")
		failed = n != nil && result < n.In.Num
	}
	if failed && (code != 0 || !s.plan.call.Has(mpi.AttrPosixMayHitEOF)) {
		errno = cmp.Or(code, -1)
	}
	return errno, result
}

// compareFile counts a call on a file whose result differs from the recorded one.
func (s *Stream) compareFile(c *trace.Call) {
	errno, result := s.fileOutcome(c)
	same := errno == c.Return
	if c.Result.Type == trace.TypeInt {
		same = same && (result == c.Result.Num || errno != 0)
	}
	if same {
		return
	}
	s.DifferentResults++
	if len(s.DifferenceExamples) < 3 {
		got := fmt.Sprint(result)
		if errno > 0 {
			got = mpi.ConstantName(mpi.KindErrno, errno)
		}
		s.DifferenceExamples = append(s.DifferenceExamples, fmt.Sprintf("%s instead: %s", got, c.Text()))
	}
}

// modeCreate is MPI_MODE_CREATE in the standard ABI, a bit of a file's access mode.
const modeCreate = 2

// Values for parameter found of again_file in internal/reproduce/proxy/runtime/posix.h, besides a size in bytes.
const (
	nothingFound = -1
	notThere     = -2
	// Size in bytes for a file that the program read and that no longer exists; the file is sparse.
	unknownSize = 1 << 30
)

// file returns the address of the path that replaces the path of a call that opens or deletes a file; 0 to keep the
// path. The process is locked.
func (s *Stream) file(c *trace.Call) (uint64, error) {
	name := c.Param("filename")
	if s.p.o.FilesFolder == "" || name == nil || name.In.IsNullString {
		return 0, nil
	}
	found, created := int64(nothingFound), false
	switch mode := c.Param("amode"); {
	case c.Return != 0:
		found = notThere
	case mode == nil:
	case mode.In.Num&modeCreate != 0:
		created = true
	default:
		found = unknownSize
		if st, err := os.Stat(name.In.Text); err == nil && st.Mode().IsRegular() {
			found = st.Size()
		}
	}
	at, err := s.p.ask(filesPlace, s.cstring(&name.In), uint64(found))
	if fh := c.Param("fh"); created && err == nil && fh != nil {
		if id, ok := fh.Out.CreatedHandleNumber(); ok {
			s.p.created[id] = textAt(at)
		}
	}
	return at, err
}

// fileSize extends an empty file to the size that the program found. The program would have created the file if no
// earlier run had left one. The process is locked.
func (p *Process) fileSize(c *trace.Call) error {
	fh, size := c.Param("fh"), c.Param("size")
	if c.Return != 0 || fh == nil || size == nil || size.Out.Num <= 0 {
		return nil
	}
	id, ok := fh.In.CreatedHandleNumber()
	path := p.created[id]
	if !ok || path == "" {
		return nil
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 0 {
		return nil
	}
	if err := os.Truncate(path, size.Out.Num); err != nil {
		return fmt.Errorf("file that was there before: %w", err)
	}
	return nil
}
