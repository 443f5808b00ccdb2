package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spoor-hpc/spoor/test/need"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// pftrace has an export decoded by the definition, which must know each field, and by hand.
func pftrace(t *testing.T, x traced, definition protoreflect.MessageDescriptor) {
	t.Helper()
	path := x.export(t, "perfetto")
	list := defined(t, definition, path)
	shown(t, x, list)
	if diff := cmp.Diff(perfetto(t, path), list, cmp.AllowUnexported(slice{})); diff != "" {
		t.Errorf("decoded by hand, and by the definition:\n%s", diff)
	}
}

// chromiums is where Debian has the browser, which traces itself by Perfetto and has the definition of its
// events within.
const chromiums = "/usr/lib/chromium/chromium"

// definition is Perfetto's own of a trace: of events and all that is in them as Chromium has it, of the packets
// around them as far as exports have such. SPOOR_PERFETTO_PROTO names a perfetto_trace.proto to take
// all of it from instead, by protoc.
func definition(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	var set *descriptorpb.FileDescriptorSet
	if file := os.Getenv("SPOOR_PERFETTO_PROTO"); file != "" {
		set = compiled(t, file)
	} else {
		set = carried(t)
	}
	files, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	d, err := files.FindDescriptorByName("perfetto.protos.Trace")
	if err != nil {
		t.Fatal(err)
	}
	return d.(protoreflect.MessageDescriptor)
}

// carried is what Chromium has of the definition, and the packets.
func carried(t *testing.T) *descriptorpb.FileDescriptorSet {
	t.Helper()
	f, err := os.Open(chromiums)
	if err != nil {
		need.Absent(t, "no Chromium, whose definition of events Perfetto's traces would be decoded by: %v", err)
	}
	defer f.Close()
	const first, last = "protos/perfetto/trace/track_event/debug_annotation.proto", "protos/perfetto/trace/track_event/track_event.proto"
	b := within(t, f, first)
	set := &descriptorpb.FileDescriptorSet{}
	for len(b) > 0 {
		field, _, n := protowire.ConsumeTag(b)
		file, m := protowire.ConsumeBytes(b[max(n, 0):])
		x := &descriptorpb.FileDescriptorProto{}
		if n < 0 || m < 0 || field != 1 || proto.Unmarshal(file, x) != nil {
			t.Fatalf("%s: the definition breaks off behind %d files", chromiums, len(set.File))
		}
		b = b[n+m:]
		if set.File = append(set.File, x); x.GetName() == last {
			break
		}
	}
	packets := &descriptorpb.FileDescriptorProto{}
	text, err := os.ReadFile(filepath.Join("testdata", "packets.txtpb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := prototext.Unmarshal(text, packets); err != nil {
		t.Fatal(err)
	}
	set.File = append(set.File, packets)
	return set
}

// within returns what stands in a file from the set on that begins with a definition of that name.
func within(t *testing.T, f *os.File, name string) []byte {
	t.Helper()
	const piece = 1 << 24
	key := append([]byte{'\n', byte(len(name))}, name...)
	b := make([]byte, piece+1<<20) // pieces overlap by as much as the set takes
	for at := int64(0); ; at += piece {
		n, err := f.ReadAt(b, at)
		for from := 0; ; {
			i := bytes.Index(b[from:n], key)
			if i < 0 {
				break
			}
			// Before the first file in a set, there are its tag and length.
			for back := 2; back <= 4 && from+i >= back; back++ {
				set := b[from+i-back : n]
				if field, kind, m := protowire.ConsumeTag(set); field == 1 && kind == protowire.BytesType && m == 1 {
					if _, l := protowire.ConsumeVarint(set[m:]); m+l == back {
						return bytes.Clone(set)
					}
				}
			}
			from += i + 1
		}
		if err != nil {
			t.Fatalf("%s has no definition %s", f.Name(), name)
		}
	}
}

// compiled is the definition of a whole trace.
func compiled(t *testing.T, file string) *descriptorpb.FileDescriptorSet {
	t.Helper()
	out := filepath.Join(t.TempDir(), "set")
	if text, err := exec.Command(tool(t, "protoc"), "--include_imports", "--descriptor_set_out="+out, "-I", filepath.Dir(file), file).CombinedOutput(); err != nil {
		t.Fatalf("protoc: %v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(b, set); err != nil {
		t.Fatal(err)
	}
	return set
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
