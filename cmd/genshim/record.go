package main

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// slack is how many words the parts of fixed size in a record may take together: SP_SLACK minus the room for new
// segments.
const slack = 96

// A body is the C statements of one recording function.
type body struct {
	before []string // statements before the record is begun, such as queries of the MPI
	parts  []string // statements that write the record
	words  int      // number of words that the parts of fixed size take

	lengths map[string]string // name of the variable that holds an array's length, by the length's C expression
}

func newBody() *body { return &body{lengths: make(map[string]string)} }

func (b *body) add(words int, format string, args ...any) {
	b.words += words
	b.parts = append(b.parts, fmt.Sprintf(format, args...))
}

// variable adds a variable for the length n of array p, unless there is one with that length, and returns its name. It
// is set before the record is begun, as computing the length may need MPI calls.
func (b *body) variable(p *mpi.Param, n string) string {
	if name, ok := b.lengths[n]; ok {
		return name
	}
	name := "n_" + p.Name
	b.lengths[n] = name
	b.before = append(b.before, fmt.Sprintf("int64_t %s = %s;", name, n))
	return name
}

func (g *call) body(at side) (*body, error) {
	b := newBody()
	return b, g.fill(b, at)
}

// fill adds the statements that write all inputs (entering) or outputs (leaving).
func (g *call) fill(b *body, at side) error {
	for _, p := range g.params {
		if at == entering && !p.HasEnterPart() || at == leaving && !p.HasLeavePart() {
			continue
		}
		if err := g.part(b, p, at); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if b.words > slack {
		return fmt.Errorf("%d words of fixed size, more than %d", b.words, slack)
	}
	return nil
}

// part writes the statements for one parameter; see shim/record.h and mpi/calls.txt.
func (g *call) part(b *body, p *mpi.Param, at side) error {
	if p.Array || p.Kind.ValueForm() == mpi.ValueFormString {
		return g.sequence(b, p, at)
	}
	if p.Kind.ValueForm() == mpi.ValueFormStatus {
		form := "SP_STATUS_FILLED"
		if p == g.ignorable() {
			form = "ignored_ ? SP_STATUS_IGNORED : SP_STATUS_FILLED"
		}
		if p.ValidIfNonZero != "" && at == leaving {
			form = fmt.Sprintf("!sp_ld32(%s) ? SP_STATUS_ABSENT : %s", p.ValidIfNonZero, form)
		}
		b.add(6, "w_ = sp_put_status(w_, %s, %s);", p.Name, form)
		return nil
	}
	name := p.Name
	if p.ValidIfNonZero != "" && at == leaving { // an output that the MPI didn't set is recorded as null
		name = fmt.Sprintf("(sp_ld32(%s) ? %s : NULL)", p.ValidIfNonZero, p.Name)
	}
	switch {
	case p.Kind == mpi.KindRequest && p.IsPassedByAddress():
		b.add(2, "w_ = sp_put_request(w_, sp_ldh(%s), %s);", name, p.Name)
	case p.Kind == mpi.KindRequest:
		b.add(2, "w_ = sp_put_request(w_, sp_handle(%s), NULL);", name)
	case p.Kind.ValueForm() == mpi.ValueFormAddress && p.Dir != mpi.DirIn && p.Kind != mpi.KindBuffer:
		b.add(2, "w_ = sp_put_address_at(w_, %s);", name)
	case p.Kind.ValueForm() == mpi.ValueFormAddress:
		b.add(2, "w_ = sp_put_address(w_, (const void *)%s);", name)
	case p.IsPassedByAddress():
		b.add(1, "*w_++ = %s(%s);", g.loader(p), name)
	default:
		b.add(1, "*w_++ = %s;", g.word(p.Kind, name))
	}
	return nil
}

// loader names the C function that reads a parameter's value through its pointer.
func (g *call) loader(p *mpi.Param) string {
	if p.Kind.IsHandle() && p.Kind != mpi.KindFile {
		return "sp_ldh"
	}
	if p.Kind.IsHandle() {
		return "sp_ld64"
	}
	return load(g.Width(p))
}

// word returns the C expression that converts a value to a word of a record.
func (g *call) word(k mpi.Kind, value string) string {
	switch {
	case k == mpi.KindFile: // MPI_File is a pointer in all flavours
		return "(uint64_t)" + value
	case k.IsHandle():
		return "sp_handle(" + value + ")"
	case k.ValueForm() == mpi.ValueFormInt:
		return "(uint64_t)(int64_t)" + value
	}
	return "(uint64_t)(uintptr_t)" + value
}

// sequence adds the statements that write a parameter that is an array or a string.
func (g *call) sequence(b *body, p *mpi.Param, at side) error {
	q := *p
	if p.Kind == mpi.KindString && !p.Array && p.Dir == mpi.DirIn {
		q.Len = nil
	}
	n, err := g.extent(&q, at)
	if err != nil {
		return err
	}
	if p.WrittenLen != nil { // if the call has failed, the query of the written length may fail, too
		n = fmt.Sprintf("sp_has_outputs(rc_) ? %s : 0", n)
	}
	name := b.variable(p, n)
	put, extra := "", ""
	switch p.Kind.ValueForm() {
	case mpi.ValueFormString:
		switch {
		case p.InnerLen != nil:
			put = "string_lists"
		case p.Array:
			put = "strings"
		default:
			put = "string"
		}
	case mpi.ValueFormStatus:
		put, extra = "statuses", ", SP_STATUS_FILLED"
		if p == g.ignorable() {
			extra = ", ignored_ ? SP_STATUS_IGNORED : SP_STATUS_FILLED"
		}
	case mpi.ValueFormHandle:
		put = "handles"
		if p.Kind == mpi.KindRequest {
			put = "requests"
		}
	case mpi.ValueFormInt:
		put = "32s"
		if g.Width(p) == mpi.Width64 {
			put = "64s"
		}
	default:
		return fmt.Errorf("no array of %s", p.Kind)
	}
	b.add(0, "w_ = sp_put_%s(t_, w_, %s, %s%s);", put, p.Name, name, extra)
	return nil
}

// result adds the statement that writes the result of a function, if that isn't an error code.
func (g *call) result(b *body) {
	switch {
	case g.ReturnKind == mpi.KindTime:
		b.add(1, "*w_++ = sp_ld64(&rc_);")
	case g.ReturnKind.ValueForm() == mpi.ValueFormAddress:
		b.add(2, "w_ = sp_put_address(w_, (const void *)rc_);")
	case g.ReturnKind == mpi.KindRequest:
		b.add(2, "w_ = sp_put_request(w_, sp_handle(rc_), NULL);")
	default:
		b.add(1, "*w_++ = %s;", g.word(g.ReturnKind, "rc_"))
	}
}

// aux adds the statements that query the properties of a communicator or datatype that the call has made, and that
// write them into the record.
func (g *call) aux(b *body) {
	if g.Has(mpi.AttrNonblocking) {
		return
	}
	for _, p := range g.params {
		if p.Dir != mpi.DirOut || p.Array {
			continue
		}
		switch {
		case p.Kind == mpi.KindComm && g.Has(mpi.AttrCreatesComm):
			group := 0
			if strings.Contains(g.Name, "_from_group") || g.Name == "MPI_Comm_create" || g.Name == "MPI_Comm_create_group" {
				group = 1
			}
			b.before = append(b.before, fmt.Sprintf("uint64_t aux_[6];\n\tint naux_ = sp_has_outputs(rc_) ? sp_comm_aux(aux_, sp_ldh(%s), %d) : 0;", p.Name, group))
		case p.Kind == mpi.KindDatatype && g.Has(mpi.AttrCreatesType):
			b.before = append(b.before, fmt.Sprintf("uint64_t aux_[5];\n\tint naux_ = sp_has_outputs(rc_) ? sp_type_aux(aux_, sp_ldh(%s)) : 0;", p.Name))
		default:
			continue
		}
		b.add(6, "for (int i_ = 0; i_ < naux_; i_++)\n\t\t\t*w_++ = aux_[i_];")
		return
	}
}

// memory adds statements that inform the shim about memory that the call allocates or frees; see shim/mpimem.h.
func (g *call) memory(enter, leave *body) {
	switch base, _ := strings.CutSuffix(g.Name, "_c"); base {
	case "MPI_Alloc_mem":
		leave.before = append(leave.before, "if (rc_ == 0)\n\t\tsp_memory_new(*(void **)baseptr, size);")
	case "MPI_Free_mem":
		leave.before = append(leave.before, "if (rc_ == 0)\n\t\tsp_memory_free(base);")
	case "MPI_Win_allocate", "MPI_Win_allocate_shared":
		leave.before = append(leave.before, "if (rc_ == 0)\n\t\tsp_memory_window(sp_ldh(win), *(void **)baseptr, size);")
	case "MPI_Win_free":
		enter.before = append(enter.before, "sp_memory_free_window(sp_ldh(win));")
	}
}
