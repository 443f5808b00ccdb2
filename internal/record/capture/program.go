package capture

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A program is how to read the records of a function: a list of instructions for ENTER and one for LEAVE. It is
// compiled once from the table of calls, so that reading needs no look-ups.
type program struct {
	call   *mpi.Call
	layout signature.Layout
	in     []instruction
	out    []instruction

	completes  bool
	leaves     bool // may leave requests of its array unfinished (MPI_Waitany), see signature.RequestArrayState
	makes      bool // returns a new request
	persistent bool // the new request is persistent
	request    symbol.RequestKind
	newComm    bool
	newType    bool
	delayed    bool // the new communicator's handle may become known only after the call
	transfer   bool // statuses are of I/O operations
	use        requestUse
	binds      bool // creates or frees an object with a handle, except for a one-shot request, see makesNames
	alike      bool // equal records have the same meaning in all threads
	lanes      bool // its calls may have lanes

	// endsPlainly is set if ENTER ends with a request or an array of requests, after fields of one word each. Then
	// requestAt is the index in the record at which the request or array begins. requestArray is set for an array.
	endsPlainly  bool
	requestArray bool
	requestAt    int

	// number of leading words of ENTER and LEAVE that are hashed to find a call in the cache; words that probably
	// differ in every call are not included.
	hashIn, hashOut int

	hasIndex    bool
	hasIndices  bool
	hasRequests bool
}

// An instruction reads one field of a record.
type instruction struct {
	code    opcode
	element opcode   // if code is codeArray: opcode for each element
	kind    mpi.Kind // kind of the parameter
	first   bool     // the field is the call's first communicator, from which any new one is created
	adds    bool     // the field is an array of displacements, often the prefix sums of the array of counts before it
	fresh   bool     // a returned handle is always a new object, even if its value was used before
	gate    int16    // index, among LEAVE's output words, of a flag: if that is 0, the field is not valid; -1: no flag
	table   *mpi.NumberTable
	handles *symbol.Handles
}

type opcode uint8

const (
	codeInt opcode = iota
	codeTable
	codeTime
	codeHandle
	codeComm
	codeFree
	codeMade
	codeUpdated
	codeRequest
	codeRequestFree
	codeRequestMade
	codeAddress
	codeFunction
	codeString
	codeStatus
	codeFlag  // output flag of a call that completes requests, e.g. MPI_Test
	codeIndex // output index of a call that completes one request of an array, e.g. MPI_Waitany
	codeArray
)

// words returns how many words a field takes; 0: it varies.
func (s *instruction) words() int {
	switch s.code {
	case codeAddress, codeRequest, codeRequestFree, codeRequestMade:
		return 2
	case codeStatus:
		return 6
	case codeString, codeArray:
		return 0
	}
	return 1
}

func (c *Capture) program(id uint16) *program {
	if int(id) < len(c.programs) && c.programs[id] != nil {
		return c.programs[id]
	}
	call, ok := mpi.CallByID(id)
	if !ok {
		return nil
	}
	for int(id) >= len(c.programs) {
		c.programs = append(c.programs, nil)
	}
	c.programs[id] = c.compile(call)
	return c.programs[id]
}

func (c *Capture) compile(call *mpi.Call) *program {
	p := &program{
		call:       call,
		layout:     signature.LayoutOf(call),
		completes:  call.Has(mpi.AttrCompletes),
		persistent: call.Has(mpi.AttrPersistent),
		makes:      call.Has(mpi.AttrPersistent) || call.Has(mpi.AttrNonblocking),
		newComm:    call.Has(mpi.AttrCreatesComm),
		newType:    call.Has(mpi.AttrCreatesType),
		delayed:    call.Has(mpi.AttrCreatesComm) && call.Has(mpi.AttrNonblocking),
		transfer:   call.UsesOpenFile(),
		request:    requestKind(call),
		hasIndices: call.Has(mpi.AttrCompletes) && hasIndices(call),
	}
	p.leaves = p.layout.LeavesRequestArray()
	if p.returns() {
		p.out = append(p.out, c.result(call))
	}
	comms := 0
	for i := range call.Params {
		q := &call.Params[i]
		if q.LargeOnly && !call.Large {
			continue
		}
		if q.HasEnterPart() {
			s := c.step(call, p, q, false)
			s.adds = call.DisplsAreSums(i)
			if s.code == codeComm {
				comms++
				s.first = comms == 1
			}
			p.in = append(p.in, s)
		}
		if q.HasLeavePart() {
			p.out = append(p.out, c.step(call, p, q, true))
		}
	}
	p.setGates()
	p.setRequests()
	p.use = p.requestUse()
	p.binds = p.makesNames()
	p.alike = p.use == noRequests && !p.hasAddress()
	p.lanes = !p.binds && !call.CreatesOrFreesObject()
	p.setTelling()
	return p
}

// returns reports whether the function returns something other than an error code.
func (p *program) returns() bool { return p.call.ReturnsValue() }

// requestKind returns the kind of the requests that call makes. It determines which fields their statuses have.
func requestKind(call *mpi.Call) symbol.RequestKind {
	switch {
	case meaning.WaitBehaviourOf(call).Receives, call.Has(mpi.AttrNonblocking) && call.Index("query_fn") >= 0: // a generalised request's query function sets the status
		return symbol.RequestReceive
	case call.UsesOpenFile():
		return symbol.RequestFileAccess
	}
	return symbol.RequestSend // also for collectives and one-sided operations: only cancelled is defined
}

func (c *Capture) result(call *mpi.Call) instruction {
	k := call.ReturnKind
	s := instruction{kind: k, gate: -1, handles: c.handles[k]}
	s.code = c.plain(&s)
	if call.Has(mpi.AttrPosixOpens) {
		s.code, s.fresh = codeMade, !call.Has(mpi.AttrPosixMayBeOpen)
	}
	switch s.code {
	case codeComm:
		s.code = codeHandle
	case codeRequest:
		s.code = codeInt // the result of a conversion is not in a variable, whose address codeRequest needs
	}
	return s
}

// plain returns the opcode for a scalar input of kind s.kind. For an integer it sets s.table, too.
func (c *Capture) plain(s *instruction) opcode {
	switch s.kind.ValueForm() {
	case mpi.ValueFormDouble:
		return codeTime
	case mpi.ValueFormHandle:
		switch s.kind {
		case mpi.KindComm:
			return codeComm
		case mpi.KindRequest:
			return codeRequest
		}
		return codeHandle
	case mpi.ValueFormToolObject:
		return codeHandle
	case mpi.ValueFormAddress:
		return codeAddress
	case mpi.ValueFormFunction:
		return codeFunction
	case mpi.ValueFormString:
		return codeString
	case mpi.ValueFormStatus:
		return codeStatus
	case mpi.ValueFormInt, mpi.ValueFormNone: // nothing is recorded for ValueFormNone
	default:
		panic(fmt.Sprintf("capture: parameters of kind %s can't be recorded", s.kind))
	}
	if s.table = mpi.NumberTableOf(c.cfg.Flavour, s.kind); !s.table.IsIdentity() {
		return codeTable
	}
	return codeInt
}

func (c *Capture) step(call *mpi.Call, p *program, q *mpi.Param, out bool) instruction {
	s := instruction{kind: q.Kind, gate: -1, handles: c.handles[q.Kind]}
	s.code = c.plain(&s)
	switch {
	case s.kind == mpi.KindRequest:
		switch {
		case out:
			s.code = codeRequestMade
		case q.Dir == mpi.DirFree:
			s.code = codeRequestFree
		}
		p.hasRequests = p.hasRequests || !out
	case s.handles != nil && out && q.Dir == mpi.DirInOut:
		s.code = codeUpdated
	case s.handles != nil && out:
		s.code = codeMade
	case s.handles != nil && q.Dir == mpi.DirFree:
		s.code = codeFree
	case p.completes && out && s.kind == mpi.KindLogical && !q.Array:
		s.code = codeFlag
	case p.completes && out && s.kind == mpi.KindIndex && !q.Array && !hasIndices(call):
		s.code = codeIndex
		p.hasIndex = true
	}
	// A C string is itself an array: an input string[n] is an array of strings, an output string[n] is one string.
	if q.Array && !(s.kind == mpi.KindString && out) {
		s.element, s.code = s.code, codeArray
		if q.InnerLen != nil {
			s.element = codeArray // each element is an array of strings, as in MPI_Comm_spawn_multiple
		}
	}
	return s
}

func hasIndices(call *mpi.Call) bool {
	return slices.ContainsFunc(call.Params, func(q mpi.Param) bool { return q.Array && q.Kind == mpi.KindIndex })
}

// setGates sets the positions of flags that determine whether outputs are valid. All fields before a flag have a
// fixed size.
func (p *program) setGates() {
	word, at := 0, make(map[string]int)
	i := 0
	if p.returns() {
		word, i = p.out[0].words(), 1
	}
	outs := make([]*mpi.Param, 0, len(p.out))
	for k := range p.call.Params {
		q := &p.call.Params[k]
		if q.LargeOnly && !p.call.Large || !q.HasLeavePart() {
			continue
		}
		outs = append(outs, q)
	}
	fixed := true
	for k, q := range outs {
		if fixed {
			at[q.Name] = word
		}
		n := p.out[i+k].words()
		fixed = fixed && n > 0
		word += n
	}
	for k, q := range outs {
		if w, ok := at[q.ValidIfNonZero]; ok && q.ValidIfNonZero != "" {
			p.out[i+k].gate = int16(w)
		}
	}
}

// setRequests sets endsPlainly, requestArray and requestAt: whether ENTER ends with requests, and where.
func (p *program) setRequests() {
	n := len(p.in)
	if n == 0 {
		return
	}
	for i := range p.in[:n-1] {
		if p.in[i].words() != 1 {
			return
		}
	}
	last := &p.in[n-1]
	p.requestArray = last.code == codeArray
	p.endsPlainly = last.code == codeRequest || last.code == codeRequestFree || p.requestArray && last.element == codeRequest
	p.requestAt = 3 + n - 1
}

// receives reports whether the call receives a message that its parameters describe, and completes it.
func (p *program) receives() bool {
	return p.layout.ReceiveValueIndices != signature.ReceiveValueIndices{} && !p.makes
}

// stays reports whether the call remains unfinished until the track is made: its record ends early, and the real
// end is known later.
func (p *program) stays() bool { return p != nil && p.call.Has(mpi.AttrFinalises) }
