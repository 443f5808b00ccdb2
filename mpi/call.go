package mpi

import (
	"slices"
	"strings"
)

// A Call describes one C function of the standard.
type Call struct {
	ID                    uint16
	Name                  string
	Section               string // the section of the standard that defines the function, as in "3.2"
	SectionTitle          string
	Class                 Class
	Reason                string // why a ClassUnwrapped call is not wrapped
	Large                 bool   // large-count form: count and disp kinds are 64 bits wide
	SmallForm             *Call  // of a large form: the call it widens
	LargeForm             *Call  // of a small form: its large form, nil without one
	Attrs                 Attr
	Params                []Param
	ReturnKind            Kind           // the kind of the return value: KindError for nearly all functions
	DeclaredLibcFunctions []LibcFunction // of a function of io.txt: the C library's functions that are recorded as this call
}

// Has reports whether the call has all attributes of a. A nil call, of an unknown function, has none.
func (c *Call) Has(a Attr) bool { return c != nil && c.Attrs&a == a }

// ReturnsValue reports whether the function returns something else than an error code.
func (c *Call) ReturnsValue() bool { return c.ReturnKind != KindError && c.ReturnKind != KindNone }

// UsesOpenFile reports whether the call works on an open MPI file.
func (c *Call) UsesOpenFile() bool { return c != nil && c.Index("fh") >= 0 }

// Index returns the position of the named parameter, or -1.
func (c *Call) Index(param string) int {
	return slices.IndexFunc(c.Params, func(p Param) bool { return p.Name == param })
}

// DisplsAreSums reports whether a parameter is an array of displacements that usually are the
// sums of the counts in the array just before it.
func (c *Call) DisplsAreSums(i int) bool {
	if i == 0 {
		return false
	}
	counts, displs := &c.Params[i-1], &c.Params[i]
	return displs.Kind == KindDisp && counts.Kind == KindCount && displs.Array && counts.Array &&
		displs.Dir == DirIn && counts.Dir == DirIn && displs.Len.String() == counts.Len.String()
}

// Width returns the width of a parameter in this form of the call.
func (c *Call) Width(p *Param) Width { return p.Kind.Width(c.Large) }

// A Class says who writes the wrapper.
type Class uint8

// A Class determines who writes the wrapper.
const (
	ClassRegular   Class = iota // generated from this table alone
	ClassIrregular              // the body is written by hand
	ClassUnwrapped              // not traced; Call.Reason says why
)

var classNames = [...]string{"regular", "irregular", "unwrapped"}

func (c Class) String() string { return classNames[c] }

// Attr is a set of facts about a call.
type Attr uint64

// The attributes.
const (
	AttrNonblocking    Attr = 1 << iota // creates a one-shot request
	AttrPersistent                      // creates a persistent request
	AttrCompletes                       // may complete requests
	AttrStarts                          // starts persistent requests
	AttrCreatesComm                     // creates a communicator
	AttrCreatesType                     // creates a datatype
	AttrCreatesWin                      // creates a window
	AttrCollective                      // all members of the communicator, window or file must call it
	AttrLocal                           // completes without other processes
	AttrDeprecated                      // deprecated by the standard
	AttrRemoved                         // removed from the standard; old libraries have it
	AttrTool                            // part of the tools interface, MPI_T
	AttrF90Only                         // exists for Fortran only
	AttrNeighborhood                    // a neighbourhood collective: data moves along the edges of the communicator's topology
	AttrChained                         // partial results are passed from rank to rank
	AttrGivesMemory                     // returns memory that the MPI allocated
	AttrFixed                           // the address that is passed identifies memory from this call on, or up to it
	AttrPolls                           // reports whether something has happened by now, without waiting
	AttrInitialises                     // MPI_COMM_WORLD exists from this call on
	AttrFinalises                       // MPI_COMM_WORLD exists up to this call
	AttrDuplicates                      // creates a communicator with the topology of the old one
	AttrPosix                           // a function of POSIX or C, from io.txt: the return code is errno
	AttrOpens                           // a function of POSIX or C that returns an open descriptor, stream, directory or mapping
	AttrCloses                          // a function of POSIX or C that closes a descriptor, stream, directory or mapping
	AttrMayReturnNamed                  // with AttrOpens: what the function returns may be open already
	AttrReads                           // a function of POSIX or C whose result is how much was read
	AttrWrites                          // a function of POSIX or C whose result is how much was written
	AttrSynchronous                     // the message is complete only after its receive was posted
	AttrBuffered                        // the message waits in a buffer: nobody waits for its receive
	AttrBarrier                         // moves no data, and ends for all members after the last one arrived
	AttrMayHitEOF                       // an apparent failure may be the end of the file
	attrEnd
)

var attrNames = []string{
	"nonblocking", "persistent", "completes", "starts", "creates-comm", "creates-type", "creates-win",
	"collective", "local", "deprecated", "removed", "tool", "f90only",
	"neighborhood", "chain", "gives-memory", "fixed", "polls", "begins", "ends", "duplicates",
	"posix", "opens", "closes", "shares", "reads", "writes", "synchronous", "buffered", "barrier", "may-end",
}

// String lists the attributes as calls.txt does.
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

// A Param describes one parameter.
type Param struct {
	Name                string
	Dir                 Dir
	Kind                Kind
	Array               bool
	Len                 Expr   // of an array: number of elements; of an output string: its capacity
	InnerLen            Expr   // of an array of arrays: length of each inner array, always NullTerminated
	WrittenLen          Expr   // of an output array with capacity Len: number of elements that the MPI writes; nil: all of them
	OnlyRoot            bool   // significant only at the root
	LargeOnly           bool   // exists only in the large form
	ValidIf             string // the output is valid only if the output of this parameter is non-zero
	UnlessInPlace       string // not significant if this buffer is MPI_IN_PLACE
	Content             Content
	VariesByDeclaration bool // may differ from call to call, like a tag; see MayVary

	content Expr // of a choice buffer: the product in data() or memory(); newContent reads it once all parameters are known
}

// HasIn reports whether the ENTER record has a part for p. It has the address of a choice buffer, even if the call
// writes to the buffer.
func (p *Param) HasIn() bool {
	return p.Kind.Form() != FormNone && (p.Dir != DirOut || p.Kind == KindBuffer)
}

// HasOut reports whether the LEAVE record has a part for p. An inout request has none: its new state follows from
// the call.
func (p *Param) HasOut() bool {
	switch {
	case p.Kind.Form() == FormNone, p.Dir == DirIn, p.Dir == DirFree, p.Kind == KindBuffer:
		return false
	case p.Dir == DirInOut && p.Kind == KindRequest:
		return false
	}
	return true
}

// ByAddress reports whether C passes a pointer to the value or to the first
// element. One buffer, string or status is itself a pointer in C, whatever its
// direction; for these ByAddress is false.
func (p *Param) ByAddress() bool {
	if p.Array {
		return true
	}
	switch p.Kind.Form() {
	case FormNone, FormString, FormStatus:
		return false
	}
	return p.Dir != DirIn && p.Kind != KindBuffer
}

// A Dir is a parameter's direction.
type Dir uint8

// The directions.
const (
	DirIn    Dir = iota // read
	DirOut              // written
	DirInOut            // read and written
	DirFree             // handle passed by address, read, and set to the null handle
)

var dirNames = [...]string{"in", "out", "inout", "free"}

func (d Dir) String() string { return dirNames[d] }

// HasIn reports whether the callee reads the parameter. See Param.HasIn for
// what is recorded.
func (d Dir) HasIn() bool { return d != DirOut }

// HasOut reports whether the callee returns a value. The null handle that a DirFree parameter gets does not count.
func (d Dir) HasOut() bool { return d == DirOut || d == DirInOut }

// BaseForm returns the small form of the call, which represents both forms.
func (c *Call) BaseForm() *Call {
	if c.SmallForm != nil {
		return c.SmallForm
	}
	return c
}
