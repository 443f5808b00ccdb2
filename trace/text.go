package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/mpi"
)

// Text renders the call on one line, as AppendText does.
func (c *Call) Text() string { return string(c.AppendText(nil)) }

// AppendText appends the call on one line, as a debugger would show it:
//
//	MPI_Send(buf=heap3+16, count=10, datatype=MPI_INT, dest=1, tag=7, comm=MPI_COMM_WORLD) = MPI_SUCCESS
//
// A parameter with a value both before and after the call has an arrow between them. Properties of a new communicator
// or datatype follow after a #.
func (c *Call) AppendText(b []byte) []byte { return c.appendText(b, nil, nil) }

// A gap is where a parameter's value is left out of a call's text.
type gap struct {
	at    int // index of a byte in the text
	param int
	out   bool // whether the parameter's value after the call is left out, not the one before
}

// appendText appends the call on one line. If gaps is not nil, it leaves out requests and the parameters whose indices
// are in some, and adds where to gaps.
func (c *Call) appendText(b []byte, gaps *[]gap, some []int) []byte {
	b = append(b, c.Name()...)
	b = append(b, '(')
	first := true
	for i := range c.Params {
		p := &c.Params[i]
		if p.In.Type == TypeNone && p.Out.Type == TypeNone {
			continue
		}
		if !first {
			b = append(b, ", "...)
		}
		first = false
		b = append(append(b, p.Name()...), '=')
		for out, v := range []*Value{&p.In, &p.Out} {
			if v.Type == TypeNone {
				continue
			}
			if out == 1 && p.In.Type != TypeNone {
				b = append(b, "->"...)
			}
			if gaps != nil && (p.Def.Type == TypeRequest || slices.Contains(some, i)) {
				*gaps = append(*gaps, gap{len(b), i, out == 1})
			} else {
				b = p.appendText(b, v)
			}
		}
	}
	b = append(b, ") = "...)
	switch {
	case c.Func.Has(AttrPosix):
		b = c.appendOutcome(b)
	case c.Result.Type != TypeNone && c.Return == 0:
		b = c.Result.appendText(b, c.Func.ReturnKind)
	default:
		b = append(b, c.ReturnName()...)
	}
	if n := c.NewComm; n != nil {
		b = append(b, " # rank "...)
		b = strconv.AppendInt(b, n.Rank, 10)
		b = append(b, " of "...)
		b = strconv.AppendInt(b, n.Size, 10)
		b = append(b, ", leader "...)
		b = strconv.AppendInt(b, n.LeaderWorldRank, 10)
		if n.RemoteSize > 0 {
			b = append(b, ", remote size "...)
			b = strconv.AppendInt(b, n.RemoteSize, 10)
			b = append(b, ", remote leader "...)
			b = strconv.AppendInt(b, n.RemoteLeaderWorldRank, 10)
		}
		b = append(b, ", ordinal "...)
		b = strconv.AppendInt(b, n.EqualCreationsBefore, 10)
	}
	if n := c.NewType; n != nil {
		b = append(b, " # size "...)
		b = strconv.AppendInt(b, n.Size, 10)
		b = append(b, ", extent "...)
		b = strconv.AppendInt(b, n.Extent, 10)
		b = append(b, " from "...)
		b = strconv.AppendInt(b, n.LowerBound, 10)
	}
	return b
}

// appendOutcome appends the return value of a call to a function of POSIX or C, and the name of errno if it failed.
func (c *Call) appendOutcome(b []byte) []byte {
	if c.Return == ReturnCodeNeverReturned || c.Return == ReturnCodeLeftByJump {
		return append(b, c.ReturnName()...)
	}
	switch {
	case c.Func.ReturnKind == mpi.KindFileDescriptor && c.Return != 0:
		b = append(b, "-1"...)
	case c.Result.Type != TypeNone:
		b = c.Result.appendText(b, c.Func.ReturnKind)
	default:
		b = append(b, "done"...)
	}
	if c.Return != 0 {
		b = append(append(b, ' '), c.ReturnName()...)
	}
	return b
}

// ReturnName renders the call's return code: its name in the MPI standard (of errno in POSIX), else the number.
func (c *Call) ReturnName() string {
	if c.Return == ReturnCodeNeverReturned {
		return "never returned"
	}
	if c.Return == ReturnCodeLeftByJump {
		return "left by a jump"
	}
	kind := mpi.KindError
	if c.Func.Has(AttrPosix) {
		kind = mpi.KindErrno
	}
	if s := mpi.ConstantName(kind, c.Return); s != "" {
		return s
	}
	return strconv.FormatInt(c.Return, 10)
}

// Render returns the text of a value of a parameter that has this kind.
func (v *Value) Render(kind mpi.Kind) string { return string(v.appendText(nil, kind)) }

func (v *Value) appendText(b []byte, kind mpi.Kind) []byte {
	switch v.Type {
	case TypeInt:
		if name := mpi.ConstantName(kind, v.Num); name != "" {
			return append(b, name...)
		}
		if kind == mpi.KindFilePermissions {
			b = append(b, '0')
			return strconv.AppendInt(b, v.Num, 8)
		}
		return strconv.AppendInt(b, v.Num, 10)
	case TypeHandle, TypeMPITObject:
		return v.appendHandle(b, kind)
	case TypeRequest:
		return v.appendRequest(b)
	case TypeAddress:
		return v.Addr.AppendText(b)
	case TypeFunctionRef:
		return v.appendFunction(b)
	case TypeString:
		if v.IsNullString {
			return append(b, "NULL"...)
		}
		return strconv.AppendQuote(b, v.Text)
	case TypeArray:
		if v.Num < 0 {
			return append(b, arrayNames[-v.Num]...)
		}
		b = append(b, '[')
		for i := range v.Elems {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = v.Elems[i].appendText(b, kind)
		}
		return append(b, ']')
	case TypeStatus:
		return v.Status.appendText(b)
	case TypeNone, TypeTime:
		return append(b, '-')
	}
	panic(fmt.Sprintf("trace: values of type %d have no text", v.Type)) // unreachable: all types of a schema are above
}

// arrayNames are the texts of the Array… constants, by their absolute value.
var arrayNames = [...]string{
	-ArrayNull: "NULL", -ArrayUnweighted: "MPI_UNWEIGHTED", -ArrayWeightsEmpty: "MPI_WEIGHTS_EMPTY",
	-ArrayInsignificant: "-", -ArrayStatusesIgnore: "MPI_STATUSES_IGNORE", -ArrayFromEarlierCall: "as left",
}

func (v *Value) appendHandle(b []byte, kind mpi.Kind) []byte {
	if id, ok := v.Num-FirstCreatedHandle, v.Num >= FirstCreatedHandle; ok {
		return strconv.AppendInt(append(b, kind.Name()...), id, 10)
	}
	if name := mpi.ConstantName(kind, v.Num); name != "" {
		return append(b, name...)
	}
	b = append(append(b, kind.Name()...), '?')
	if v.Num == UnknownHandle {
		return b
	}
	return strconv.AppendInt(b, v.Num, 10)
}

func (v *Value) appendRequest(b []byte) []byte {
	switch v.RequestForm {
	case RequestNull:
		return append(b, "MPI_REQUEST_NULL"...)
	case RequestOneShot:
		return strconv.AppendInt(append(b, "request"...), v.RequestID, 10)
	case RequestPersistent:
		return strconv.AppendInt(append(b, "persistent"...), v.RequestID, 10)
	case RequestOfOtherThread:
		b = strconv.AppendInt(append(b, "thread"...), int64(v.RequestThread), 10)
		return strconv.AppendInt(append(b, ".request-"...), v.RequestID, 10)
	}
	return append(b, "request?"...)
}

// appendText appends the text of v, which is the parameter's value before or after the call.
func (p *Param) appendText(b []byte, v *Value) []byte {
	if v.Type == TypeFunctionRef {
		if name := mpi.CallbackName(p.Name(), v.Num); name != "" {
			return append(b, name...)
		}
	}
	return v.appendText(b, p.Kind())
}

func (v *Value) appendFunction(b []byte) []byte {
	switch {
	case v.Num == 0:
		return append(b, "NULL"...)
	case v.Site == nil:
		return strconv.AppendUint(append(b, "function#"...), uint64(v.Num), 16)
	}
	return append(b, v.Site.String()...)
}

func (s *StatusValue) appendText(b []byte) []byte {
	switch s.Form {
	case StatusFormAbsent:
		return append(b, '-')
	case StatusFormEmpty:
		return append(b, "empty"...)
	case StatusFormIgnored:
		b = append(b, "ignored"...)
	case StatusFormImplied:
		return append(b, "as posted"...)
	case StatusFormImpliedIgnored:
		return append(b, "ignored, as posted"...)
	case StatusFormOfSend:
		b = append(b, "sent"...)
		if s.Cancelled {
			b = append(b, "{cancelled}"...)
		}
		return b
	}
	b = append(b, "{source="...)
	b = appendNamed(b, mpi.KindRank, s.Source)
	b = append(b, ", tag="...)
	b = appendNamed(b, mpi.KindTag, s.Tag)
	b = append(b, ", bytes="...)
	if s.ReceivedBytes < 0 {
		b = append(b, "MPI_UNDEFINED"...)
	} else {
		b = strconv.AppendInt(b, s.ReceivedBytes, 10)
	}
	if s.Cancelled {
		b = append(b, ", cancelled"...)
	}
	if s.HasError {
		b = append(b, ", error="...)
		b = appendNamed(b, mpi.KindError, s.Error)
	}
	return append(b, '}')
}

func appendNamed(b []byte, kind mpi.Kind, v int64) []byte {
	n := Value{Type: TypeInt, Num: v}
	return n.appendText(b, kind)
}

// MarshalJSON renders the call as one JSON object, as AppendJSON does.
func (c *Call) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// AppendJSON appends the call as one JSON object without line breaks. Numbers with a name appear as the name; handles,
// requests and addresses as in the text form; arrays and statuses as JSON arrays and objects. A parameter with a value
// before and another after the call is an object of both.
func (c *Call) AppendJSON(b []byte) []byte {
	b = append(b, `{"rank":`...)
	b = strconv.AppendInt(b, int64(c.Rank), 10)
	b = append(b, `,"thread":`...)
	b = strconv.AppendInt(b, int64(c.Stream), 10)
	b = append(b, `,"index":`...)
	b = strconv.AppendUint(b, c.Index, 10)
	b = append(b, `,"call":`...)
	b = appendQuoted(b, c.Name())
	if c.Site.Module != "" {
		b = append(b, `,"site":`...)
		b = appendQuoted(b, c.Site.String())
		for s := c.Site.Caller; s != nil; s = s.Caller {
			if s == c.Site.Caller {
				b = append(b, `,"outer":[`...)
			} else {
				b = append(b, ',')
			}
			b = appendQuoted(b, s.String())
			if s.Caller == nil {
				b = append(b, ']')
			}
		}
	}
	if c.ThreadStartFunction != nil {
		b = appendQuoted(append(b, `,"made_for":`...), c.ThreadStartFunction.String())
	}
	if c.Phase != "" {
		b = appendQuoted(append(b, `,"phase":`...), c.Phase)
	}
	b = append(b, `,"params":{`...)
	first := true
	for i := range c.Params {
		p := &c.Params[i]
		if p.In.Type == TypeNone && p.Out.Type == TypeNone {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendQuoted(b, p.Name()), ':')
		switch {
		case p.Out.Type == TypeNone:
			b = p.In.appendJSON(b, p.Kind())
		case p.In.Type == TypeNone:
			b = p.Out.appendJSON(b, p.Kind())
		default:
			b = p.In.appendJSON(append(b, `{"in":`...), p.Kind())
			b = p.Out.appendJSON(append(b, `,"out":`...), p.Kind())
			b = append(b, '}')
		}
	}
	b = append(b, `},"return":`...)
	switch {
	case c.Func.Has(AttrPosix) && c.Return != ReturnCodeNeverReturned && c.Return != ReturnCodeLeftByJump:
		b = c.Result.appendJSON(b, c.Func.ReturnKind)
		if c.Return != 0 {
			b = appendQuoted(append(b, `,"errno":`...), c.ReturnName())
		}
	case c.Result.Type != TypeNone && c.Return == 0:
		b = c.Result.appendJSON(b, c.Func.ReturnKind)
	case c.Return == ReturnCodeNeverReturned:
		b = append(b, "null"...)
	default:
		b = appendQuoted(b, c.ReturnName())
	}
	b = c.appendNewJSON(b)
	return append(b, '}')
}

// appendNewJSON appends the properties of the communicator or datatype that the call made, as a member of the object.
func (c *Call) appendNewJSON(b []byte) []byte {
	fields := func(key string, names []string, vals ...int64) {
		b = append(append(b, `,"`...), key...)
		b = append(b, `":{`...)
		for i, v := range vals {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), names[i]...), `":`...)
			b = strconv.AppendInt(b, v, 10)
		}
		b = append(b, '}')
	}
	if n := c.NewComm; n != nil {
		fields("newcomm", []string{"ordinal", "leader", "rank", "size", "remote_leader", "remote_size", "members_hash"},
			n.EqualCreationsBefore, n.LeaderWorldRank, n.Rank, n.Size, n.RemoteLeaderWorldRank, n.RemoteSize, n.MembersHash)
	}
	if n := c.NewType; n != nil {
		fields("newtype", []string{"size", "lb", "extent", "true_lb", "true_extent"},
			n.Size, n.LowerBound, n.Extent, n.TrueLowerBound, n.TrueExtent)
	}
	return b
}

func (v *Value) appendJSON(b []byte, kind mpi.Kind) []byte {
	switch v.Type {
	case TypeNone, TypeTime:
		return append(b, "null"...)
	case TypeInt:
		if mpi.ConstantName(kind, v.Num) == "" {
			return strconv.AppendInt(b, v.Num, 10)
		}
	case TypeString:
		if v.IsNullString {
			return append(b, "null"...)
		}
		return appendQuoted(b, v.Text)
	case TypeArray:
		if v.Num < 0 {
			break
		}
		b = append(b, '[')
		for i := range v.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Elems[i].appendJSON(b, kind)
		}
		return append(b, ']')
	case TypeStatus:
		return v.Status.appendJSON(b)
	}
	return appendQuoted(b, v.Render(kind))
}

func (s *StatusValue) appendJSON(b []byte) []byte {
	switch s.Form {
	case StatusFormAbsent:
		return append(b, "null"...)
	case StatusFormEmpty:
		return append(b, `"empty"`...)
	case StatusFormOfSend:
		b = append(b, `{"sent":true`...)
	case StatusFormImplied, StatusFormImpliedIgnored:
		b = append(b, `{"posted":true`...)
	default:
		b = append(b, `{"source":`...)
		b = appendNamedJSON(b, mpi.KindRank, s.Source)
		b = append(b, `,"tag":`...)
		b = appendNamedJSON(b, mpi.KindTag, s.Tag)
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, s.ReceivedBytes, 10)
	}
	if s.Form == StatusFormIgnored || s.Form == StatusFormImpliedIgnored {
		b = append(b, `,"ignored":true`...)
	}
	if s.Cancelled {
		b = append(b, `,"cancelled":true`...)
	}
	if s.HasError {
		b = append(b, `,"error":`...)
		b = appendNamedJSON(b, mpi.KindError, s.Error)
	}
	return append(b, '}')
}

func appendNamedJSON(b []byte, kind mpi.Kind, v int64) []byte {
	n := Value{Type: TypeInt, Num: v}
	return n.appendJSON(b, kind)
}

func appendQuoted(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // unreachable: json.Marshal never fails for a string
	}
	return append(b, q...)
}
