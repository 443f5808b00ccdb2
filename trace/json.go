package trace

import (
	"encoding/json"
	"strconv"
)

// MarshalJSON renders the call as one JSON object, as AppendJSON does.
func (c *Call) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// AppendJSON appends the call as one JSON object without line breaks. Numbers
// that have a name stand as that name, handles, requests and addresses as in
// the text form, arrays and statuses as JSON arrays and objects. A parameter
// with a value both before and after the call is an object of the two.
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
		for s := c.Site.Outer; s != nil; s = s.Outer {
			if s == c.Site.Outer {
				b = append(b, `,"outer":[`...)
			} else {
				b = append(b, ',')
			}
			b = appendQuoted(b, s.String())
			if s.Outer == nil {
				b = append(b, ']')
			}
		}
	}
	if c.Thread != nil {
		b = appendQuoted(append(b, `,"made_for":`...), c.Thread.String())
	}
	if c.Phase != "" {
		b = appendQuoted(append(b, `,"phase":`...), c.Phase)
	}
	b = append(b, `,"params":{`...)
	first := true
	for i := range c.Params {
		p := &c.Params[i]
		if p.In.Type == None && p.Out.Type == None {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendQuoted(b, p.Name()), ':')
		switch {
		case p.Out.Type == None:
			b = p.In.appendJSON(b, p.Kind())
		case p.In.Type == None:
			b = p.Out.appendJSON(b, p.Kind())
		default:
			b = p.In.appendJSON(append(b, `{"in":`...), p.Kind())
			b = p.Out.appendJSON(append(b, `,"out":`...), p.Kind())
			b = append(b, '}')
		}
	}
	b = append(b, `},"return":`...)
	switch {
	case c.Func.Has(Posix) && c.Return != NeverReturned && c.Return != Left:
		b = c.Result.appendJSON(b, c.Func.Returns)
		if c.Return != 0 {
			b = appendQuoted(append(b, `,"errno":`...), c.ReturnName())
		}
	case c.Result.Type != None && c.Return == 0:
		b = c.Result.appendJSON(b, c.Func.Returns)
	case c.Return == NeverReturned:
		b = append(b, "null"...)
	default:
		b = appendQuoted(b, c.ReturnName())
	}
	b = c.appendNewJSON(b)
	return append(b, '}')
}

// appendNewJSON appends what is known of a new communicator or datatype.
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
			n.Ordinal, n.Leader, n.Rank, n.Size, n.RemoteLeader, n.RemoteSize, n.MembersHash)
	}
	if n := c.NewType; n != nil {
		fields("newtype", []string{"size", "lb", "extent", "true_lb", "true_extent"},
			n.Size, n.LowerBound, n.Extent, n.TrueLowerBound, n.TrueExtent)
	}
	return b
}

func (v *Value) appendJSON(b []byte, kind string) []byte {
	switch v.Type {
	case None, Time:
		return append(b, "null"...)
	case Int:
		if constantName(kind, v.Num) == "" {
			return strconv.AppendInt(b, v.Num, 10)
		}
	case String:
		if v.Null {
			return append(b, "null"...)
		}
		return appendQuoted(b, v.Text)
	case Array:
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
	case Status:
		return v.Status.appendJSON(b)
	}
	return appendQuoted(b, v.Render(kind))
}

func (s *StatusValue) appendJSON(b []byte) []byte {
	switch s.Form {
	case StatusAbsent:
		return append(b, "null"...)
	case StatusEmpty:
		return append(b, `"empty"`...)
	case StatusSend:
		b = append(b, `{"sent":true`...)
	default:
		b = append(b, `{"source":`...)
		b = appendNamedJSON(b, "rank", s.Source)
		b = append(b, `,"tag":`...)
		b = appendNamedJSON(b, "tag", s.Tag)
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, s.Count, 10)
	}
	if s.Form == StatusIgnored {
		b = append(b, `,"ignored":true`...)
	}
	if s.Cancelled {
		b = append(b, `,"cancelled":true`...)
	}
	if s.HasError {
		b = append(b, `,"error":`...)
		b = appendNamedJSON(b, "error", s.Error)
	}
	return append(b, '}')
}

func appendNamedJSON(b []byte, kind string, v int64) []byte {
	n := Value{Type: Int, Num: v}
	return n.appendJSON(b, kind)
}

func appendQuoted(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // a string always marshals
	}
	return append(b, q...)
}
