// Package paravertest reads Paraver's files for tests, by the published grammar and not by what the
// writer does. It is strict: what Paraver would take with a warning is an error.
package paravertest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Trace is what the files say.
type Trace struct {
	EndNs    int64
	Nodes    []int         // processors of each
	Threads  []int         // of each task of the one application
	Comms    map[int][]int // tasks, by number
	States   []State
	Events   []Event
	Messages []Message
	Names    map[int]map[int]string // of values, by type
	Rows     map[string][]string    // by level
}

// An Object is where something happened.
type Object struct{ CPU, Task, Thread int }

// A State is what a thread did from one time to another.
type State struct {
	Object
	From, To int64
	State    int
}

// An Event is a value that a type takes at a time.
type Event struct {
	Object
	At          int64
	Type, Value int
}

// A Message has two ends, with two times each: when the program asked, and when it happened.
type Message struct {
	From, To                 Object
	Sent, Left, Asked, There int64
	Bytes, Tag               int
}

var header = regexp.MustCompile(`^#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\((\d+(?:,\d+)*)\):1:(\d+)\((\d+:\d+(?:,\d+:\d+)*)\),(\d+)$`)

// Read reads the files of that name.
func Read(dir, name string) (*Trace, error) {
	t := &Trace{Comms: make(map[int][]int), Names: make(map[int]map[int]string), Rows: make(map[string][]string)}
	if err := t.records(filepath.Join(dir, name+".prv")); err != nil {
		return nil, err
	}
	if err := t.labels(filepath.Join(dir, name+".pcf")); err != nil {
		return nil, err
	}
	return t, t.rows(filepath.Join(dir, name+".row"))
}

func (t *Trace) records(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	if !lines.Scan() {
		return fmt.Errorf("%s: empty", path)
	}
	m := header.FindStringSubmatch(lines.Text())
	if m == nil {
		return fmt.Errorf("%s: header %q", path, lines.Text())
	}
	t.EndNs, _ = strconv.ParseInt(m[1], 10, 64)
	for _, n := range strings.Split(m[3], ",") {
		cpus, _ := strconv.Atoi(n)
		t.Nodes = append(t.Nodes, cpus)
	}
	for _, task := range strings.Split(m[5], ",") {
		threads, node, _ := strings.Cut(task, ":")
		n, _ := strconv.Atoi(threads)
		at, _ := strconv.Atoi(node)
		if n == 0 || at == 0 || at > len(t.Nodes) {
			return fmt.Errorf("%s: task %q", path, task)
		}
		t.Threads = append(t.Threads, n)
	}
	if m[2] != strconv.Itoa(len(t.Nodes)) || m[4] != strconv.Itoa(len(t.Threads)) {
		return fmt.Errorf("%s: counts in %q", path, lines.Text())
	}
	comms, _ := strconv.Atoi(m[6])
	last := int64(0)
	for number := 2; lines.Scan(); number++ {
		fail := func(err error) error { return fmt.Errorf("%s:%d: %q: %w", path, number, lines.Text(), err) }
		if rest, ok := strings.CutPrefix(lines.Text(), "c:"); ok {
			n, err := numbers(rest)
			if err != nil || len(n) < 3 || len(n) != 3+int(n[2]) {
				return fail(fmt.Errorf("communicator: %w", err))
			}
			for _, task := range n[3:] {
				t.Comms[int(n[1])] = append(t.Comms[int(n[1])], int(task))
			}
			continue
		}
		n, err := numbers(lines.Text())
		if err != nil {
			return fail(err)
		}
		at, err := t.record(n)
		if err != nil {
			return fail(err)
		}
		if at < last {
			return fail(fmt.Errorf("behind a record at %d", last))
		}
		last = at
	}
	if len(t.Comms) != comms {
		return fmt.Errorf("%s: %d communicators, the header says %d", path, len(t.Comms), comms)
	}
	return lines.Err()
}

func numbers(text string) (list []int64, err error) {
	for _, word := range strings.Split(text, ":") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// object checks four numbers: processor, application, task, thread.
func (t *Trace) object(n []int64) (o Object, err error) {
	cpus := 0
	for _, c := range t.Nodes {
		cpus += c
	}
	o = Object{int(n[0]), int(n[2]), int(n[3])}
	if o.CPU < 1 || o.CPU > cpus || n[1] != 1 || o.Task < 1 || o.Task > len(t.Threads) || o.Thread < 1 || o.Thread > t.Threads[o.Task-1] {
		return o, fmt.Errorf("no such object: %v", n[:4])
	}
	return o, nil
}

func (t *Trace) record(n []int64) (at int64, err error) {
	if len(n) < 6 {
		return 0, fmt.Errorf("%d fields", len(n))
	}
	o, err := t.object(n[1:])
	if err != nil {
		return 0, err
	}
	at = n[5]
	switch {
	case n[0] == 1 && len(n) == 8:
		if n[6] <= at || n[6] > t.EndNs {
			return 0, fmt.Errorf("from %d to %d", at, n[6])
		}
		t.States = append(t.States, State{o, at, n[6], int(n[7])})
	case n[0] == 2 && len(n) >= 8 && len(n)%2 == 0:
		if at > t.EndNs {
			return 0, fmt.Errorf("behind the end")
		}
		for i := 6; i < len(n); i += 2 {
			t.Events = append(t.Events, Event{o, at, int(n[i]), int(n[i+1])})
		}
	case n[0] == 3 && len(n) == 15:
		to, err := t.object(n[7:])
		if err != nil {
			return 0, err
		}
		t.Messages = append(t.Messages, Message{o, to, at, n[6], n[11], n[12], int(n[13]), int(n[14])})
	default:
		return 0, fmt.Errorf("kind %d with %d fields", n[0], len(n))
	}
	return at, nil
}

func (t *Trace) labels(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	section := ""
	var types []int
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := strconv.Atoi(words[0]); err != nil {
			if section = words[0]; section == "EVENT_TYPE" {
				types = nil
			}
			continue
		}
		switch section {
		case "EVENT_TYPE":
			n, err := strconv.Atoi(words[1])
			if err != nil || len(words) < 3 {
				return fmt.Errorf("%s:%d: %q", path, i+1, line)
			}
			types = append(types, n)
			t.Names[n] = make(map[int]string)
		case "VALUES":
			n, _ := strconv.Atoi(words[0])
			for _, of := range types {
				t.Names[of][n] = strings.Join(words[1:], " ")
			}
		}
	}
	return nil
}

func (t *Trace) rows(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, part := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(part, "\n")
		words := strings.Fields(lines[0])
		if len(words) != 4 || words[0] != "LEVEL" || words[2] != "SIZE" || words[3] != strconv.Itoa(len(lines)-1) {
			return fmt.Errorf("%s: %q with %d lines", path, lines[0], len(lines)-1)
		}
		t.Rows[words[1]] = lines[1:]
	}
	return nil
}
