package mpi

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "append new ids to testdata/ids.txt")

func TestCallsParse(t *testing.T) {
	if _, err := parseCalls("calls.txt", callsText); err != nil {
		t.Fatal(err)
	}
	if _, err := parseConstants("constants.txt", constantsText); err != nil {
		t.Fatal(err)
	}
	for _, c := range Calls() {
		byID, ok := CallByID(c.ID)
		byName, ok2 := CallNamed(c.Name)
		if !ok || !ok2 || byID != c || byName != c {
			t.Errorf("%s is not found by id %d and name", c.Name, c.ID)
		}
	}
	if _, ok := CallByID(0); ok {
		t.Error("id 0 is a call")
	}
	if _, ok := CallByID(65535); ok {
		t.Error("id 65535 is a call")
	}
}

// Ids stand in traces: those given once keep their meaning.
func TestIDsOnlyGrow(t *testing.T) {
	const file = "testdata/ids.txt"
	golden, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for line := range strings.Lines(string(golden)) {
		line = strings.TrimSpace(line)
		known[line] = true
		var id uint16
		var name string
		if _, err := fmt.Sscan(line, &id, &name); err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		if c, ok := CallByID(id); !ok || c.Name != name {
			t.Errorf("id %d was %s and must stay it", id, name)
		}
	}
	var fresh []string
	for _, c := range slices.Concat(Calls(), PosixFileCalls()) {
		if line := fmt.Sprint(c.ID, " ", c.Name); !known[line] {
			fresh = append(fresh, line)
		}
	}
	switch {
	case len(fresh) == 0 || t.Failed():
	case *update:
		text := string(golden) + strings.Join(fresh, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%d ids are not in %s, the first is %q: run go test -update", len(fresh), file, fresh[0])
	}
}

// Calls whose attributes don't follow from their parameters.
var attributeExceptions = map[string]string{
	"MPI_Cancel":              "the request goes in by address and stays active",
	"MPI_Type_get_contents":   "many datatypes come out; no description of each is kept",
	"MPI_Type_get_contents_c": "many datatypes come out; no description of each is kept",
	"MPI_File_get_view":       "gives back the datatypes of MPI_File_set_view",
	"MPI_T_cvar_get_info":     "the datatype is a predefined one",
	"MPI_T_pvar_get_info":     "the datatype is a predefined one",
	"MPI_T_event_get_info":    "the datatypes are predefined ones",
	"MPI_Type_match_size":     "the datatype is a predefined one",
}

// The recorder relies on the attributes; they follow from the parameters, with
// few exceptions.
func TestAttributes(t *testing.T) {
	has := func(c *Call, kind Kind, dirs ...Dir) bool {
		for i := range c.Params {
			for _, d := range dirs {
				if c.Params[i].Kind == kind && c.Params[i].Dir == d {
					return true
				}
			}
		}
		return false
	}
	for _, c := range Calls() {
		if c.WrapperClass == WrapperAbsent {
			continue
		}
		rules := []struct {
			what string
			attr bool
			fact bool
		}{
			{"nonblocking or persistent: a request comes out", c.Has(AttrNonblocking) || c.Has(AttrPersistent), has(c, KindRequest, DirOut)},
			{"creates-comm: a communicator comes out", c.Has(AttrCreatesComm), has(c, KindComm, DirOut)},
			{"creates-type: a datatype comes out", c.Has(AttrCreatesType), has(c, KindDatatype, DirOut)},
			{"creates-win: a window comes out", c.Has(AttrCreatesWin), has(c, KindWin, DirOut)},
			{"completes or starts: requests go in by address", c.Has(AttrCompletes) || c.Has(AttrStarts), has(c, KindRequest, DirInOut, DirFree)},
			{"tool: MPI_T_", c.Has(AttrTool), strings.HasPrefix(c.Name, "MPI_T_")},
		}
		excepted := attributeExceptions[c.Name] != ""
		for _, r := range rules {
			if r.attr != r.fact && !excepted {
				t.Errorf("%s: %s: attribute %v, parameters %v", c.Name, r.what, r.attr, r.fact)
			}
		}
		if c.Has(AttrNonblocking | AttrPersistent) {
			t.Errorf("%s: both nonblocking and persistent", c.Name)
		}
		for i := range c.Params {
			if p := &c.Params[i]; p.OnlyRoot && c.Index("root") < 0 {
				t.Errorf("%s: %s is only-root, and there is no root", c.Name, p.Name)
			}
		}
	}
}

// Each irregular or unwrapped call needs hand work: keep them few.
func TestMostCallsAreRegular(t *testing.T) {
	count := make(map[WrapperClass]int)
	for _, c := range Calls() {
		count[c.WrapperClass]++
	}
	t.Logf("%d calls: %d regular, %d irregular, %d unwrapped", len(Calls()), count[WrapperGenerated], count[WrapperHandwritten], count[WrapperAbsent])
	if hand := count[WrapperHandwritten] + count[WrapperAbsent]; hand*10 > len(Calls()) {
		t.Errorf("%d of %d calls are not regular", hand, len(Calls()))
	}
}

// Calls parsed one by one, as they are asked for, are those of the whole table.
func TestStanzas(t *testing.T) {
	table, err := parseCalls("calls.txt", callsText)
	if err != nil {
		t.Fatal(err)
	}
	s := findStanzas("calls.txt", callsText, 0, 1024)
	for i := len(table.list) - 1; i >= 0; i-- {
		want := table.list[i]
		if got := s.call(want.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", want.Name, got, want)
		}
		if id := s.names()[want.Name]; id != want.ID {
			t.Errorf("%s has id %d, want %d", want.Name, id, want.ID)
		}
	}
	if got := s.all(); len(got) != len(table.list) || !slices.EqualFunc(got, table.list, func(a, b *Call) bool { return a.ID == b.ID }) {
		t.Errorf("%d calls, want %d", len(got), len(table.list))
	}
	for _, id := range []uint16{0, uint16(len(s.byID)), 0xffff} {
		if c := s.call(id); c != nil {
			t.Errorf("id %d is %s", id, c.Name)
		}
	}
}

// What recorders do when they start.
func BenchmarkFirstCalls(b *testing.B) {
	for b.Loop() {
		s := findStanzas("calls.txt", callsText, 0, 1024)
		for id := range uint16(20) {
			s.call(id + 1)
		}
	}
}

func BenchmarkConstants(b *testing.B) {
	for b.Loop() {
		if _, err := parseConstants("constants.txt", constantsText); err != nil {
			b.Fatal(err)
		}
	}
}

// What comes out ends where the MPI wrote, not where the program's array ends: an array that comes out with a length
// that goes in says what is written, or is here because all of it is.
func TestRoomIsNotWritten(t *testing.T) {
	filled := map[string]bool{"MPI_Group_translate_ranks ranks2": true, "MPI_Comm_spawn array_of_errcodes": true}
	for _, c := range Calls() {
		for i := range c.Params {
			p := &c.Params[i]
			room, is := p.Len.(ParamExpr)
			if !p.Array || p.Dir != DirOut || p.Kind.IsStatus() || !is || c.Params[c.Index(string(room))].Dir != DirIn {
				continue
			}
			if p.WrittenLen == nil && !filled[c.Name+" "+p.Name] {
				t.Errorf("%s: %s[%s] has room: how much of it is written?", c.Name, p.Name, room)
			}
		}
	}
}
