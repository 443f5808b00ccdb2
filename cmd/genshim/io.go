package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/spoor-hpc/spoor/mpi"
)

//go:embed io.tmpl
var fileWrapperText string

var fileWrapper = template.Must(template.New("io").Parse(fileWrapperText))

const fileHead = "/* Made by cmd/genshim from mpi/io.txt. Do not edit. */\n#include \"io.h\"\nextern void *stdin, *stdout;\n"

// filePage is what io.tmpl needs to know of a function of the C library.
type filePage struct {
	ID              uint16
	Name, Return    string
	Prototype, Args string
	PointerArgs     string   // types of the arguments with which the wrapper calls the C library
	Callee          string   // the C library's function that the wrapper calls: Name, or its variant with a va_list
	Index           int      // index of the callee's address in sp_io_functions
	Rest            string   // the last named argument before "..."; "": the function has no "..."
	Last            string   // declaration of the only argument in "..."; "": all of "..." is passed on as a va_list
	Mode            bool     // Last is the permissions of a file, which callers pass only with some flags of open
	Known           []string // definitions of variables for recorded parameters that this function doesn't have
	Guard           string   // C condition under which the call is recorded
	Handles         int      // 1 if the function opens or closes files, else 0
	Enter           []string // statements that write the parameters into ENTER
	Void            bool     // the function has no result
	Failed          string   // C condition under which the call has failed
	Changed         bool     // a call counts as failed only if it has also changed errno
	Result          string   // C expression of the result's word in LEAVE; "": none
	Before, After   string   // statements that update which descriptors are recorded
}

// fileCalls returns a C file with the wrappers of POSIX's and C's functions on files.
func fileCalls(calls []*mpi.Call) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(fileHead)
	index, names := 0, ""
	for _, c := range calls {
		for _, s := range c.LibcFunctions() {
			p, err := newFilePage(c, &s, index)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
			index++
			names += fmt.Sprintf("\t%q,\n", s.Name)
			if err := fileWrapper.Execute(&b, p); err != nil {
				return nil, err
			}
		}
	}
	fmt.Fprintf(&b, "\nvoid *sp_io_functions[%d];\nconst char *const sp_io_names[] = {\n%s\tNULL,\n};\n", index, names)
	return b.Bytes(), nil
}

var fileTypes = map[mpi.Kind]string{
	mpi.KindFileDescriptor: "int", mpi.KindFileStream: "void *", mpi.KindDirStream: "void *", mpi.KindMappedFileAddress: "void *",
	mpi.KindFilePath: "const char *", mpi.KindString: "const char *", mpi.KindOpenFlags: "int", mpi.KindFilePermissions: "unsigned",
	mpi.KindPosixWhence: "int", mpi.KindErrno: "int", mpi.KindZeroOrMinusOne: "int", mpi.KindInt: "int", mpi.KindSize: "size_t",
	mpi.KindSsize: "ssize_t", mpi.KindOffT: "int64_t", mpi.KindOffTPointer: "int64_t *", mpi.KindIovecLength: "const struct iovec *",
	mpi.KindTextLengthOnly: "const char *", mpi.KindStringResult: "char *", mpi.KindAddressOrNull: "void *", mpi.KindUnrecordedAddress: "void *", mpi.KindNone: "void",
}

func newFilePage(c *mpi.Call, s *mpi.LibcFunction, index int) (*filePage, error) {
	p := &filePage{ID: c.ID, Name: s.Name, Index: index, Callee: s.Name, Return: fileTypes[c.ReturnKind], Void: c.ReturnKind == mpi.KindNone}
	if p.Return == "" {
		return nil, fmt.Errorf("no type in C for %s", c.ReturnKind)
	}
	var declared, args, types []string
	put := make(map[string]string)
	for i, a := range s.Args {
		typ := a.CType
		if typ == "" {
			typ = fileTypes[c.Params[c.Index(a.Name)].Kind]
		}
		if typ == "" {
			return nil, fmt.Errorf("no type in C for %s", a.Name)
		}
		if at := c.Index(a.Name); a.CValue != "" && c.Params[at].Array {
			put[a.Name] = "w_ = " + a.CValue + ";"
			continue
		}
		if a.CValue != "" {
			p.Known = append(p.Known, declare(typ, a.Name)+" = "+a.CValue)
			continue
		}
		types, args = append(types, typ), append(args, a.Name)
		if s.Variadic && s.VaListFunction == "" && i == len(s.Args)-1 {
			p.Last = declare(typ, a.Name)
			p.Mode = c.Params[c.Index(a.Name)].Kind == mpi.KindFilePermissions
			continue
		}
		declared = append(declared, declare(typ, a.Name))
		p.Rest = a.Name
	}
	switch {
	case !s.Variadic:
		p.Rest = ""
		p.PointerArgs = strings.Join(types, ", ")
	case s.VaListFunction == "":
		declared = append(declared, "...")
		p.PointerArgs = strings.Join(types[:len(types)-1], ", ") + ", ..."
	default:
		declared = append(declared, "...")
		args, types, p.Callee = append(args, "rest_"), append(types, "va_list"), s.VaListFunction
		p.PointerArgs = strings.Join(types, ", ")
	}
	p.Prototype, p.Args = strings.Join(declared, ", "), strings.Join(args, ", ")
	if p.Prototype == "" {
		p.Prototype, p.PointerArgs = "void", "void"
	}
	if c.Has(mpi.AttrPosixOpens) || c.Has(mpi.AttrPosixCloses) {
		p.Handles = 1
	}
	p.guard(c)
	for i := range c.Params {
		q := &c.Params[i]
		if q.HasEnterPart() {
			part := put[q.Name]
			if part == "" {
				var err error
				if part, err = filePart(q, s.Passes(q.Name)); err != nil {
					return nil, err
				}
			}
			p.Enter = append(p.Enter, part)
		}
	}
	p.result(c)
	p.states(c)
	return p, nil
}

// guard sets the condition under which a call is recorded. It depends on the file that is passed: on its path, else on
// its descriptor or stream.
func (p *filePage) guard(c *mpi.Call) {
	var open []string
	for i := range c.Params {
		q := &c.Params[i]
		switch q.Kind {
		case mpi.KindFilePath:
			if c.Name == "symlink" || c.Name == "symlinkat" {
				continue
			}
			p.Guard = fmt.Sprintf("sp_io_path(%s)", q.Name)
			return
		case mpi.KindFileDescriptor, mpi.KindFileStream, mpi.KindDirStream, mpi.KindMappedFileAddress:
			if q.Name != "newfd" {
				open = append(open, fmt.Sprintf("sp_io_%s(%s)", q.Kind, q.Name))
			}
		}
	}
	p.Guard = cmp.Or(strings.Join(open, " || "), "1")
	switch c.Name {
	case "symlink", "symlinkat":
		p.Guard = "sp_io_path(path)"
	case "mmap":
		p.Guard = "!(flags & MAP_ANONYMOUS) && " + p.Guard
	case "fcntl":
		p.Guard = "sp_io_duplicates(command) && " + p.Guard
	case "lio_listio":
		p.Guard = "sp_aio_counts(list, n)"
	case "fflush": // a null stream means all streams
		p.Guard = "!stream || " + p.Guard
	}
}

// filePart returns the C statement that writes a parameter into ENTER. It writes 0 if the function isn't passed the
// parameter (passed is false).
func filePart(q *mpi.Param, passed bool) (string, error) {
	if !passed {
		if q.Array || q.Kind.ValueForm() == mpi.ValueFormString {
			return "", fmt.Errorf("a form has to pass %s", q.Name)
		}
		return "*w_++ = 0;", nil
	}
	switch {
	case q.Kind == mpi.KindIovecLength && q.Array:
		return fmt.Sprintf("w_ = sp_put_iovec(t_, w_, %s, %s);", q.Name, q.Len), nil
	case q.Array:
		return "", fmt.Errorf("no array of %s", q.Kind)
	case q.Kind.ValueForm() == mpi.ValueFormString:
		return fmt.Sprintf("w_ = sp_put_string(t_, w_, %s, INT64_MAX);", q.Name), nil
	}
	return fmt.Sprintf("*w_++ = %s;", fileWord(q.Kind, q.Name)), nil
}

func fileWord(k mpi.Kind, v string) string {
	switch k {
	case mpi.KindFileStream:
		return "sp_io_stream_word(" + v + ")"
	case mpi.KindDirStream, mpi.KindMappedFileAddress:
		return "(uint64_t)(uintptr_t)" + v
	case mpi.KindOpenFlags:
		return "sp_io_flags(" + v + ")"
	case mpi.KindOffTPointer:
		return "sp_io_pos_at(" + v + ")"
	case mpi.KindTextLengthOnly, mpi.KindStringResult:
		return "sp_io_length(" + v + ")"
	case mpi.KindAddressOrNull:
		return v + " != NULL"
	}
	return "(uint64_t)(int64_t)" + v
}

// result sets Result, Failed and Changed.
func (p *filePage) result(c *mpi.Call) {
	if p.Void {
		p.Failed = "0"
		return
	}
	p.Result = fileWord(c.ReturnKind, "rc_")
	p.Changed = c.Has(mpi.AttrPosixMayHitEOF)
	p.Failed = map[mpi.Failure]string{
		mpi.FailsNever: "0", mpi.FailsNegative: "rc_ < 0", mpi.FailsNull: "!rc_", mpi.FailsMapFailed: "rc_ == MAP_FAILED", mpi.FailsBelowCount: "rc_ < n",
	}[c.Failure()]
	if c.ReturnKind == mpi.KindStringResult { // mpi/io.txt says -1, which is how a trace records C's NULL
		p.Failed = "!rc_"
	}
}

// states sets Before and After, the statements that track which descriptors' calls are recorded.
func (p *filePage) states(c *mpi.Call) {
	path := "NULL"
	for i := range c.Params {
		if q := &c.Params[i]; q.Kind == mpi.KindFilePath {
			path = q.Name
		}
	}
	switch {
	case c.Name == "dup" || c.Name == "dup2" || c.Name == "dup3":
		p.After = "sp_io_same(rc_, fd);"
	case c.Name == "fcntl":
		p.After = "if (sp_io_duplicates(command)) { sp_io_same(rc_, fd); }"
	case c.Name == "mmap":
		p.After = "if (recorded_ && rc_ != MAP_FAILED) { sp_io_mapped(rc_); }"
	case c.Name == "munmap":
		p.Before = "sp_io_unmapped(at);"
	case c.ReturnKind == mpi.KindFileDescriptor && !c.Has(mpi.AttrPosixMayBeOpen):
		p.After = fmt.Sprintf("sp_io_opened(rc_, %s);", path)
	case c.Name == "fopen" || c.Name == "freopen" || c.Name == "tmpfile":
		p.After = fmt.Sprintf("if (rc_) { sp_io_opened(sp_io_fileno(rc_), %s); }", path)
	case c.Name == "opendir":
		p.After = fmt.Sprintf("if (rc_) { sp_io_opened(sp_io_dirfd(rc_), %s); }", path)
	}
	switch c.Name {
	case "chdir", "fchdir":
		p.Before = "sp_context_folder();"
	case "close":
		p.Before = "sp_io_closed(fd);"
	case "fclose", "freopen":
		p.Before = "sp_io_closed(sp_io_fileno(stream));"
	case "closedir":
		p.Before = "sp_io_closed(sp_io_dirfd(dir));"
	}
}
