package mpi

import "fmt"

// A BufferContent says what data is in a choice buffer, by names of parameters of the same call: Partitions ×
// Multiplicity × Count elements of Type. A name is "" if the call has no such parameter.
type BufferContent struct {
	Transferred bool // the call sends the data or receives it; false: the call only accesses the memory
	// Parameter with the number of elements, or of bytes if Type is ""; "": one element. It may be an array with a
	// number for each block.
	Count      string
	Type       string // parameter with the datatype, or array with the datatype of each block; "": the data is bytes
	Partitions string // parameter with the number of partitions, each of Count elements; "": one
	// Array parameter with the begin of each block: in extents of Type, or in bytes if Type is an array.
	Displs string
	// How often Count elements are repeated: PropertyCommSize, PropertyInDegree or PropertyOutDegree of Comm.
	Multiplicity     Property
	Comm             string // parameter with the communicator that Multiplicity is a property of; "": no repetition
	IsOwnElementOnly bool   // if Count is an array: only the element of the calling rank counts
	AbsentIfInPlace  bool   // the buffer has no data if it is MPI_IN_PLACE
}

// newContent sets q.BufferContent from the product in data() or memory(). What a factor is in it depends on the kind of
// the parameter that it names.
func newContent(c *Call, q *Param) error {
	e := q.content
	if e == nil {
		return nil
	}
	if q.Kind != KindBuffer {
		return fmt.Errorf("only choice buffers have a content")
	}
	factors := []Expr{e}
	if p, ok := e.(*ProductExpr); ok {
		factors = p.Factors
	}
	for _, f := range factors {
		if err := q.BufferContent.multiply(c, f); err != nil {
			return err
		}
	}
	if x := q.BufferContent.Displs; x != "" {
		if i := c.Index(x); i < 0 || !c.Params[i].Array {
			return fmt.Errorf("at(%s) names no array", x)
		}
	}
	return nil
}

func (x *BufferContent) multiply(c *Call, factor Expr) error {
	name := ""
	switch f := factor.(type) {
	case ParamExpr:
		name = string(f)
	case *PropertyExpr:
		name = f.Param
		switch f.Property {
		case PropertyArrayOwnElement:
			x.IsOwnElementOnly = true
		case PropertyCommSize, PropertyInDegree, PropertyOutDegree:
			x.Multiplicity, x.Comm = f.Property, name
			return nil
		default:
			return fmt.Errorf("content: no factor %s", f)
		}
	default:
		return fmt.Errorf("content: no factor %s", factor)
	}
	i := c.Index(name)
	if i < 0 {
		return fmt.Errorf("content names no parameter %q", name)
	}
	switch k := c.Params[i].Kind; {
	case k == KindDatatype:
		x.Type = name
	case k == KindCount || k == KindCount64 || k == KindAint:
		x.Count = name
	case k == KindInt && x.Partitions == "" && x.Count == "":
		x.Partitions = name
	default:
		return fmt.Errorf("content: %s is neither count nor datatype", name)
	}
	return nil
}

// MayVary reports whether a parameter may have different values in calls that are otherwise the same and bind no
// names. That is so for tags, addresses, and offsets into a window, a file or packed data. It is never so for arrays.
func (p *Param) MayVary() bool {
	switch {
	case p.Array:
		return false
	case p.Kind == KindBuffer:
		return p.HasEnterPart()
	}
	return p.VariesByDeclaration || p.Kind == KindTag || p.Kind == KindOffset
}

// ResultMayVary is MayVary for the value that the function returns: true for a position in a file.
func (c *Call) ResultMayVary() bool { return c.ReturnKind == KindOffT }

// CreatesOrFreesObject reports whether the call creates or frees an object with a handle, or memory. One-shot requests
// don't count, as they have no name in a trace.
func (c *Call) CreatesOrFreesObject() bool {
	if c.Attrs&(AttrPersistent|AttrCreatesComm|AttrCreatesType|AttrCreatesWin|AttrTool|AttrAllocatesMemory|AttrBindsAddress) != 0 {
		return true
	}
	if c.Has(AttrPosixOpens) {
		return true
	}
	for i := range c.Params {
		q := &c.Params[i]
		if q.Dir == DirFree || q.HasLeavePart() && q.Kind != KindRequest && (q.Kind.IsHandle() || q.Kind.IsTool()) {
			return true
		}
	}
	return false
}
