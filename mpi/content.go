package mpi

import "fmt"

// A Content describes a choice buffer by names of parameters of the same call: Partitions × Multiplicity × Count
// elements of Type. A name is empty if the call has no such parameter.
type Content struct {
	Transferred  bool     // the call sends the data or receives it; false: the call only accesses the memory
	Count        string   // number of elements, or of bytes if Type is ""; "": one element; may be an array, one number for each block
	Type         string   // a datatype, or an array with one for each block; "": bytes
	Partitions   string   // the number of partitions, each of which has Count elements
	Displs       string   // begins of the blocks: in extents of Type, or in bytes if Type is an array
	Multiplicity Property // number of repetitions: PropertyCommSize, PropertyInDegree or PropertyOutDegree of Comm
	Comm         string   // the communicator that Multiplicity is a property of; "": no repetition
	OwnElement   bool     // of an array of counts, only the element of the own rank
	InPlace      bool     // there is no data if the buffer is MPI_IN_PLACE
}

// newContent parses the product in a modifier data() or memory(). The factors' meanings depend on the parameters
// that they name.
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
		if err := q.Content.multiply(c, f); err != nil {
			return err
		}
	}
	if x := q.Content.Displs; x != "" {
		if i := c.Index(x); i < 0 || !c.Params[i].Array {
			return fmt.Errorf("at(%s) names no array", x)
		}
	}
	return nil
}

func (x *Content) multiply(c *Call, factor Expr) error {
	name := ""
	switch f := factor.(type) {
	case ParamExpr:
		name = string(f)
	case *PropertyExpr:
		name = f.Param
		switch f.Property {
		case PropertyArrayOwnElement:
			x.OwnElement = true
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

// MayVary reports whether a parameter of one value may differ between otherwise equal calls that bind no names: a
// tag, an address, or an offset into a window, a file or packed data.
func (p *Param) MayVary() bool {
	switch {
	case p.Array:
		return false
	case p.Kind == KindBuffer:
		return p.HasIn()
	}
	return p.VariesByDeclaration || p.Kind == KindTag || p.Kind == KindOffset
}

// ResultMayVary is MayVary for a call's result: the next position in a file.
func (c *Call) ResultMayVary() bool { return c.ReturnKind == KindOffT }

// BindsNames reports whether the call creates or frees a named object, or memory. One-shot requests have no names.
func (c *Call) BindsNames() bool {
	if c.Attrs&(AttrPersistent|AttrCreatesComm|AttrCreatesType|AttrCreatesWin|AttrTool|AttrGivesMemory|AttrFixed) != 0 {
		return true
	}
	if c.Has(AttrOpens) {
		return true
	}
	for i := range c.Params {
		q := &c.Params[i]
		if q.Dir == DirFree || q.HasOut() && q.Kind != KindRequest && (q.Kind.IsHandle() || q.Kind.IsTool()) {
			return true
		}
	}
	return false
}
