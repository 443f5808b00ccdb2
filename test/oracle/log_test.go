// Package oracle judges traces. Its generated interposer (package gen) logs
// what a program passed to MPI and what it got back, all of it, raw; this
// package reads such logs and compares them with the calls that a trace
// decodes to, parameter by parameter. It is no part of the recorder and takes
// nothing from it but the reader under test and the numbers of the standard
// ABI, in which traces are written.
package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// A Call is one logged call.
type Call struct {
	Seq       uint64
	Name      string // MPI_Send, whichever entry was used
	Profiling bool   // entered as PMPI_Send
	Depth     int    // number of logged calls under way on the thread
	Library   string // that holds the caller, without folder
	Caller    string // nearest exported function, may be empty
	Finalised bool   // after MPI_Finalize
	Done      bool   // the call returned
	Entered   uint64 // position among the entries and exits of all threads
	Left      uint64
	Ret       Value
	In, Out   []Value // parallel to the parameters in C
	Comm      *CommValue
	Type      []int64 // of a new datatype: size, lb, extent, true lb, true extent
}

// A Form tells what a logged Value is.
type Form uint8

// The forms.
const (
	Nothing Form = iota
	Int
	Double
	Handle
	Pointer
	String
	Request // handle and the address of the variable that holds it
	Status
	List
)

// A Value is one logged value, as the MPI at hand has it.
type Value struct {
	Form   Form
	Int    int64  // Int
	Raw    uint64 // Handle, Pointer, Request
	Addr   uint64 // Request
	Str    string
	List   []Value
	Status StatusValue
}

// A StatusValue is the contents of an MPI_Status.
type StatusValue struct {
	Source, Tag, Error, Bytes, Cancelled int64
}

// A CommValue is what a new communicator is. Members are ranks in
// MPI_COMM_WORLD, -1 for those of other worlds.
type CommValue struct {
	Rank            int64
	Members, Remote []int
}

// A Process is the log of one process.
type Process struct {
	PID       int
	Rank      int // in its MPI_COMM_WORLD, -1 if it never had one
	Size      int
	Spawned   bool
	Started   int64  // wall clock behind MPI_Init, ns since 1970
	Job       string // the same for all of one MPI_COMM_WORLD
	Constants map[string]int64
	Threads   [][]*Call // by first call; calls in the order of entry
	Freed     []Free
}

// A Free is a block of memory that the program gave back.
type Free struct {
	Addr  uint64
	Order uint64 // among the entries and exits of calls
}

// ReadLogs reads what the processes of a run left in dir, ordered by world and
// rank.
func ReadLogs(dir string) ([]*Process, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.meta"))
	if err != nil {
		return nil, err
	}
	var list []*Process
	for _, name := range names {
		p, err := readProcess(name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.Spawned != b.Spawned {
			return b.Spawned
		}
		if a.Job != b.Job {
			return a.Job < b.Job
		}
		return a.Rank < b.Rank
	})
	return list, nil
}

func readProcess(meta string) (*Process, error) {
	base := strings.TrimSuffix(meta, ".meta")
	pid, err := strconv.Atoi(filepath.Base(base))
	if err != nil {
		return nil, fmt.Errorf("oracle: %s: %w", meta, err)
	}
	p := &Process{PID: pid, Rank: -1}
	err = eachLine(meta, func(line []byte) error { return json.Unmarshal(line, p) })
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s.%d", base, i)
		if _, err := os.Stat(name); os.IsNotExist(err) {
			return p, nil
		}
		if err := p.readThread(name); err != nil {
			return nil, err
		}
	}
}

func eachLine(name string, f func([]byte) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(make([]byte, 1<<16), 1<<28)
	for n := 1; s.Scan(); n++ {
		if err := f(s.Bytes()); err != nil {
			return fmt.Errorf("oracle: %s:%d: %w", filepath.Base(name), n, err)
		}
	}
	return s.Err()
}

type line struct {
	Enter, Leave          uint64
	Name, Library, Caller string
	Depth                 int
	Order                 uint64
	Finalised             bool
	Ret                   Value
	Args                  []Value
	Free                  Value
	Comm                  *CommValue
	Type                  []int64
}

func (p *Process) readThread(name string) error {
	var calls []*Call
	err := eachLine(name, func(text []byte) error {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		if l.Free.Form == Pointer {
			p.Freed = append(p.Freed, Free{l.Free.Raw, l.Order})
			return nil
		}
		if l.Enter > 0 {
			c := &Call{Seq: l.Enter, Name: l.Name, Depth: l.Depth, Library: l.Library, Caller: l.Caller,
				Finalised: l.Finalised, Entered: l.Order, In: l.Args}
			if strings.HasPrefix(c.Name, "PMPI") {
				c.Name, c.Profiling = c.Name[1:], true
			}
			if int(l.Enter) != len(calls)+1 {
				return fmt.Errorf("call %d follows %d", l.Enter, len(calls))
			}
			calls = append(calls, c)
			return nil
		}
		if l.Leave == 0 || int(l.Leave) > len(calls) {
			return fmt.Errorf("leaves call %d of %d", l.Leave, len(calls))
		}
		c := calls[l.Leave-1]
		c.Done, c.Left, c.Ret, c.Out = true, l.Order, l.Ret, l.Args
		c.Comm, c.Type = l.Comm, l.Type
		return nil
	})
	p.Threads = append(p.Threads, calls)
	return err
}

// UnmarshalJSON reads a value by the mark in front of it.
func (v *Value) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case 'n':
		*v = Value{}
		return nil
	case '[':
		v.Form = List
		return json.Unmarshal(text, &v.List)
	case '{':
		v.Form = Status
		return json.Unmarshal(text, &v.Status)
	case '"':
		if plain := text[1 : len(text)-1]; bytes.IndexByte(plain, '\\') < 0 {
			return v.marked(string(plain))
		}
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		return v.marked(s)
	}
	if bytes.ContainsAny(text, ".en") {
		v.Form = Double
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	v.Form, v.Int = Int, n
	return err
}

func (v *Value) marked(s string) error {
	if len(s) < 2 || s[1] != ':' {
		return fmt.Errorf("value %q has no mark", s)
	}
	mark, rest := s[0], s[2:]
	var err error
	switch mark {
	case 's':
		v.Form, v.Str = String, latin1(rest)
	case 'h':
		v.Form = Handle
		v.Raw, err = strconv.ParseUint(rest, 16, 64)
	case 'p':
		v.Form = Pointer
		v.Raw, err = strconv.ParseUint(rest, 16, 64)
	case 'r':
		v.Form = Request
		raw, addr, _ := strings.Cut(rest, "@")
		if v.Raw, err = strconv.ParseUint(raw, 16, 64); err == nil {
			v.Addr, err = strconv.ParseUint(addr, 16, 64)
		}
	default:
		err = fmt.Errorf("value %q has an unknown mark", s)
	}
	return err
}

// latin1 turns the log's characters back into the bytes they stand for.
func latin1(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func (v Value) zero() bool {
	return v.Form == Int && v.Int == 0 || (v.Form == Handle || v.Form == Pointer) && v.Raw == 0
}

func (v Value) String() string {
	switch v.Form {
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Double:
		return "(double)"
	case Handle:
		return fmt.Sprintf("handle %#x", v.Raw)
	case Pointer:
		return fmt.Sprintf("address %#x", v.Raw)
	case String:
		return strconv.Quote(v.Str)
	case Request:
		return fmt.Sprintf("request %#x at %#x", v.Raw, v.Addr)
	case Status:
		return fmt.Sprintf("%+v", v.Status)
	case List:
		return fmt.Sprint(v.List)
	}
	return "nothing"
}
