package mpi

import (
	"slices"
	"strings"
)

// A Call describes one C function of the standard.
type Call struct {
	ID           uint16
	Name         string
	Section      string // of the standard, as in "3.2"
	SectionTitle string
	Class        Class
	Reason       string // why an Unwrapped call is not wrapped
	Large        bool   // large-count form: count and disp kinds are 64 bits wide
	Small        *Call  // of a large form: the call it widens
	LargeForm    *Call  // of a small form: its widened twin, if there is one
	Attrs        Attr
	Params       []Param
	Returns      Kind     // KindError for nearly all
	Forms        []Symbol // of a function of io.txt: what is recorded as this call
}

// Has reports whether the call has all attributes of a. A nil call, of an unknown function, has none.
func (c *Call) Has(a Attr) bool { return c != nil && c.Attrs&a == a }

// ReturnsValue reports whether the function returns something else than an error code.
func (c *Call) ReturnsValue() bool { return c.Returns != KindError && c.Returns != KindNone }

// Files reports whether the call is about an open file.
func (c *Call) Files() bool { return c != nil && c.Index("fh") >= 0 }

// Index returns the position of the named parameter, or -1.
func (c *Call) Index(param string) int {
	return slices.IndexFunc(c.Params, func(p Param) bool { return p.Name == param })
}

// Adds reports whether a parameter is an array of displacements that usually are the
// sums of the counts in the array just before it.
func (c *Call) Adds(i int) bool {
	if i == 0 {
		return false
	}
	counts, displs := &c.Params[i-1], &c.Params[i]
	return displs.Kind == KindDisp && counts.Kind == KindCount && displs.Array && counts.Array &&
		displs.Dir == In && counts.Dir == In && displs.Len.String() == counts.Len.String()
}

// Width returns the width of a parameter in this form of the call.
func (c *Call) Width(p *Param) Width { return p.Kind.Width(c.Large) }

// A Class says who writes the wrapper.
type Class uint8

// The classes.
const (
	Regular   Class = iota // generated from this table alone
	Irregular              // the body is written by hand
	Unwrapped              // not traced; Call.Reason says why
)

var classNames = [...]string{"regular", "irregular", "unwrapped"}

func (c Class) String() string { return classNames[c] }

// Attr is a set of facts about a call.
type Attr uint64

// The attributes.
const (
	Nonblocking  Attr = 1 << iota // a new one-shot request comes out
	Persistent                    // a new persistent request comes out
	Completes                     // may finish requests
	Starts                        // starts persistent requests
	CreatesComm                   // a new communicator comes out
	CreatesType                   // a new datatype comes out
	CreatesWin                    // a new window comes out
	Collective                    // all members of the communicator, window or file must call
	Local                         // completes without other processes
	Deprecated                    // by the standard
	Removed                       // from the standard; old libraries have it
	Tool                          // of the tools interface, MPI_T
	F90Only                       // exists for Fortran's sake
	Neighborhood                  // goes along the edges of the communicator's topology
	Chain                         // partial results go on from rank to rank
	GivesMemory                   // memory of the MPI's comes out
	Fixed                         // memory is known by its address from here, or until here
	Polls                         // says whether something has come about by now
	Begins                        // MPI_COMM_WORLD is there from here on
	Ends                          // and until here
	Duplicates                    // a communicator comes out with the topology of one that goes in
	Posix                         // a function of POSIX or C, from io.txt: the return code is errno
	Opens                         // of these: a descriptor, stream, directory or mapping comes out
	Closes                        // one is given back
	Shares                        // what comes out may have a name already
	Reads                         // the result says how much was read
	Writes                        // or written
	Synchronous                   // the message is complete only once its receive was posted
	Buffered                      // nobody waits for its receive
	Barrier                       // moves nothing, and ends for all when the last has come
	MayEnd                        // what looks like failure may be the end of the file
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
	Name          string
	Dir           Dir
	Kind          Kind
	Array         bool
	Len           Expr   // of an array: number of elements; of one out string: its room
	Inner         Expr   // of an array of arrays: length of each, always Null
	Written       Expr   // of an array that comes out, with Len for its room: what the MPI writes; nil: all of it
	OnlyRoot      bool   // significant only at the root
	LargeOnly     bool   // exists only in the large form
	If            string // the output is valid only if this parameter comes out non-zero
	UnlessInPlace string // not significant if this buffer is MPI_IN_PLACE
	Content       Content
	Varies        bool // may differ from call to call like a tag; see MayVary

	content Expr // of a choice buffer, before the other parameters are known
}

// HasIn reports whether the record of entering the call has a part for p. A
// choice buffer's address is known then, whatever becomes of the memory.
func (p *Param) HasIn() bool {
	return p.Kind.Form() != FormNone && (p.Dir != Out || p.Kind == KindBuffer)
}

// HasOut reports whether the record of leaving the call has a part for p. An
// inout request has none: what becomes of it follows from the call.
func (p *Param) HasOut() bool {
	switch {
	case p.Kind.Form() == FormNone, p.Dir == In, p.Dir == Free, p.Kind == KindBuffer:
		return false
	case p.Dir == InOut && p.Kind == KindRequest:
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
	return p.Dir != In && p.Kind != KindBuffer
}

// A Dir is a parameter's direction.
type Dir uint8

// The directions.
const (
	In    Dir = iota // read
	Out              // written
	InOut            // read and written
	Free             // handle passed by address, read, and set to the null handle
)

var dirNames = [...]string{"in", "out", "inout", "free"}

func (d Dir) String() string { return dirNames[d] }

// HasIn reports whether the callee reads the parameter. See Param.HasIn for
// what is recorded.
func (d Dir) HasIn() bool { return d != Out }

// HasOut reports whether the callee gives a value back. The null handle that a Free call returns does not count.
func (d Dir) HasOut() bool { return d == Out || d == InOut }

// Plain returns the call's form without large counts, which represents both.
func (c *Call) Plain() *Call {
	if c.Small != nil {
		return c.Small
	}
	return c
}
