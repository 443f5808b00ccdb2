package oracle

import (
	"fmt"

	perParam "github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// An arg is one side of one argument of a call under comparison.
type arg struct {
	call *pending
	def  *trace.ParamDef
	kind mpi.Kind
	exit bool
}

// value compares one parameter at one end of a call.
func (c *comparer) value(a *arg, raw Value, v *trace.Value) string {
	if v.Type == trace.TypeNone || raw.Form == Nothing {
		return ""
	}
	if a.def.Dims > 0 {
		return c.list(a, raw, v, a.def.Dims)
	}
	return c.scalar(a, raw, v)
}

func (c *comparer) list(a *arg, raw Value, v *trace.Value, dims int) string {
	if dims == 0 {
		return c.scalar(a, raw, v)
	}
	if v.Type != trace.TypeArray {
		return fmt.Sprintf("type %d in the trace, want an array", v.Type)
	}
	if raw.Form == Pointer || v.Num < 0 {
		return c.noList(a, raw, v)
	}
	if raw.Form != List {
		return fmt.Sprintf("logged %v, trace has an array", raw)
	}
	if len(raw.List) != len(v.Elems) {
		return fmt.Sprintf("logged %d elements, trace has %d", len(raw.List), len(v.Elems))
	}
	for i := range v.Elems {
		if wrong := c.list(a, raw.List[i], &v.Elems[i], dims-1); wrong != "" {
			return fmt.Sprintf("element %d: %s", i, wrong)
		}
	}
	return ""
}

// noList compares arrays of which at least one side has only a special value.
func (c *comparer) noList(a *arg, raw Value, v *trace.Value) string {
	special := func(names ...string) string {
		for _, name := range names {
			if raw.Form == Pointer && c.names.is(raw.Raw, name) {
				return ""
			}
		}
		return fmt.Sprintf("logged %v, trace has %v", raw, names)
	}
	switch v.Num {
	case trace.ArrayUnweighted:
		return special("MPI_UNWEIGHTED")
	case trace.ArrayWeightsEmpty:
		return special("MPI_WEIGHTS_EMPTY")
	case trace.ArrayStatusesIgnore:
		return special("MPI_STATUSES_IGNORE", "MPI_ERRCODES_IGNORE")
	case trace.ArrayInsignificant:
		if raw.Form == List && !a.def.OnlyRoot && a.kind != mpi.KindStatus {
			return fmt.Sprintf("logged %v, trace says it is not significant", raw)
		}
		c.excuse(Insignificant)
		return ""
	case trace.ArrayNull:
		if raw.Form == Pointer && raw.Raw == 0 || raw.Form == List && len(raw.List) == 0 {
			return ""
		}
		return fmt.Sprintf("logged %v, trace has NULL", raw)
	}
	if a.kind == mpi.KindStatus && raw.Form == Pointer {
		c.excuse(IgnoredStatus)
		return ""
	}
	if len(v.Elems) == 0 {
		return ""
	}
	return fmt.Sprintf("logged %v, trace has %d elements", raw, len(v.Elems))
}

func (c *comparer) scalar(a *arg, raw Value, v *trace.Value) string {
	switch v.Type {
	case trace.TypeTime:
		c.excuse(TimeValue)
		return ""
	case trace.TypeInt:
		switch raw.Form {
		case Int:
			return c.names.integer(a.kind, raw.Int, v.Num)
		case Pointer, Handle:
			return c.nowhere(raw, v.Num)
		}
	case trace.TypeHandle, trace.TypeMPITObject:
		switch raw.Form {
		case Handle, Pointer:
			if raw.Form == Pointer && raw.Raw == 0 && a.exit {
				return c.nowhere(raw, 0)
			}
			return c.handle(a.kind, raw.Raw, v.Num, a.exit)
		}
	case trace.TypeRequest:
		return c.request(a, raw, v)
	case trace.TypeAddress:
		switch raw.Form {
		case Pointer, Handle:
			return c.address(raw.Raw, v.Addr)
		case Int:
			return c.address(uint64(raw.Int), v.Addr)
		}
	case trace.TypeFunctionRef:
		if raw.Form == Pointer {
			_, wrong := perParam.GetOrMake(c.functions, a.def.Name, newPairs).used(raw.Raw, v.Num)
			return wrong
		}
	case trace.TypeString:
		return c.text(a, raw, v)
	case trace.TypeStatus:
		return c.status(a, raw, v)
	}
	return fmt.Sprintf("logged %v, trace has type %d", raw, v.Type)
}

// nowhere compares an output whose address is no address.
func (c *comparer) nowhere(raw Value, num int64) string {
	if num != 0 {
		return fmt.Sprintf("logged %v, trace has %d", raw, num)
	}
	c.excuse(NullOutput)
	return ""
}

func (c *comparer) text(a *arg, raw Value, v *trace.Value) string {
	switch {
	case raw.Form == Pointer && v.IsNullString, raw.Form == Pointer && a.exit && v.Text == "":
		return ""
	case raw.Form == String && !v.IsNullString && raw.Str == v.Text:
		return ""
	case v.IsNullString && a.def.OnlyRoot:
		c.excuse(Insignificant)
		return ""
	}
	return fmt.Sprintf("logged %v, trace has %q (null %t)", raw, v.Text, v.IsNullString)
}

func (c *comparer) request(a *arg, raw Value, v *trace.Value) string {
	if raw.Form != Request && raw.Form != Handle {
		return fmt.Sprintf("logged %v, trace has %s", raw, requestText(v))
	}
	if a.exit {
		return c.requestMade(a.call, raw.Raw, raw.Addr, v)
	}
	r, wrong := c.requestUsed(a.call.stream, raw.Raw, raw.Addr, v, a.call.used)
	a.call.requests = append(a.call.requests, r)
	a.call.file = a.call.file || r != nil && r.file
	return wrong
}

func (c *comparer) status(a *arg, raw Value, v *trace.Value) string {
	s := v.Status
	if s == nil {
		return "trace has a status without contents"
	}
	if raw.Form == Pointer {
		if s.Form == trace.StatusFormFilled && a.exit {
			return fmt.Sprintf("logged %v, trace has a status of the program's", raw)
		}
		c.excuse(IgnoredStatus)
		return ""
	}
	if raw.Form != Status {
		return fmt.Sprintf("logged %v, trace has a status", raw)
	}
	w := raw.Status
	cancelled := w.Cancelled != 0
	bytes := w.Bytes
	if undefined := c.names.raw["MPI_UNDEFINED"]; bytes == undefined {
		bytes = -1
	}
	if s.IsPending() {
		c.excuse(PendingStatus)
		if w.Error == 0 {
			return fmt.Sprintf("logged %+v, trace has a request under way", w)
		}
		return ""
	}
	switch s.Form {
	case trace.StatusFormOfSend:
		c.excuse(SendStatus)
		if cancelled != s.Cancelled {
			return fmt.Sprintf("logged %+v, trace has cancelled %t", w, s.Cancelled)
		}
		return ""
	case trace.StatusFormEmpty:
		if c.names.integer(mpi.KindRank, w.Source, anySource) != "" || c.names.integer(mpi.KindTag, w.Tag, anyTag) != "" || bytes != 0 || cancelled {
			return fmt.Sprintf("logged %+v, trace has an empty status", w)
		}
		return ""
	case trace.StatusFormFilled, trace.StatusFormIgnored:
		if a.call.file || w.Cancelled != 0 && w.Cancelled != 1 {
			c.excuse(FileStatus)
			if bytes != s.ReceivedBytes {
				return fmt.Sprintf("logged %+v, trace has count %d", w, s.ReceivedBytes)
			}
			return ""
		}
		wrong := c.names.integer(mpi.KindRank, w.Source, s.Source)
		if wrong == "" {
			wrong = c.names.integer(mpi.KindTag, w.Tag, s.Tag)
		}
		if wrong == "" && (bytes != s.ReceivedBytes || cancelled != s.Cancelled) {
			wrong = "count or cancelled"
		}
		if wrong == "" && s.HasError {
			wrong = c.names.integer(mpi.KindError, w.Error, s.Error)
		}
		if wrong != "" {
			return fmt.Sprintf("logged %+v, trace has %+v: %s", w, *s, wrong)
		}
		return ""
	}
	return fmt.Sprintf("logged %+v, trace has none", w)
}

// Of the standard ABI.
var anySource, anyTag = abi("MPI_ANY_SOURCE"), abi("MPI_ANY_TAG")

func abi(name string) int64 {
	c, ok := mpi.ConstantNamed(name)
	if !ok {
		panic("oracle: no constant " + name)
	}
	return c.Value
}
