package reissue

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// IsMPILibrary reports whether a module (the path of a binary that was loaded) belongs to an MPI library.
func IsMPILibrary(module string) bool {
	name := path.Base(module)
	return slices.ContainsFunc([]string{"libmpi", "libpmpi", "libopen-", "mca_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// IsMPILibraryFileCall reports whether an MPI library made a call on a file. Another MPI makes such calls itself if it needs
// them.
func IsMPILibraryFileCall(c *trace.Call) bool {
	return c.Func.Has(trace.AttrPosix) && IsMPILibrary(c.Site.Module)
}

// IsAsynchronousIO reports whether a function starts asynchronous I/O or queries its result.
func IsAsynchronousIO(function string) bool {
	return strings.HasPrefix(function, "aio_") || function == "lio_listio"
}

// FileCallsHeader returns a C header for runtime/posix.h of proxies. It declares the parameters of the functions that
// make calls on files again: those recorded, the recorded result and errno.
func FileCallsHeader() []byte {
	b := []byte("/* Made from the functions that spoor records. Do not edit. */\n")
	names := "#define AGAIN_CALLS(CALL)"
	for _, c := range mpi.PosixFileCalls() {
		if IsAsynchronousIO(c.Name) {
			continue
		}
		names += " CALL(" + c.Name + ")"
		b = fmt.Appendf(b, "#define AGAIN_OF_%s ", c.Name)
		for i := range c.Params {
			if p := &c.Params[i]; p.Kind.ValueForm() != mpi.ValueFormNone {
				b = fmt.Appendf(b, "%s%s, ", typeInC(c, p), p.Name)
			}
		}
		b = fmt.Append(b, "int64_t got, int err\n")
	}
	return append(b, names+"\n"...)
}

func typeInC(c *mpi.Call, p *mpi.Param) string {
	switch p.Kind {
	case mpi.KindFilePath, mpi.KindString:
		return "const char *"
	case mpi.KindFileStream:
		return "FILE *"
	case mpi.KindDirStream:
		return "DIR *"
	case mpi.KindMappedFileAddress:
		return "void *"
	case mpi.KindFilePermissions:
		return "unsigned "
	case mpi.KindFileDescriptor:
		return "int "
	}
	switch {
	case p.Array:
		return "const int64_t *"
	case c.Width(p) == mpi.Width32:
		return "int "
	}
	return "int64_t "
}

// HasFileCalls reports whether the program itself made calls of the C library on files, and whether its MPI library did.
func HasFileCalls(r *trace.Reader) (program, library bool, err error) {
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return false, false, fmt.Errorf("reissue: %w", err)
		}
		calls, err := k.DistinctCalls()
		if err != nil {
			return false, false, fmt.Errorf("reissue: %w", err)
		}
		for _, c := range calls {
			if c.Func.Has(trace.AttrPosix) {
				library = library || IsMPILibraryFileCall(c)
				program = program || !IsMPILibraryFileCall(c)
			}
		}
	}
	return program, library, nil
}

// whyFile returns the reason why a call of the C library on a file can't be made again; "" if it can.
func whyFile(c *trace.Call) string {
	if IsMPILibraryFileCall(c) {
		return ""
	}
	if IsAsynchronousIO(c.Name()) {
		return "operations that the program doesn't wait for are not made again"
	}
	for i := range c.Params {
		p := &c.Params[i]
		// A call with an invalid handle fails again in the same way.
		if p.In.Type == trace.TypeHandle && p.In.Num == trace.UnknownHandle && p.Name() != "newfd" && c.Return == 0 && !mayEnd(c) {
			return notSeen(p)
		}
	}
	return ""
}

func mayEnd(c *trace.Call) bool {
	def, ok := mpi.CallNamed(c.Name())
	return ok && def.Has(mpi.AttrPosixMayHitEOF)
}

func notSeen(p *trace.Param) string {
	return "a file that was not seen being opened (" + p.Name() + ")"
}
