package symbolise

import "testing"

func TestThreadFunction(t *testing.T) {
	const run = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<"
	for _, x := range []struct {
		frames []string
		want   string
	}{
		{nil, "app+0x12"},
		{[]string{"work"}, "work"},
		{[]string{"inlined", "work"}, "inlined"},
		{[]string{"std::__invoke_impl<void>", run + "void (Mover::*)(), Mover*> > >::_M_run"}, "void (Mover::*)(), Mover*"},
		{[]string{run + "void (*)(std::vector<int, std::allocator<int> >&), int> > >::_M_run"}, "void (*)(std::vector<int, std::allocator<int> >&), int"},
		{[]string{run + "main::{lambda()#1}> > >::_M_run"}, "main::{lambda()#1}"},
	} {
		p := Place{Module: "/bin/app", Offset: 0x12}
		for _, f := range x.frames {
			p.Frames = append(p.Frames, Frame{Function: f})
		}
		if got := p.ThreadFunction(); got != x.want {
			t.Errorf("%q: %s, want %s", x.frames, got, x.want)
		}
	}
}
