package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// TestPerfettoDefinition decodes exports by Perfetto's own definition of its format, which is not part of
// the project: protos/perfetto/trace/perfetto_trace.proto of its repository.
func TestPerfettoDefinition(t *testing.T) {
	file := os.Getenv("SPOOR_PERFETTO_PROTO")
	if file == "" {
		t.Skip("SPOOR_PERFETTO_PROTO names no perfetto_trace.proto to decode with; TestExport decodes by its numbers, written down by hand")
	}
	definition := compiled(t, file)
	each(t, func(t *testing.T, x traced) {
		path := x.export(t, "perfetto")
		list := defined(t, definition, path)
		shown(t, x, list)
		if diff := cmp.Diff(perfetto(t, path), list, cmp.AllowUnexported(slice{})); diff != "" {
			t.Errorf("decoded by hand, and by the definition:\n%s", diff)
		}
	})
}

// compiled is the definition of a whole trace.
func compiled(t *testing.T, file string) protoreflect.MessageDescriptor {
	t.Helper()
	out := filepath.Join(t.TempDir(), "set")
	if text, err := exec.Command(tool(t, "protoc"), "--include_imports", "--descriptor_set_out="+out, "-I", filepath.Dir(file), file).CombinedOutput(); err != nil {
		t.Fatalf("protoc: %v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(b, &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	d, err := files.FindDescriptorByName("perfetto.protos.Trace")
	if err != nil {
		t.Fatal(err)
	}
	return d.(protoreflect.MessageDescriptor)
}

// known wants each field of a message and of those in it to be defined.
func known(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if b := m.GetUnknown(); len(b) > 0 {
		t.Fatalf("%s has fields that are not defined: %x", m.Descriptor().FullName(), b)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				known(t, v.List().Get(i).Message())
			}
		default:
			known(t, v.Message())
		}
		return true
	})
}

// A field is a message and how to get at what is in it, by name.
type field struct{ protoreflect.Message }

func (f field) at(name string) (protoreflect.Value, bool) {
	d := f.Descriptor().Fields().ByName(protoreflect.Name(name))
	if d == nil {
		panic(string(f.Descriptor().FullName()) + " has no " + name)
	}
	return f.Get(d), f.Has(d)
}

func (f field) in(name string) (field, bool) {
	v, ok := f.at(name)
	return field{v.Message()}, ok
}

func (f field) number(name string) uint64 {
	v, _ := f.at(name)
	switch n := v.Interface().(type) {
	case int32:
		return uint64(n)
	case int64:
		return uint64(n)
	case uint32:
		return uint64(n)
	case protoreflect.EnumNumber:
		return uint64(n)
	}
	return v.Uint()
}

func (f field) list(name string) (all []protoreflect.Value) {
	v, _ := f.at(name)
	for i := range v.List().Len() {
		all = append(all, v.List().Get(i))
	}
	return all
}

// flows are ids as perfetto has them.
func (f field) flows(name string) (ids []string) {
	for _, v := range f.list(name) {
		ids = append(ids, flow(v.Uint()))
	}
	return ids
}

// defined reads a trace by its definition.
func defined(t *testing.T, d protoreflect.MessageDescriptor, path string) (list []slice) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := dynamicpb.NewMessage(d)
	if err := proto.Unmarshal(b, all); err != nil {
		t.Fatal(err)
	}
	known(t, all)
	type track struct{ rank, thread int }
	tracks, processes, threads := make(map[uint64]track), make(map[uint64]int), make(map[int]int)
	names, open := make(map[uint64]string), make(map[uint64][]slice)
	for _, v := range (field{all}).list("packet") {
		p := field{v.Message()}
		if state, ok := p.in("interned_data"); ok {
			for _, v := range state.list("event_names") {
				n := field{v.Message()}
				text, _ := n.at("name")
				names[n.number("iid")] = text.String()
			}
		}
		if d, ok := p.in("track_descriptor"); ok {
			if process, ok := d.in("process"); ok {
				processes[d.number("uuid")] = int(process.number("pid")) - 1
			} else if _, ok := d.in("thread"); ok {
				rank := processes[d.number("parent_uuid")]
				tracks[d.number("uuid")] = track{rank, threads[rank]}
				threads[rank]++
			}
		}
		e, ok := p.in("track_event")
		if !ok {
			continue
		}
		id := e.number("track_uuid")
		kind, _ := e.at("type")
		switch e.Descriptor().Fields().ByName("type").Enum().Values().ByNumber(kind.Enum()).Name() {
		case "TYPE_SLICE_BEGIN":
			open[id] = append(open[id], slice{
				rank: tracks[id].rank, thread: tracks[id].thread, name: names[e.number("name_iid")], start: int64(p.number("timestamp")), sent: e.flows("flow_ids"),
			})
		case "TYPE_SLICE_END":
			n := len(open[id]) - 1
			if n < 0 {
				t.Fatalf("a slice ends that never began: %s", strings.TrimSpace(prototext.Format(v.Message().Interface())))
			}
			s := open[id][n]
			s.end, s.received = int64(p.number("timestamp")), e.flows("terminating_flow_ids")
			list, open[id] = append(list, s), slices.Delete(open[id], n, n+1)
		}
	}
	return list
}
