// This file reads Dimemas' traces for tests, by the grammar of Dimemas' reader and not by what
// the writer does.

package convert

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// A Trace is what a file says.
type Trace struct {
	Name  string
	Comms map[int][]int // tasks, by number
	Tasks []Task
}

// A Task is the records of a task's one thread, in order.
type Task struct {
	Seconds float64 // of computation
	Records []Record
}

// A Record is a message or collective: the numbers behind task and thread.
type Record struct {
	Kind   int // 2 send, 3 receive, 10 collective
	Fields []int
}

var header = regexp.MustCompile(`^#DIMEMAS:"([^":]*)":1,(\d+):(\d+)\((\d+(?:,\d+)*)\),(\d+)$`)

// Read reads a file from where its offsets say that tasks begin.
func Read(path string) (*Trace, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	m := header.FindSubmatch(first)
	if m == nil {
		return nil, fmt.Errorf("%s: header %q", path, first)
	}
	t := &Trace{Name: string(m[1]), Comms: make(map[int][]int)}
	offset, _ := strconv.Atoi(string(m[2]))
	tasks, _ := strconv.Atoi(string(m[3]))
	comms, _ := strconv.Atoi(string(m[5]))
	if got := len(strings.Split(string(m[4]), ",")); got != tasks || offset >= len(text) {
		return nil, fmt.Errorf("%s: %d tasks with threads, want %d; offsets at %d of %d", path, got, tasks, offset, len(text))
	}
	for range comms {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		n, err := integers(strings.TrimPrefix(string(line), "d:1:"))
		if err != nil || len(n) < 3 || len(n) != 2+n[1] {
			return nil, fmt.Errorf("%s: communicator %q: %v", path, line, err)
		}
		t.Comms[n[0]] = n[2:]
	}
	list := strings.Split(strings.TrimSuffix(string(text[offset:]), "\n"), "\n")
	if len(list) != tasks {
		return nil, fmt.Errorf("%s: offsets of %d tasks, want %d", path, len(list), tasks)
	}
	for task, line := range list {
		n, err := integers(strings.TrimPrefix(line, "s:"))
		if err != nil || len(n) != 2 || n[0] != task || n[1] >= offset {
			return nil, fmt.Errorf("%s: offset %q: %v", path, line, err)
		}
		x, err := t.task(task, tasks, text[n[1]:offset])
		if err != nil {
			return nil, fmt.Errorf("%s: task %d: %w", path, task, err)
		}
		t.Tasks = append(t.Tasks, x)
	}
	return t, nil
}

func integers(text string) (list []int, err error) {
	for _, word := range strings.Split(text, ":") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// task reads records until those of another task begin.
func (t *Trace) task(task, tasks int, text []byte) (x Task, err error) {
	prefix := fmt.Sprintf(":%d:0:", task)
	for len(text) > 0 {
		var b []byte
		b, text, _ = bytes.Cut(text, []byte("\n"))
		line := string(b)
		at := strings.Index(line, ":")
		if at < 0 || !strings.HasPrefix(line[at:], prefix) {
			return x, nil
		}
		kind, err := strconv.Atoi(line[:at])
		if err != nil {
			return x, fmt.Errorf("%q: %w", line, err)
		}
		fields := line[at+len(prefix):]
		if kind == 1 {
			s, err := strconv.ParseFloat(fields, 64)
			if err != nil || s < 0 {
				return x, fmt.Errorf("%q: %v", line, err)
			}
			x.Seconds += s
			continue
		}
		r := Record{Kind: kind}
		if r.Fields, err = integers(fields); err != nil {
			return x, fmt.Errorf("%q: %w", line, err)
		}
		want := map[int]int{2: 6, 3: 6, 10: 7}[kind]
		if len(r.Fields) != want || kind != 10 && (r.Fields[0] < 0 || r.Fields[0] >= tasks || r.Fields[1] != -1) {
			return x, fmt.Errorf("%q", line)
		}
		comm := r.Fields[1]
		if kind != 10 {
			comm = r.Fields[4]
		}
		if t.Comms[comm] == nil {
			return x, fmt.Errorf("%q: no communicator %d", line, comm)
		}
		x.Records = append(x.Records, r)
	}
	return x, nil
}

// Messages says who sends how many messages and bytes to whom. It is an error if a message has one
// end alone, if a receive is posted and not waited for, or if members of a communicator do not call the same
// collectives in the same order.
func (t *Trace) Messages() (list map[[2]int][2]uint64, err error) {
	type channel struct{ from, to, tag, comm int }
	ends := make(map[channel][2]int)
	open := make(map[channel]int)
	list = make(map[[2]int][2]uint64)
	calls := make(map[int]map[int][]int) // by communicator and task
	for task, x := range t.Tasks {
		for _, r := range x.Records {
			f := r.Fields
			switch r.Kind {
			case 2:
				c := channel{task, f[0], f[3], f[4]}
				n := ends[c]
				n[0]++
				ends[c] = n
				cell := list[[2]int{task, f[0]}]
				list[[2]int{task, f[0]}] = [2]uint64{cell[0] + 1, cell[1] + uint64(f[2])}
			case 3:
				c := channel{f[0], task, f[3], f[4]}
				n := ends[c]
				switch f[5] {
				case 0:
					n[1]++
				case 1:
					n[1]++
					open[c]++
				case 2:
					open[c]--
				}
				ends[c] = n
			case 10:
				if calls[f[1]] == nil {
					calls[f[1]] = make(map[int][]int)
				}
				calls[f[1]][task] = append(calls[f[1]][task], f[0])
			}
		}
	}
	for c, n := range ends {
		if n[0] != n[1] || open[c] != 0 {
			return nil, fmt.Errorf("%+v: %d sends, %d receives, %d of them not waited for", c, n[0], n[1], open[c])
		}
	}
	for comm, by := range calls {
		want := fmt.Sprint(by[t.Comms[comm][0]])
		for _, task := range t.Comms[comm] {
			if got := fmt.Sprint(by[task]); got != want {
				return nil, fmt.Errorf("communicator %d: task %d calls %s, others %s", comm, task, got, want)
			}
		}
	}
	return list, nil
}
