package mpi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Constant is a named value of the standard: a predefined handle or a number.
type Constant struct {
	Kinds []Kind // kinds of the parameters that may have this value
	Name  string
	Value int64 // number in the standard ABI

	raws [flavourEnd]raw
	// By flavour: the value in Fortran, if it differs from that in C; nil for nearly all constants.
	fortran *[flavourEnd]raw
	bytes   typeSize
}

// A raw is the value of a constant in one flavour.
type raw struct {
	known  bool
	value  int64
	symbol string // if not "": exported object whose address is the value
}

// ValueIn returns the constant's value in a flavour. It reports false if the flavour has no such constant, or if the
// value is an address that is known only at run time.
func (c *Constant) ValueIn(f Flavour) (int64, bool) {
	r := c.raws[f]
	return r.value, r.known && r.symbol == ""
}

// SymbolIn returns the name of the exported object whose address is the constant's value in a flavour; "" if the
// value is a number or unknown.
func (c *Constant) SymbolIn(f Flavour) string { return c.raws[f].symbol }

// KnownIn reports whether a flavour defines the constant.
func (c *Constant) KnownIn(f Flavour) bool { return c.raws[f].known }

// FortranValueIn returns the constant's value in the Fortran interface of a flavour. For nearly all constants it is
// that of C. It must not be used for handles, as Fortran has INTEGERs that the MPI converts.
func (c *Constant) FortranValueIn(f Flavour) (int64, bool) {
	if c.fortran != nil && c.fortran[f].known {
		return c.fortran[f].value, true
	}
	return c.ValueIn(f)
}

// constants is constants.txt, parsed.
type constants struct {
	list   []Constant
	byKind [kindEnd][]*Constant
}

var constantTable = sync.OnceValue(func() *constants {
	t, err := parseConstants("constants.txt", constantsText)
	if err != nil {
		panic(err) // the table is part of the program, and tests parse it
	}
	return t
})

// Constants returns the named constants of a kind, in the order of constants.txt. The caller must not change them.
func Constants(kind Kind) []*Constant {
	if kind.IsPosix() {
		return fileConstants().byKind[kind]
	}
	return constantTable().byKind[kind]
}

// AllConstants returns all constants of MPI, in the order of constants.txt. The caller must not change them.
func AllConstants() []Constant { return constantTable().list }

// ConstantNamed finds a constant by name.
func ConstantNamed(name string) (*Constant, bool) {
	list := constantTable().list
	for i := range list { // linear search, as a recorder looks up too few names to make a map worthwhile
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

// ConstantName returns the name of a value of the standard ABI, or the names of its bits joined by | if the kind is a
// set of bits. It returns "" for a value without a name.
func ConstantName(kind Kind, value int64) string {
	list := Constants(kind)
	for i := range list {
		if list[i].Value == value {
			return list[i].Name
		}
	}
	if !kind.IsBitSet() || value <= 0 {
		return ""
	}
	var names []string
	for i := range list {
		if v := list[i].Value; v != 0 && value&v == v {
			names = append(names, list[i].Name)
			value &^= v
		}
	}
	if len(names) == 0 {
		return ""
	}
	if value != 0 {
		names = append(names, fmt.Sprintf("%#x", value))
	}
	return strings.Join(names, "|")
}

// parseConstants parses constants.txt. Each traced process does so in MPI_Init, so parsing must not take more memory
// than the constants themselves.
func parseConstants(file, text string) (*constants, error) {
	lines := strings.Count(text, "\n") + 1
	t := &constants{list: make([]Constant, 0, lines)}
	kinds := make([]Kind, 0, 2*lines)
	var room [16]string
	var has [kindEnd]int
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := slices.AppendSeq(room[:0], strings.FieldsSeq(line))
		if len(words) == 0 {
			continue
		}
		first := len(kinds)
		c, err := parseConstant(words, &kinds)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		t.list = append(t.list, c)
		for _, k := range kinds[first:] {
			has[k]++
		}
	}
	for k, n := range has {
		t.byKind[k] = make([]*Constant, 0, n)
	}
	for i := range t.list {
		c := &t.list[i]
		for _, k := range c.Kinds {
			t.byKind[k] = append(t.byKind[k], c)
		}
	}
	return t, nil
}

// parseConstant parses the words of a line of constants.txt. It appends the constant's kinds to a list for all
// constants, to save allocations.
func parseConstant(words []string, kinds *[]Kind) (Constant, error) {
	var c Constant
	const fixed = 2 + int(flavourEnd)
	if len(words) < fixed {
		return c, fmt.Errorf("want kinds, name and the values in %v", Flavours())
	}
	first := len(*kinds)
	for name := range strings.SplitSeq(words[0], ",") {
		kind, ok := KindNamed(name)
		if !ok {
			return c, fmt.Errorf("unknown kind %q", name)
		}
		if slices.Contains((*kinds)[first:], kind) {
			return c, fmt.Errorf("kind %s is named twice", kind)
		}
		*kinds = append(*kinds, kind)
	}
	c.Kinds = slices.Clip((*kinds)[first:])
	c.Name = words[1]
	if !isName(c.Name) {
		return c, fmt.Errorf("%q is no name", c.Name)
	}
	for f := range flavourEnd {
		r, err := parseRaw(words[2+f], c.Kinds[0])
		if err != nil {
			return c, fmt.Errorf("%s: %s value: %w", c.Name, f, err)
		}
		c.raws[f] = r
	}
	if _, ok := c.ValueIn(FlavourABI); !ok {
		return c, fmt.Errorf("%s: needs a number for the standard ABI", c.Name)
	}
	c.Value = c.raws[FlavourABI].value
	if c.Kinds[0].IsHandle() && (c.Value <= 0 || c.Value >= FirstUserHandleID) {
		return c, fmt.Errorf("%s: handle %d is outside 1…%d", c.Name, c.Value, FirstUserHandleID-1)
	}
	c.bytes = typeSize{-1, -1}
	for _, word := range words[fixed:] {
		name, value, ok := strings.Cut(word, "=")
		if n := c.bytes.field(name); n != nil && c.Kinds[0] == KindDatatype {
			size, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				return c, fmt.Errorf("%s: %q is no number of bytes", c.Name, value)
			}
			*n = int64(size)
			continue
		}
		name, value, ok = strings.Cut(word, "-fortran=")
		f, known := FlavourNamed(name)
		if !ok || !known {
			return c, fmt.Errorf("%s: %q is no FLAVOUR-fortran=VALUE", c.Name, word)
		}
		r, err := parseRaw(value, c.Kinds[0])
		if err != nil {
			return c, fmt.Errorf("%s: %s fortran value: %w", c.Name, f, err)
		}
		if c.fortran == nil {
			c.fortran = new([flavourEnd]raw)
		}
		c.fortran[f] = r
	}
	return c, nil
}

func parseRaw(word string, kind Kind) (raw, error) {
	if word == "-" {
		return raw{}, nil
	}
	if kind.IsHandle() && isName(word) {
		return raw{known: true, symbol: word}, nil
	}
	n, err := strconv.ParseInt(word, 0, 64)
	if err != nil {
		return raw{}, fmt.Errorf("%q is no number", word)
	}
	return raw{known: true, value: n}, nil
}

// Numbers of constants in the standard ABI, for readers that use no table.
const (
	AnySource = -1     // MPI_ANY_SOURCE
	AnyTag    = -2     // MPI_ANY_TAG
	ProcNull  = -3     // MPI_PROC_NULL
	MPIRoot   = -4     // MPI_ROOT: the root of a call on an intercommunicator is this process
	Undefined = -32766 // MPI_UNDEFINED

	HandleCommWorld = 0x101
	HandleCommSelf  = 0x102
	HandlePacked    = 0x207 // MPI_PACKED

	OrderC = 12 // MPI_ORDER_C

	LockExclusive = 301

	SeekCurrent = 401 // MPI_SEEK_CUR
	SeekEnd     = 402

	// Bits of the mode in which MPI_File_open opens a file.
	ModeAppend        = 1
	ModeCreate        = 2
	ModeDeleteOnClose = 4
	ModeExclusive     = 8  // MPI_MODE_EXCL
	ModeReadOnly      = 16 // MPI_MODE_RDONLY
	ModeWriteOnly     = 256

	AtFDCWD = 2 // AT_FDCWD

	ErrInStatus = 19 // MPI_ERR_IN_STATUS: the call's outputs are valid, and each status has an error code of its own
	ErrPending  = 18 // MPI_ERR_PENDING
)
