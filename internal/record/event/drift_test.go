package event

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// The constants of shim/record.h and ours.
var constants = map[string]uint64{
	"SP_RING_MAGIC": RingMagic, "SP_RING_VERSION": RingVersion, "SP_RING_PAGE": HeaderPageSize,
	"SP_ENTER": uint64(KindEnter), "SP_LEAVE": uint64(KindLeave), "SP_SKIP": uint64(KindSkip), "SP_SEGMENT": uint64(KindSegment),
	"SP_FREED": uint64(KindSegmentFreed), "SP_SWITCH": uint64(KindTracingSwitch), "SP_LOST": uint64(KindRecordsLost), "SP_STACK": uint64(KindStack), "SP_NAME": uint64(KindAttachedValueName), "SP_VALUES": uint64(KindAttachedValues), "SP_LEFT": uint64(KindLeftByJump), "SP_SOURCE": uint64(KindSourceLine), "SP_PHASE": uint64(KindPhaseStartSite), "SP_THREAD": uint64(KindThreadStart), "SP_DELAY": uint64(KindSchedulingDelay),
	"SP_STACK_KEY(3, 5)": StackKey(3, 5), "SP_SOURCE_KEY(3, 5)": SourceLineKey(3, 5), "SP_PHASE_KEY(3, 5)": PhaseKey(3, 5), "SP_TURN_KEY(SP_STACK_KEY(3, 5), 2)": TurnKey(StackKey(3, 5), 2), "SP_TURN_UNKNOWN": TurnUnknown,
	"SP_FORTRAN_FLAG": FlagFortran, "SP_MUTED_FLAG": FlagTracingOff, "SP_RC_FLAG": FlagReturnCode, "SP_NOOUT_FLAG": FlagNoOutputs,
	"SP_RAW": AddressClassRaw, "SP_SPECIAL": AddressClassSpecial, "SP_HEAP": AddressClassHeap, "SP_DEVICE": AddressClassDevice, "SP_MPIMEM": AddressClassMPIMem,
	"SP_BOTTOM": AddressBottom, "SP_IN_PLACE": AddressInPlace, "SP_BUFFER_AUTOMATIC": AddressBufferAutomatic,
	"SP_LEN_NULL": minus(ArrayLenNull), "SP_LEN_UNWEIGHTED": minus(ArrayLenUnweighted), "SP_LEN_WEIGHTS_EMPTY": minus(ArrayLenWeightsEmpty),
	"SP_LEN_ABSENT": minus(ArrayLenNotSignificant), "SP_LEN_IGNORED": minus(ArrayLenIgnored),
	"SP_STATUS_ABSENT": StatusFormAbsent, "SP_STATUS_FILLED": StatusFormFilled, "SP_STATUS_IGNORED": StatusFormIgnored,
	"SP_STATUS_EMPTY": StatusFormEmpty, "SP_STATUS_WORDS": StatusWords,
	"sizeof(struct sp_ring)": HeaderSize, "offsetof(struct sp_ring, version)": OffVersion, "offsetof(struct sp_ring, thread)": OffThread,
	"offsetof(struct sp_ring, capacity)": OffCapacity, "offsetof(struct sp_ring, head)": OffHead,
	"offsetof(struct sp_ring, drained)": OffDrained, "offsetof(struct sp_ring, kept)": OffReleased,
	"offsetof(struct sp_ring, stack_lo)": OffStackLo, "offsetof(struct sp_ring, stack_hi)": OffStackHi,
	"offsetof(struct sp_ring, stack_ref)": OffStackRef, "offsetof(struct sp_ring, tid)": OffTID,
	"offsetof(struct sp_ring, start_ticks)": OffStartTicks, "offsetof(struct sp_ring, wanted)": OffSpaceWanted,
	"SP_WORD0(3, 5, 2, 1)":                 Word0(3, 5, 2, 1),
	"SP_WORD0(0x80000001, 0xffff, 7, 255)": Word0(0x80000001, 0xffff, 7, 255),
}

func minus(v int64) uint64 { return uint64(v) }

// The C side and the Go side of a ring are the same.
func TestDrift(t *testing.T) {
	cc := need.Command(t, "cc")
	var src strings.Builder
	src.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include \"record.h\"\nint main(void)\n{\n")
	for name := range constants {
		fmt.Fprintf(&src, "\tprintf(\"%%llu %s\\n\", (unsigned long long)(%s));\n", name, name)
	}
	src.WriteString("\treturn 0;\n}\n")
	dir := t.TempDir()
	file, program := filepath.Join(dir, "drift.c"), filepath.Join(dir, "drift")
	if err := os.WriteFile(file, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-I../../../shim", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(constants) {
		t.Fatalf("%d lines, want %d", len(lines), len(constants))
	}
	for _, line := range lines {
		value, name, _ := strings.Cut(line, " ")
		if want := fmt.Sprint(constants[name]); value != want {
			t.Errorf("%s is %s in C, %s in Go", name, value, want)
		}
	}
}
