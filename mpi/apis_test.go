package mpi

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// api is a function of the list that the MPI Forum's binding tool knows.
type api struct {
	Name   string
	Params []struct {
		Name, Kind, Dir, Suppress string
		Length                    any
		LargeOnly                 bool `json:"large_only"`
		Pointer                   *bool
	}
}

// readAPIs reads the Forum's list, which is not part of the project.
func readAPIs(t *testing.T) []api {
	t.Helper()
	file := os.Getenv("SPOOR_MPI_APIS")
	if file == "" {
		t.Skip("SPOOR_MPI_APIS names no list of the MPI Forum's to compare with; test/standard compares with the installed MPIs'")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []api
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return list
}

// forumKinds are the kinds of the list that have a kind of their own here.
var forumKinds = map[string]Kind{
	"COMMUNICATOR": KindComm, "GROUP": KindGroup, "DATATYPE": KindDatatype, "OPERATION": KindOp, "REQUEST": KindRequest,
	"MESSAGE": KindMessage, "WINDOW": KindWin, "FILE": KindFile, "INFO": KindInfo, "ERRHANDLER": KindErrhandler,
	"SESSION": KindSession, "CVAR": KindCvar, "PVAR": KindPvar, "PVAR_SESSION": KindPvarSession,
	"EVENT_INSTANCE": KindToolEvent, "EVENT_REGISTRATION": KindToolEventRegistration, "TOOLS_ENUM": KindToolEnum, "BUFFER": KindBuffer,
	"STATUS": KindStatus, "STRING": KindString, "OFFSET": KindOffset, "KEYVAL": KindKeyval, "TAG": KindTag, "LOGICAL": KindLogical,
}

// Where the list is older than the table or wrong about C.
var forumExceptions = map[string]string{
	"MPI_File_set_view disp":        "a kind of its own, since MPI_DISPLACEMENT_CURRENT can stand there",
	"MPI_Info_create_env argc":      "passed by value and not changed",
	"MPI_Info_create_env argv":      "passed by value and not changed",
	"MPI_Precv_init buf":            "a receive writes into its buffer",
	"MPI_Status_set_elements count": "has a large form",
	"MPI_Status_set_elements":       "has a large form",
}

func TestAgainstForum(t *testing.T) {
	list := readAPIs(t)
	used := make(map[string]bool)
	for _, a := range list {
		c, ok := CallNamed(a.Name)
		if !ok {
			t.Errorf("calls.txt lacks %s", a.Name)
			continue
		}
		if c.WrapperClass == WrapperAbsent {
			continue
		}
		full := c
		if c.LargeForm != nil {
			full = c.LargeForm
		}
		i, wide := 0, false
		for _, p := range a.Params {
			if strings.Contains(p.Suppress, "c_parameter") {
				continue
			}
			if i >= len(full.Params) {
				t.Errorf("%s: %s is missing", a.Name, p.Name)
				break
			}
			q := &full.Params[i]
			i++
			poly := strings.HasPrefix(p.Kind, "POLY")
			wide = wide || poly
			if used[a.Name+" "+p.Name] = true; forumExceptions[a.Name+" "+p.Name] != "" {
				continue
			}
			if q.Name != p.Name {
				t.Errorf("%s: parameter %d is %s, want %s", a.Name, i, q.Name, p.Name)
			}
			if kind, ok := forumKinds[p.Kind]; ok && q.Kind != kind && !(kind == KindStatus && q.Kind.IsStatus()) {
				t.Errorf("%s: %s is a %s, want %s", a.Name, p.Name, q.Kind, kind)
			}
			if q.LargeOnly != p.LargeOnly {
				t.Errorf("%s: %s: large-only %v, want %v", a.Name, p.Name, q.LargeOnly, p.LargeOnly)
			}
			byAddress := p.Dir == "in" && p.Pointer != nil && *p.Pointer && q.Dir == DirInOut
			if !sameDir(p.Dir, q) && !byAddress {
				t.Errorf("%s: %s is %s, want %s", a.Name, p.Name, q.Dir, p.Dir)
			}
			if array := p.Length != nil; array != (q.Array || q.Kind == KindString) && !fixedArray(p.Kind) {
				t.Errorf("%s: %s: array %v, want %v", a.Name, p.Name, q.Array, array)
			}
			if poly != q.Kind.WidensInLargeForm() && !slices.Contains(wideAlready, q.Kind) {
				t.Errorf("%s: %s is a %s, and in the list a %s", a.Name, p.Name, q.Kind, p.Kind)
			}
		}
		if i < len(full.Params) {
			t.Errorf("%s: %s is no parameter", a.Name, full.Params[i].Name)
		}
		if used[a.Name] = true; wide != (c.LargeForm != nil) && forumExceptions[a.Name] == "" {
			t.Errorf("%s: large form %v, want %v", a.Name, c.LargeForm != nil, wide)
		}
	}
	for name := range forumExceptions {
		if !used[name] {
			t.Errorf("%s is an exception and not in the list", name)
		}
	}
}

// wideAlready are kinds that a parameter with a large form can have without
// becoming wider.
var wideAlready = []Kind{KindAint, KindCount64, KindAddress, KindOffset, KindFunction}

// fixedArray reports whether values of a kind of the list are arrays by
// themselves: strings, argument lists, Fortran statuses.
func fixedArray(kind string) bool {
	switch kind {
	case "STRING_ARRAY", "STRING_2DARRAY", "ARGUMENT_LIST", "F90_STATUS", "F08_STATUS", "INFO_VALUE", "STRING":
		return true
	}
	return false
}

func sameDir(dir string, q *Param) bool {
	switch dir {
	case "in":
		return q.Dir == DirIn
	case "out":
		return q.Dir == DirOut
	case "inout":
		// What MPI changes behind a handle that C passes by value doesn't show.
		return q.Dir == DirInOut || q.Dir == DirFree || q.Dir == DirIn && (q.Kind.IsHandle() || q.Kind.IsTool())
	}
	return false
}
