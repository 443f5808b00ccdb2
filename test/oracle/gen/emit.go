package gen

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// Emit writes the C source of the interposers.
func Emit(functions []Function, constants []string) (string, error) {
	var b strings.Builder
	b.WriteString("#include \"runtime.h\"\n\n")
	b.WriteString("\nstruct o_constant {\n\tconst char *name;\n\tint64_t value;\n};\n")
	b.WriteString("int o_constants(struct o_constant *list, int max);\n\n")
	b.WriteString("int o_constants(struct o_constant *list, int max)\n{\n\tint n = 0;\n")
	for _, name := range constants {
		fmt.Fprintf(&b, "\tif (n < max)\n\t\tlist[n++] = (struct o_constant){\"%s\", (int64_t)(intptr_t)(%s)};\n", name, name)
	}
	b.WriteString("\treturn n;\n}\n")
	for i := range functions {
		var one strings.Builder
		if err := emitFunction(&one, &functions[i]); err != nil {
			if strings.HasPrefix(functions[i].Name, "MPIX_") {
				continue // a library's own, with types that nobody else has: not looked at
			}
			return "", err
		}
		b.WriteString(one.String())
	}
	return b.String(), nil
}

// EmitWeak writes a header that makes the library's symbols weak, for the
// oracle is preloaded into launchers too, and these have no MPI.
func EmitWeak(symbols []string) string {
	var b strings.Builder
	for _, name := range symbols {
		fmt.Fprintf(&b, "#pragma weak %s\n", name)
	}
	return b.String()
}

func emitFunction(b *strings.Builder, f *Function) error {
	var params, names []string
	var enter, leave, failed []string
	for i := range f.Params {
		p := &f.Params[i]
		in, out, err := print(f, p)
		if err != nil {
			return err
		}
		params = append(params, p.decl)
		names = append(names, p.Name)
		enter = append(enter, in)
		leave = append(leave, out)
		if p.Base == "MPI_Request" && out != null {
			failed = append(failed, out)
		} else {
			failed = append(failed, null)
		}
	}
	args := strings.Join(names, ", ")
	list := strings.Join(params, ", ")
	if f.Varargs {
		list += ", ..."
	}
	list = cmp.Or(list, "void")

	fmt.Fprintf(b, "\nstatic %s log_%s(%s)\n{\n", f.Ret, f.Name, join("__typeof__("+f.Name+") *next", params))
	for _, s := range enter {
		fmt.Fprintf(b, "\t%s\n", s)
	}
	fmt.Fprintf(b, "\tuint64_t seq = o_entered();\n\to_nest(1);\n\t%s ret = next(%s);\n\to_nest(-1);\n", f.Ret, args)
	// Before the outputs are read: the status of a finalised MPI can't be.
	switch f.Name {
	case "MPI_Finalize":
		b.WriteString("\to_finalised();\n")
	case "MPI_Init", "MPI_Init_thread":
		b.WriteString("\tif (o_success(ret))\n\t\to_initialised();\n")
	}
	b.WriteString("\to_leave(seq);\n")
	switch {
	case f.Ret == "double":
		b.WriteString("\to_returned_double(ret);\n")
	case isInteger(f.Ret):
		b.WriteString("\to_returned_int((int64_t)ret);\n")
	case isHandle(f.Ret):
		b.WriteString("\to_returned_handle(O_RAW(ret));\n")
	default:
		return fmt.Errorf("gen: %s: no rule for return type %q", f.Name, f.Ret)
	}
	b.WriteString("\to_outputs();\n")
	if f.Ret == "int" && !strings.HasSuffix(f.Name, "_toint") {
		fmt.Fprintf(b, "\tif (o_success(ret)) {\n\t\t%s\n\t} else {\n\t\t%s\n\t}\n",
			strings.Join(leave, "\n\t\t"), strings.Join(failed, "\n\t\t"))
	} else {
		fmt.Fprintf(b, "\t%s\n", strings.Join(leave, "\n\t"))
	}
	b.WriteString("\to_outputs_end();\n")
	for _, s := range describe(f) {
		fmt.Fprintf(b, "\tif (o_success(ret))\n\t\t%s\n", s)
	}
	b.WriteString("\to_left();\n\treturn ret;\n}\n")

	for _, prefix := range []string{"", "P"} {
		// Conversions of handles may be macros as well.
		fmt.Fprintf(b, "\n#undef %s%s\n%s %s%s(%s)\n{\n", prefix, f.Name, f.Ret, prefix, f.Name, list)
		fmt.Fprintf(b, "\tstatic __typeof__(%s) *next;\n", f.Name)
		fmt.Fprintf(b, "\tif (!next)\n\t\tnext = (__typeof__(next))o_next(\"%s%s\");\n", prefix, f.Name)
		profiling := 0
		if prefix == "P" {
			profiling = 1
		}
		// Left by a jump, so that the recorder sees whose call it is.
		fmt.Fprintf(b, "\tif (!o_enter(\"%s\", %d, __builtin_return_address(0)))\n\t\treturn next(%s);\n", f.Name, profiling, args)
		fmt.Fprintf(b, "\treturn log_%s(%s);\n}\n", f.Name, join("next", names))
	}
	return nil
}

// describe returns the statements that tell what a new communicator or
// datatype is. That of a nonblocking duplication isn't there yet.
func describe(f *Function) []string {
	var list []string
	for _, p := range f.Params {
		out := p.Stars == 1 && p.Array == "" && !p.Const
		switch {
		case out && p.Base == "MPI_Comm" && p.Name != "comm" && !strings.HasPrefix(f.Name, "MPI_Comm_idup"):
			list = append(list, "o_new_comm("+p.Name+");")
		case out && p.Base == "MPI_Datatype" && p.Name == "newtype":
			list = append(list, "o_new_type("+p.Name+");")
		}
	}
	return list
}

func join(first string, rest []string) string {
	return strings.Join(append([]string{first}, rest...), ", ")
}

const null = "o_null();"

var integers = set("int", "MPI_Aint", "MPI_Count", "MPI_Offset", "MPI_Fint", "MPI_T_cb_safety", "MPI_T_source_order")

var handles = set("MPI_Comm", "MPI_Datatype", "MPI_Group", "MPI_Op", "MPI_Request", "MPI_Message", "MPI_Win", "MPI_File",
	"MPI_Info", "MPI_Errhandler", "MPI_Session", "MPI_T_cvar_handle", "MPI_T_pvar_handle", "MPI_T_pvar_session",
	"MPI_T_enum", "MPI_T_event_registration", "MPI_T_event_instance", "MPIX_Grequest_class")

func isInteger(t string) bool { return integers[t] }
func isHandle(t string) bool  { return handles[t] }
func isFunction(t string) bool {
	return strings.HasSuffix(t, "_function") || strings.HasSuffix(t, "_function_c") || strings.HasSuffix(t, "_fn")
}

// print returns the statements that print a parameter at entry and at exit.
func print(f *Function, p *Param) (in, out string, err error) {
	key := strings.TrimPrefix(strings.TrimPrefix(f.Name, "MPIX_"), "MPI_") + "." + p.Name
	pointer := p.Stars
	switch {
	case isFunction(p.Base) && p.Array == "":
		return fmt.Sprintf("o_pointer((void *)(uintptr_t)%s);", p.Name), null, nil
	case p.Base == "char":
		return printChars(f, p, key)
	case p.Base == "void" && setPointers[key]:
		// The pointer is not written where the flag says so.
		return "o_pointer(" + p.Name + ");", unless(f, fmt.Sprintf("O_POINTER_AT(%s);", p.Name)), nil
	case p.Base == "void":
		return "o_pointer(" + p.Name + ");", null, nil
	case p.Base == "MPI_Status", p.Base == "MPI_F08_status", p.Base == "MPI_F08_Status", p.Name == "f_status":
		return printStatus(f, p, key)
	case p.Array != "", strings.HasPrefix(p.Name, "array_of_") && pointer == 1:
		return printArray(f, p, key)
	case pointer == 0 && isInteger(p.Base):
		return "o_int((int64_t)" + p.Name + ");", null, nil
	case pointer == 0 && isHandle(p.Base):
		return "o_handle(O_RAW(" + p.Name + "));", null, nil
	case pointer == 1 && p.Base == "MPI_Request":
		s := "O_REQUEST_AT(" + p.Name + ");"
		return s, s, nil
	case pointer == 1 && isInteger(p.Base):
		s := "O_INT_AT(" + p.Name + ");"
		return s, s, nil
	case pointer == 1 && isHandle(p.Base):
		s := "O_HANDLE_AT(" + p.Name + ");"
		return s, s, nil
	}
	return "", "", fmt.Errorf("gen: %s: no rule for parameter %q", f.Name, p.decl)
}

func printChars(f *Function, p *Param, key string) (in, out string, err error) {
	pointers := p.Stars + strings.Count(p.Array, "[")
	name := p.Name
	switch {
	case pointers == 1 && p.Const:
		return "o_string(" + name + ");", null, nil
	case pointers == 1:
		cond, ok := stringIf[key]
		if !ok {
			cond, ok = stringIf[name]
		}
		if key == "Session_get_nth_pset.pset_name" { // after its length, which has two names
			cond, ok = "*"+f.Params[3].Name+" > 0", true
		}
		if ok {
			return "o_pointer(" + name + ");", ifElse(cond, "o_string("+name+");"), nil
		}
		return "o_pointer(" + name + ");", null2string(name), nil
	case f.Name == "MPI_Init" || f.Name == "MPI_Init_thread":
		return "o_pointer(" + name + ");", null, nil
	}
	n, err := length(f, p, key)
	if err != nil {
		return "", "", err
	}
	switch {
	case key == "Comm_spawn.argv":
		return fmt.Sprintf("if ((%s) < 0) o_pointer(%s); else o_strings(%s, -1);", n, name, name), null, nil
	case pointers == 2:
		return fmt.Sprintf("if ((%s) < 0) o_pointer(%s); else o_strings(%s, %s);", n, name, name, n), null, nil
	case pointers == 3:
		return fmt.Sprintf("if ((%s) < 0) o_pointer(%s); else o_string_lists((char **const *)%s, %s);", n, name, name, n), null, nil
	}
	return "", "", fmt.Errorf("gen: %s: no rule for parameter %q", f.Name, p.decl)
}

func null2string(name string) string { return "o_string(" + name + ");" }

func printStatus(f *Function, p *Param, key string) (in, out string, err error) {
	operand := "(const MPI_Status *)" + p.Name
	if p.Array != "" || p.Name == "array_of_statuses" {
		n, err := length(f, p, key)
		if err != nil {
			return "", "", err
		}
		return "o_pointer(" + p.Name + ");", unless(f, fmt.Sprintf("o_statuses(%s, %s);", p.Name, n)), nil
	}
	print := "o_status(" + operand + ");"
	switch {
	case p.Const:
		return print, null, nil
	case writtenStatuses[key]:
		return print, print, nil
	}
	return "o_pointer(" + p.Name + ");", unless(f, print), nil
}

func printArray(f *Function, p *Param, key string) (in, out string, err error) {
	n, err := length(f, p, key)
	if err != nil {
		return "", "", err
	}
	name, macro := p.Name, ""
	switch {
	case strings.HasSuffix(p.Array, "[3]"):
		name, macro, n = "(&"+p.Name+"[0][0])", "O_INTS", "3 * ("+n+")"
	case p.Base == "MPI_Request":
		macro = "O_REQUESTS"
	case isInteger(p.Base):
		macro = "O_INTS"
	case isHandle(p.Base):
		macro = "O_HANDLES"
	default:
		return "", "", fmt.Errorf("gen: %s: no rule for parameter %q", f.Name, p.decl)
	}
	print := fmt.Sprintf("%s(%s, %s);", macro, name, n)
	switch {
	case p.Const, inputArrays[key], strings.HasSuffix(p.Array, "[3]"):
		return print, null, nil
	case inoutArrays[key]:
		return print, print, nil
	}
	return "o_pointer(" + p.Name + ");", print, nil
}

// unless makes an output depend on the call's flag, if it has one.
func unless(f *Function, print string) string {
	for _, p := range f.Params {
		if p.Name == "flag" && p.Stars == 1 && p.Base == "int" {
			return ifElse("*flag", print)
		}
	}
	return print
}

func ifElse(cond, print string) string {
	return "if (" + cond + ") { " + print + " } else { o_null(); }"
}

var vectorForm = regexp.MustCompile(`^(i?)(.*?)(_init)?(_c)?$`)

func length(f *Function, p *Param, key string) (string, error) {
	side := ""
	switch p.Name {
	case "sendcounts", "sdispls", "sendtypes":
		side = "send"
	case "recvcounts", "rdispls", "recvtypes":
		side = "recv"
	case "displs":
		side = "recv"
	}
	if side != "" {
		form := vectorForm.FindStringSubmatch(strings.ToLower(strings.TrimPrefix(f.Name, "MPI_")))[2]
		rule, ok := vectorLengths[form]
		if !ok {
			return "", fmt.Errorf("gen: %s: no vector rule for %q", f.Name, form)
		}
		if side == "send" || form == "scatterv" {
			return rule.send, nil
		}
		return rule.recv, nil
	}
	n, ok := lengths[key]
	if !ok {
		n, ok = lengths[p.Name]
	}
	if !ok {
		return "", fmt.Errorf("gen: %s: no length for parameter %q", f.Name, p.decl)
	}
	for _, q := range f.Params {
		if q.Name == "index" || q.Name == "indx" {
			n = strings.ReplaceAll(n, "INDEX", q.Name)
		}
	}
	// What the contents are asked of, which has two names.
	return strings.ReplaceAll(n, "DATATYPE", f.Params[0].Name), nil
}
