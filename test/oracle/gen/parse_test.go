package gen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// In the two styles of today's headers: attributes before or behind, array
// parameters, function types that must not be taken for functions.
const header = `
# 1 "mpi.h"
typedef int MPI_Datatype;
typedef int (MPI_Copy_function) ( MPI_Comm, int, void *);
extern int * const MPI_UNWEIGHTED ;
__attribute__((visibility("default"))) extern struct ompi_predefined_communicator_t ompi_mpi_comm_null;
__attribute__((visibility("default"))) int OMPI_C_MPI_NULL_COPY_FN( MPI_Comm comm, int k );
__attribute__((visibility("default"))) int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
                                int tag, MPI_Comm comm);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
    __attribute__((nonnull(3)));
double MPI_Wtime(void);
int MPI_Pcontrol(const int level, ...) ;
static inline int f(int x) { return MPI_Wtime() > x; }
int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[]) ;
`

func TestParse(t *testing.T) {
	functions, symbols, err := Parse(header)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range functions {
		var params []string
		for _, p := range f.Params {
			params = append(params, strings.TrimSpace(p.Base+strings.Repeat("*", p.Stars)+" "+p.Name+p.Array))
		}
		if f.Varargs {
			params = append(params, "...")
		}
		got = append(got, f.Ret+" "+f.Name+"("+strings.Join(params, ", ")+")")
	}
	want := []string{
		"int MPI_Send(void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)",
		"int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup)",
		"double MPI_Wtime()",
		"int MPI_Pcontrol(int level, ...)",
		"int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[])",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"MPI_UNWEIGHTED", "ompi_mpi_comm_null", "OMPI_C_MPI_NULL_COPY_FN"}, symbols); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
}

// A parameter that no rule covers stops the build: an oracle that leaves
// something out would agree with a recorder that does.
func TestEmitRefuses(t *testing.T) {
	for _, source := range []string{
		"int MPI_New(struct foo *x);",
		"int MPI_New(const int list[]);",
		"float MPI_New(int x);",
	} {
		functions, _, err := Parse(source)
		if err != nil || len(functions) != 1 {
			t.Fatalf("%s: %d functions, %v", source, len(functions), err)
		}
		if _, err := Emit(functions, nil); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}

func TestEmit(t *testing.T) {
	functions, _, err := Parse("int MPI_Wait(MPI_Request *request, MPI_Status *status);")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Emit(functions, []string{"MPI_ANY_TAG"})
	if err != nil {
		t.Fatal(err)
	}
	if _, got, _ = strings.Cut(got, "return n;\n}\n"); got != wait {
		t.Errorf("got:%s\nwant:%s", got, wait)
	}
}

const wait = `
static int log_MPI_Wait(__typeof__(MPI_Wait) *next, MPI_Request *request, MPI_Status *status)
{
	O_REQUEST_AT(request);
	o_pointer(status);
	uint64_t seq = o_entered();
	o_nest(1);
	int ret = next(request, status);
	o_nest(-1);
	o_leave(seq);
	o_returned_int((int64_t)ret);
	o_outputs();
	if (o_success(ret)) {
		O_REQUEST_AT(request);
		o_status((const MPI_Status *)status);
	} else {
		O_REQUEST_AT(request);
		o_null();
	}
	o_outputs_end();
	o_left();
	return ret;
}

#undef MPI_Wait
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	static __typeof__(MPI_Wait) *next;
	if (!next)
		next = (__typeof__(next))o_next("MPI_Wait");
	if (!o_enter("MPI_Wait", 0, __builtin_return_address(0)))
		return next(request, status);
	return log_MPI_Wait(next, request, status);
}

#undef PMPI_Wait
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	static __typeof__(MPI_Wait) *next;
	if (!next)
		next = (__typeof__(next))o_next("PMPI_Wait");
	if (!o_enter("MPI_Wait", 1, __builtin_return_address(0)))
		return next(request, status);
	return log_MPI_Wait(next, request, status);
}
`
