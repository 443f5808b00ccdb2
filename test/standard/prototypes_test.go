package standard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// A prototype is a function of mpi.h.
type prototype struct {
	returns string
	params  []ctype
}

// A ctype is a parameter's type, without const.
type ctype struct {
	base  string
	depth int // of pointers and arrays
}

func (c ctype) String() string { return c.base + strings.Repeat("*", c.depth) }

var (
	declaration = regexp.MustCompile(`(\w+)\s+(MPI_\w+)\s*\(([^;]*?)\)\s*(?:__attribute__[^;]*)?;`)
	attribute   = regexp.MustCompile(`__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)`)
)

// prototypes finds all functions called MPI_… in a preprocessed header.
func prototypes(header string) map[string]prototype {
	found := make(map[string]prototype)
	for _, m := range declaration.FindAllStringSubmatch(attribute.ReplaceAllString(header, " "), -1) {
		if m[1] == "typedef" {
			continue
		}
		p := prototype{returns: m[1]}
		if list := strings.TrimSpace(m[3]); list != "void" && list != "" {
			for _, text := range strings.Split(list, ",") {
				p.params = append(p.params, parseType(text))
			}
		}
		found[m[2]] = p
	}
	return found
}

var word = regexp.MustCompile(`\w+|\.\.\.`)

func parseType(text string) ctype {
	var c ctype
	c.depth = strings.Count(text, "*") + strings.Count(text, "[")
	text, _, _ = strings.Cut(text, "[")
	for _, w := range word.FindAllString(text, -1) {
		if w != "const" && w != "struct" && w != "enum" && w != "restrict" && w != "__restrict__" {
			c.base = w
			break
		}
	}
	return c
}

// bases lists the C types that a kind's values have; of kinds with a wider
// large form, in the small form.
var bases = map[mpi.Kind][]string{
	mpi.KindAint: {"MPI_Aint", "MPI_Count"}, mpi.KindAddress: {"MPI_Aint", "MPI_Count"},
	mpi.KindOffset: {"MPI_Offset"}, mpi.KindFileDisp: {"MPI_Offset"}, mpi.KindCount64: {"MPI_Count"},
	mpi.KindToolClock: {"MPI_Count"}, mpi.KindTime: {"double"},
	mpi.KindFint: {"MPI_Fint", "int"}, mpi.KindFStatus: {"MPI_Fint", "int"},
	mpi.KindCbSafety: {"MPI_T_cb_safety"}, mpi.KindSourceOrder: {"MPI_T_source_order"},
	mpi.KindComm: {"MPI_Comm"}, mpi.KindGroup: {"MPI_Group"}, mpi.KindDatatype: {"MPI_Datatype"}, mpi.KindOp: {"MPI_Op"},
	mpi.KindRequest: {"MPI_Request"}, mpi.KindMessage: {"MPI_Message"}, mpi.KindWin: {"MPI_Win"}, mpi.KindFile: {"MPI_File"},
	mpi.KindInfo: {"MPI_Info"}, mpi.KindErrhandler: {"MPI_Errhandler"}, mpi.KindSession: {"MPI_Session"},
	mpi.KindCvar: {"MPI_T_cvar_handle"}, mpi.KindPvar: {"MPI_T_pvar_handle"}, mpi.KindPvarSession: {"MPI_T_pvar_session"},
	mpi.KindToolEvent: {"MPI_T_event_instance"}, mpi.KindToolEventRegistration: {"MPI_T_event_registration"}, mpi.KindToolEnum: {"MPI_T_enum"},
	mpi.KindToolBoundHandle: {"void"}, mpi.KindBuffer: {"void"}, mpi.KindPointer: {"void"}, mpi.KindPointerOut: {"void"},
	mpi.KindString: {"char"}, mpi.KindStatus: {"MPI_Status"}, mpi.KindCStatus: {"MPI_Status"},
	mpi.KindF08Status: {"MPI_F08_status", "MPI_F08_Status"}, mpi.KindArgc: {"int"}, mpi.KindArgv: {"char"}, mpi.KindVarargs: {"..."},
}

var callback = regexp.MustCompile(`^MPI_\w+_(function(_c)?|fn)$`)

// check says what is wrong with a C type for a parameter.
func check(call *mpi.Call, p *mpi.Param, c ctype) error {
	if p.Kind == mpi.KindFunction {
		// A function or a pointer to one: typedefs come in both sorts.
		if !callback.MatchString(c.base) {
			return fmt.Errorf("%s is no callback", c)
		}
		return nil
	}
	want := bases[p.Kind]
	switch {
	case p.Kind.WidensInLargeForm() && call.Large:
		want = []string{"MPI_Count", "MPI_Aint", "MPI_Offset"}
	case want == nil:
		want = []string{"int"}
	}
	if !slices.Contains(want, c.base) {
		return fmt.Errorf("%s, want %s", c, strings.Join(want, " or "))
	}
	if depth := depthOf(p); !slices.Contains(depth, c.depth) {
		return fmt.Errorf("%s, want %s and %v stars", c, want[0], depth)
	}
	return nil
}

// depthOf returns how many pointers or brackets a parameter's type can have.
func depthOf(p *mpi.Param) []int {
	depth := 0
	switch p.Kind {
	case mpi.KindVarargs:
		return []int{0}
	case mpi.KindArgc:
		return []int{1}
	case mpi.KindArgv:
		return []int{3}
	case mpi.KindPointerOut:
		// void * or void **: the standard passes the address of a pointer as void *
		return []int{1, 2}
	case mpi.KindBuffer, mpi.KindPointer, mpi.KindToolBoundHandle, mpi.KindString,
		mpi.KindStatus, mpi.KindCStatus, mpi.KindFStatus, mpi.KindF08Status:
		depth = 1
		if p.Kind.IsStatus() && p.Array {
			return []int{1} // an array of statuses is a pointer as well
		}
	}
	if p.IsPassedByAddress() {
		depth++
	}
	if p.InnerLen != nil {
		depth++
	}
	if _, product := p.Len.(*mpi.ProductExpr); product {
		return []int{depth, depth + 1} // int ranges[][3]
	}
	return []int{depth}
}

// Where a header is wrong.
var headerErrors = map[string]string{
	"mpich-abi MPI_Psend_init":   "the header of MPICH 5.0 says int count; its library takes an MPI_Count, as the standard says",
	"mpich-abi MPI_Precv_init":   "as MPI_Psend_init",
	"mpich-abi MPI_Psend_init_c": "in no library",
	"mpich-abi MPI_Precv_init_c": "in no library",
}

func TestPrototypes(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		header := prototypes(l.preprocess(t))
		if len(header) < 400 {
			t.Fatalf("found only %d prototypes", len(header))
		}
		for name, proto := range header {
			call, ok := mpi.CallNamed(name)
			if headerErrors[l.Name+" "+name] != "" {
				continue
			}
			if !ok {
				t.Errorf("calls.txt lacks %s", name)
				continue
			}
			if call.WrapperClass == mpi.WrapperAbsent {
				continue
			}
			if want := bases[call.ReturnKind]; !slices.Contains(append(want, "int"), proto.returns) ||
				want != nil && !slices.Contains(want, proto.returns) {
				t.Errorf("%s returns %s, and the table says %s", name, proto.returns, call.ReturnKind)
			}
			if len(proto.params) != len(call.Params) {
				t.Errorf("%s has %d parameters, and %d in the table", name, len(proto.params), len(call.Params))
				continue
			}
			for i, c := range proto.params {
				p := &call.Params[i]
				if err := check(call, p, c); err != nil {
					t.Errorf("%s: %s (%s %s): %v", name, p.Name, p.Dir, p.Kind, err)
				}
			}
		}
	})
}
