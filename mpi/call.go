package mpi

import (
	"slices"
	"strings"
)

// A Call describes one C function of the standard, or one of POSIX or C that works on files.
type Call struct {
	ID              uint16
	Name            string
	Section         string // number of the section of the standard that defines the function, e.g. "3.2"
	SectionTitle    string
	WrapperClass    WrapperClass
	UnwrappedReason string // for WrapperAbsent: why the call is not wrapped
	Large           bool   // large-count form: parameters of KindCount and KindDisp have 64 bits
	SmallForm       *Call  // for a large form: the small form of the same function; else nil
	LargeForm       *Call  // for a small form: the large form of the same function; nil without one
	Attrs           Attr
	Params          []Param
	ReturnKind      Kind // kind of the returned value: KindError for nearly all functions of MPI
	// For a function of io.txt: the C library's functions that are recorded as this call; empty: only the one of its
	// name.
	DeclaredLibcFunctions []LibcFunction
}

// Has reports whether the call has all attributes of a. A nil call, of an unknown function, has none.
func (c *Call) Has(a Attr) bool { return c != nil && c.Attrs&a == a }

// ReturnsValue reports whether the function returns a value that is not an error code.
func (c *Call) ReturnsValue() bool { return c.ReturnKind != KindError && c.ReturnKind != KindNone }

// UsesOpenFile reports whether the call has a parameter for an open MPI file.
func (c *Call) UsesOpenFile() bool { return c != nil && c.Index("fh") >= 0 }

// Index returns the position of a parameter by its name, from 0; -1 if the call has no such parameter.
func (c *Call) Index(param string) int {
	return slices.IndexFunc(c.Params, func(p Param) bool { return p.Name == param })
}

// DisplsAreSums reports whether parameter i is an array of displacements that are usually sums of the counts in the
// parameter before it.
func (c *Call) DisplsAreSums(i int) bool {
	if i == 0 {
		return false
	}
	counts, displs := &c.Params[i-1], &c.Params[i]
	return displs.Kind == KindDisp && counts.Kind == KindCount && displs.Array && counts.Array &&
		displs.Dir == DirIn && counts.Dir == DirIn && displs.Len.String() == counts.Len.String()
}

// Width returns the width of parameter p of this call, which depends on whether the call is a large form.
func (c *Call) Width(p *Param) Width { return p.Kind.Width(c.Large) }

// A WrapperClass says how the wrapper of a function is made.
type WrapperClass uint8

// The classes.
const (
	WrapperGenerated   WrapperClass = iota // the wrapper is generated from calls.txt alone
	WrapperHandwritten                     // the body of the wrapper is written by hand
	WrapperAbsent                          // no wrapper, so calls are not traced; Call.UnwrappedReason says why
)

var classNames = [...]string{"regular", "irregular", "unwrapped"}

func (c WrapperClass) String() string { return classNames[c] }

// Attr is a set of properties of a function.
type Attr uint64

// The attributes.
const (
	AttrNonblocking Attr = 1 << iota // each call creates a one-shot request
	AttrPersistent                   // each call creates a persistent request
	AttrCompletes                    // a call may complete requests
	AttrStarts                       // a call starts persistent requests
	AttrCreatesComm                  // creates a communicator
	AttrCreatesType                  // creates a datatype
	AttrCreatesWin                   // creates a window
	AttrCollective                   // collective: all members of the communicator, window or file must call it
	AttrLocal                        // returns without waiting for other processes
	AttrDeprecated                   // deprecated by the standard
	AttrRemoved                      // removed from the standard, but old MPI libraries have it
	AttrTool                         // part of the tools interface, MPI_T
	AttrF90Only                      // exists in Fortran only
	// A neighbourhood collective: data moves along the edges of the communicator's topology.
	AttrNeighborhood
	// A collective in which partial results are passed from rank to rank, as in MPI_Scan.
	AttrPrefixReduction
	AttrAllocatesMemory // returns memory that the MPI allocated
	AttrBindsAddress    // from this call on, or up to it, the address that is passed identifies memory
	AttrPolls           // reports whether something has happened, without waiting for it
	AttrInitialises     // MPI_COMM_WORLD exists from this call on
	AttrFinalises       // MPI_COMM_WORLD exists up to this call
	AttrDuplicatesComm  // the new communicator has the topology of the old one
	AttrPosix           // a function of POSIX or C, from io.txt: the return code is errno
	AttrPosixOpens      // a function of POSIX or C that returns an open descriptor, stream, directory or mapping
	AttrPosixCloses     // a function of POSIX or C that closes a descriptor, stream, directory or mapping
	AttrPosixMayBeOpen  // with AttrPosixOpens: what the function returns may have been open before
	AttrPosixReads      // a function of POSIX or C whose result is how much was read
	AttrPosixWrites     // a function of POSIX or C whose result is how much was written
	AttrSynchronous     // a send that completes only after its receive was posted
	// A send that copies the message to a buffer, and so does not wait for its receive.
	AttrBuffered
	// A collective that moves no data, and completes only after all members have called it.
	AttrBarrier
	AttrPosixMayHitEOF // a result that looks like failure may be the end of the file, see Call.Failure
	attrEnd
)

var attrNames = []string{
	"nonblocking", "persistent", "completes", "starts", "creates-comm", "creates-type", "creates-win",
	"collective", "local", "deprecated", "removed", "tool", "f90only",
	"neighborhood", "chain", "gives-memory", "fixed", "polls", "begins", "ends", "duplicates",
	"posix", "opens", "closes", "shares", "reads", "writes", "synchronous", "buffered", "barrier", "may-end",
}

// String lists the names of the attributes, as calls.txt has them.
func (a Attr) String() string {
	var list []string
	for i, name := range attrNames {
		if a&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

func attrNamed(name string) (Attr, bool) {
	for i, n := range attrNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// A Param describes one parameter of a function.
type Param struct {
	Name  string
	Dir   Dir
	Kind  Kind
	Array bool
	Len   Expr // of an array: its number of elements; of an output string: its capacity in bytes
	// Of an array of arrays: the length of each inner array, which is always NullTerminatedExpr; else nil.
	InnerLen Expr
	// Of an output array whose capacity is Len: number of elements that the MPI writes; nil: all of them.
	WrittenLen Expr
	OnlyRoot   bool // significant at the root only: on all other ranks the MPI ignores it
	LargeOnly  bool // only the large form of the function has it
	// Name of another output: this output is valid only if that one is not 0; "": it is always valid.
	ValidIfNonZero string
	// Name of a buffer: the MPI ignores this parameter if that buffer is MPI_IN_PLACE; "": never.
	IgnoredIfInPlace    string
	BufferContent       BufferContent
	VariesByDeclaration bool // its value may differ between otherwise equal calls, like a tag; see MayVary

	// Of a choice buffer: the product in data() or memory(), before newContent puts it into BufferContent.
	content Expr
}

// HasEnterPart reports whether the ENTER record of a call has a value for p. For a choice buffer that is its address,
// even if the call only writes to the buffer.
func (p *Param) HasEnterPart() bool {
	return p.Kind.ValueForm() != ValueFormNone && (p.Dir != DirOut || p.Kind == KindBuffer)
}

// HasLeavePart reports whether the LEAVE record of a call has a value for p. A request that is read and written has
// none, as its new state follows from the call.
func (p *Param) HasLeavePart() bool {
	switch {
	case p.Kind.ValueForm() == ValueFormNone, p.Dir == DirIn, p.Dir == DirFree, p.Kind == KindBuffer:
		return false
	case p.Dir == DirInOut && p.Kind == KindRequest:
		return false
	}
	return true
}

// IsPassedByAddress reports whether C passes a pointer to the value, or to the first element of an array. For a single
// buffer, string or status it is false, as such a value is itself a pointer in C.
func (p *Param) IsPassedByAddress() bool {
	if p.Array {
		return true
	}
	switch p.Kind.ValueForm() {
	case ValueFormNone, ValueFormString, ValueFormStatus:
		return false
	}
	return p.Dir != DirIn && p.Kind != KindBuffer
}

// A Dir is the direction of a parameter.
type Dir uint8

// The directions.
const (
	DirIn    Dir = iota // the function reads the parameter
	DirOut              // the function writes the parameter
	DirInOut            // the function reads and writes the parameter
	DirFree             // the function reads a handle by its address, and sets it to the null handle
)

var dirNames = [...]string{"in", "out", "inout", "free"}

func (d Dir) String() string { return dirNames[d] }

// HasIn reports whether the function reads a parameter of this direction. What is recorded, Param.HasEnterPart says.
func (d Dir) HasIn() bool { return d != DirOut }

// HasOut reports whether the function writes a parameter of this direction. The null handle written to a DirFree
// parameter does not count.
func (d Dir) HasOut() bool { return d == DirOut || d == DirInOut }

// BaseForm returns the small form of the call's function. It is the call itself, unless that is a large form.
func (c *Call) BaseForm() *Call {
	if c.SmallForm != nil {
		return c.SmallForm
	}
	return c
}
