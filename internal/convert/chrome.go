// Chrome writes traces in the JSON format of Chrome's trace viewer, which many tools read. A rank is a process, a
// call a complete event. A message is a flow from the sending call to the call in which it arrived. Times are in µs.

package convert

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// ChromeWriter writes calls and messages as events in JSON, in the format of Chrome's tracing. It is an ops.Sink.
type ChromeWriter struct {
	ops.NopSink
	w       io.Writer
	s       *ops.Source
	o       Options
	line    []byte
	events  int
	texts   map[string][]byte // by string: the string as JSON
	sites   [][]byte          // by number of a place: its text as JSON
	details []EventDetail
}

// NewChromeWriter starts writing a trace.
func NewChromeWriter(s *ops.Source, w io.Writer, o Options) (*ChromeWriter, error) {
	x := &ChromeWriter{w: w, s: s, o: o, texts: make(map[string][]byte)}
	about, err := json.Marshal(o.Metadata)
	if err != nil {
		return nil, err
	}
	if _, err = fmt.Fprintf(w, `{"displayTimeUnit":"ns","otherData":%s,"traceEvents":[`, about); err != nil {
		return nil, err
	}
	for _, m := range o.Marks {
		b := micro(append(x.begin("i", 0, 0), `,"s":"g","ts":`...), m.Ns)
		if err := x.end(append(append(b, `,"name":`...), x.text(m.Text)...)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Close ends the trace.
func (x *ChromeWriter) Close() error {
	_, err := io.WriteString(x.w, "\n]}\n")
	return err
}

// begin starts an event.
func (x *ChromeWriter) begin(phase string, rank, thread int) []byte {
	b := x.line[:0]
	if x.events > 0 {
		b = append(b, ',')
	}
	x.events++
	b = append(append(append(b, "\n{\"ph\":\""...), phase...), `","pid":`...)
	b = strconv.AppendInt(b, int64(rank), 10)
	return strconv.AppendInt(append(b, `,"tid":`...), int64(thread), 10)
}

// end finishes an event and writes it.
func (x *ChromeWriter) end(b []byte) error {
	x.line = append(b, '}')
	_, err := x.w.Write(x.line)
	return err
}

// Begin names a rank and its threads.
func (x *ChromeWriter) Begin(k *trace.Rank) error {
	name := func(what string, thread int, name string) error {
		b := x.begin("M", k.Number(), thread)
		b = append(append(append(b, `,"name":"`...), what...), `","args":{"name":`...)
		return x.end(append(append(b, x.text(name)...), '}'))
	}
	if err := name("process_name", 0, fmt.Sprintf("MPI Rank %d", k.Number())); err != nil {
		return err
	}
	for stream := range k.Streams() {
		if err := name("thread_name", stream, fmt.Sprintf("thread %d", stream)); err != nil {
			return err
		}
	}
	return nil
}

// micro writes nanoseconds as microseconds.
func micro(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1000, 10)
	if ns %= 1000; ns > 0 {
		b = append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
	}
	return b
}

// Enter writes a call, and the beginnings of its messages.
func (x *ChromeWriter) Enter(c *ops.Call) error {
	b := x.begin("X", c.Rank, c.Stream)
	b = micro(append(b, `,"ts":`...), c.StartNs)
	b = micro(append(b, `,"dur":`...), c.EndNs-c.StartNs)
	b = append(append(b, `,"name":`...), x.text(c.Func.Name)...)
	b = append(append(b, `,"args":{"call site":`...), x.site(c.SiteIndex)...)
	x.details = EventDetails(c, x.details[:0])
	for _, d := range x.details {
		b = append(append(append(b, ','), x.text(d.Name)...), ':')
		if d.Text != "" {
			b = append(b, x.text(d.Text)...)
		} else {
			b = strconv.AppendInt(b, d.Number, 10)
		}
	}
	if err := x.end(append(b, '}')); err != nil {
		return err
	}
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.ActSend || a.Kind == ops.ActSendBegin {
			if err := x.flow("s", c, c.StartNs, a.MessageNumber); err != nil {
				return err
			}
		}
	}
	return nil
}

// Leave writes the ends of messages.
func (x *ChromeWriter) Leave(c *ops.Call) error {
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.ActRecv || a.Kind == ops.ActRecvEnd {
			if err := x.flow("f", c, max(c.StartNs, c.EndNs-1), a.MessageNumber); err != nil { // the flow must end within the call
				return err
			}
		}
	}
	return nil
}

func (x *ChromeWriter) flow(phase string, c *ops.Call, ns int64, id uint64) error {
	b := x.begin(phase, c.Rank, c.Stream)
	if phase == "f" {
		b = append(b, `,"bp":"e"`...)
	}
	b = micro(append(b, `,"ts":`...), ns)
	b = strconv.AppendUint(append(b, `,"name":"message","cat":"mpi","id":"0x`...), id, 16)
	return x.end(append(b, '"'))
}

// text returns a string as JSON.
func (x *ChromeWriter) text(s string) []byte {
	return once.GetOrMake(x.texts, s, func() []byte {
		b, _ := json.Marshal(s)
		return b
	})
}

func (x *ChromeWriter) site(place int) []byte {
	return ops.GetForSite(x.s, &x.sites, place, func(s trace.Site) []byte {
		file, line := x.o.SourceLine(s)
		if line > 0 {
			file += ":" + strconv.Itoa(line)
		}
		b, _ := json.Marshal(file)
		return b
	})
}
