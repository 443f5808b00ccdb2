package show

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const longString = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

func TestNames(t *testing.T) {
	transport := func(order string) string {
		return "void solvers::transport<solvers::detail::upwind<solvers::detail::space<solvers::detail::basis<" + order +
			", double>, std::allocator<double> > >, std::map<" + longString + ", double> >"
	}
	central := strings.ReplaceAll(transport("3"), "upwind", "central")
	together := []string{
		transport("2"), transport("3"), central, "boost::mpi::gather<" + longString + " >", "a::solve", "b::solve",
		"thing::each<main::{lambda(int)#1}>", "thing::each<main::{lambda(int)#2}>", "f<a::X>", "f<b::X>", "g<int>", "g<int, double>",
	}
	for _, x := range []struct {
		name  string
		width int
		want  string
	}{
		{"boost::mpi::gather<" + longString + " >", 40, "boost::mpi::gather<std::string>"},
		{"boost::mpi::gather<" + longString + " >", 25, "boost::mpi::gather<…>"},
		{"boost::mpi::gather<" + longString + " >", 20, "…mpi::gather<…>"},
		{"boost::mpi::gather<" + longString + " >", 11, "…gather<…>"},
		{"boost::mpi::gather<" + longString + " >", 6, "gather"},
		{"boost::mpi::gather<" + longString + " >", 1, "gather"},
		{"boost::mpi::gather<std::map<int, std::vector<double> > >", 45, "boost::mpi::gather<std::map<…>>"},
		{transport("2"), 80, "void solvers::transport<upwind<space<basis<2, …>, …>>, …>"},
		{transport("2"), 50, "void solvers::transport<upwind<…basis<2, …>…>, …>"},
		{central, 50, "void solvers::transport<central<…>, …>"},
		{transport("2"), 30, "…transport<upwind<…2…>, …>"},
		{transport("3"), 30, "…transport<upwind<…3…>, …>"},
		{transport("3"), 20, "…transport<…3…>"},
		{transport("3"), 14, "…transport<…>"},
		{transport("3"), 12, "…transport"},
		{transport("3"), 9, "transport"},
		{"thing::each<main::{lambda(int)#1}>", 30, "thing::each<{lambda#1}>"},
		{"thing::each<main::{lambda(int)#1}>", 20, "…each<{lambda#1}>"},
		{"f<a::X>", 6, "f<…>"},
		{"g<int, double>", 13, "g<…, double>"},
		{"solvers::matrix<std::complex<double> >::operator+=", 40, "solvers::matrix<…>::operator+="},
		{"solvers::matrix<std::complex<double> >::operator()", 20, "…operator()"},
		{"solvers::matrix<double>::operator<", 12, "…operator<"},
		{"solvers::matrix<double>::operator->", 12, "…operator->"},
		{"solvers::operator<< <std::complex<double> >", 30, "solvers::operator<< <…>"},
		{"solvers::operator<< <std::complex<double> >", 17, "…operator<< <…>"},
		{"solvers::operator-><int>", 10, "operator->"},
		{"solvers::matrix<std::complex<double> >::operator std::vector<double, std::allocator<double> >", 32, "…operator std::vector<…>"},
		{"(anonymous namespace)::nested::thing::each<int>", 30, "…nested::thing::each<…>"},
		{"tagged[abi:cxx11][abi:v2]", 3, "tagged[abi:cxx11][abi:v2]"},
		{"a::tagged[abi:v2]<std::vector<int> >", 19, "…tagged[abi:v2]<…>"},
		{"main::{lambda(int)#2}::operator()(int) const::{lambda(auto:1)#1}::operator()<int>", 60, "main::{lambda#2}::operator()::{lambda#1}::operator()<…>"},
		{"std::_Function_handler<void (int, std::map<int, double>&), main::{lambda(int)#3}>::_M_invoke", 65, "std::_Function_handler<void (…), main::{lambda#3}>::_M_invoke"},
		{"std::_Function_handler<void (int, std::map<int, double>&), main::{lambda(int)#3}>::_M_invoke", 40, "std::_Function_handler<…>::_M_invoke"},
		{"<module>", 3, "<module>"},
		{"work.<locals>.<listcomp>", 3, "work.<locals>.<listcomp>"},
		{"github.com/a/b.(*solver).step", 3, "github.com/a/b.(*solver).step"},
		{"<core::option::Option<T> as core::fmt::Debug>::fmt", 5, "…fmt"},
		{"f<(a>b)>::g", 5, "…g"},
		{"a::cut<b::c<d, e", 8, "…cut<…>"},
		{strings.Repeat("deep<", 100), 3, strings.Repeat("deep<", 100)},
		{"exchange", 3, "exchange"},
		{"halo::exchange", 10, "…exchange"},
	} {
		got := NewNameShortener(together).FitWidth(x.name, x.width)
		if got != x.want {
			t.Errorf("%s in %d columns:\n     %s\nwant %s", x.name, x.width, got, x.want)
		}
	}
}

func TestPlace(t *testing.T) {
	gather := "boost::mpi::gather<std::map<int, std::vector<double> > >"
	place := gather + " gather.hpp:71 < " + gather + " gather.hpp:115 < main boost.cc:16"
	for _, x := range []struct {
		place string
		width int
		want  string
	}{
		{place, 200, place},
		{place, 100, "boost::mpi::gather<…> gather.hpp:71 < boost::mpi::gather<…> gather.hpp:115 < main boost.cc:16"},
		{place, 80, "boost::mpi::gather<…> gather.hpp:71 < boost::mpi::gather<…> gather.hpp:115 …"},
		{place, 60, "boost::mpi::gather<…> gather.hpp:71 …"},
		{place, 30, "…gather<…> gather.hpp:71 …"},
		{place, 15, "gather.hpp:71"},
		{"boost::mpi::environment::environment+0x3b (libboost_mpi.so.1.74.0) < main boost.cc:10", 50, "boost::mpi::environment::environment+0x3b …"},
		{"boost::mpi::environment::environment+0x3b (libboost_mpi.so.1.74.0)", 20, "…environment+0x3b"},
		{"exchange halo.c:40 (solver)", 18, "exchange halo.c:40"},
		{"main transport.cc:106 +0xbd0c", 23, "transport.cc:106 +0xbd0c"},
	} {
		if got := NewNameShortener(nil).ShortenPlace(x.place, x.width); got != x.want {
			t.Errorf("%s in %d columns:\n     %s\nwant %s", x.place, x.width, got, x.want)
		}
	}
}

func TestNamed(t *testing.T) {
	place := "boost::mpi::all_reduce<int> all_reduce.hpp:36 < main a.cc:3"
	for width, want := range map[int]string{60: place, 30: "all_reduce all_reduce.hpp:36 …", 20: "all_reduce all_reduce.hpp:36"} {
		if got := NewNameShortener(nil).ShortenToFunction(place, width); got != want {
			t.Errorf("%d: %s", width, got)
		}
	}
}

func TestLine(t *testing.T) {
	long := func(f string) string {
		return f + "<std::vector<double, std::allocator<double> >, std::map<int, double> > a.cc:7"
	}
	line := "ranks wait for imbalance in MPI_Allreduce at " + long("one") + ", before MPI_Bcast at " + long("two")
	got := ShortenPlaces(line, long("one"), long("two"), long("one"))
	if want := "ranks wait for imbalance in MPI_Allreduce at one<…> a.cc:7, before MPI_Bcast at two<…> a.cc:7"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if short := "MPI_Send at main a.c:3"; ShortenPlaces(short, "main a.c:3") != short {
		t.Error("a line with room was shortened")
	}
}

// Whatever the name, forms get shorter, and no brackets make the parser fail.
func FuzzNames(f *testing.F) {
	f.Add("a::b<c<d>, e(f)>::operator()<g>", "a::b<c<h>, e(f)>::operator()<g>")
	f.Add("operator<<", "operator< <x>::y")
	f.Fuzz(func(t *testing.T, a, b string) {
		n := NewNameShortener([]string{a, b})
		for _, x := range []string{a, b} {
			last := 1 << 30
			for _, form := range n.ShorterForms(x) {
				if length := utf8.RuneCountInString(form); length >= last {
					t.Errorf("%q: %q", x, n.ShorterForms(x))
				} else {
					last = length
				}
			}
		}
	})
}

// A line of much text has room for file and line alone.
func TestLineOfMuchText(t *testing.T) {
	const place = "solvers::transport<solvers::upwind<2, double>, std::allocator<double> >() templates.cc:21"
	const text = "5.9 %      rank 0 waits for rank 1 in MPI_Allreduce at " + place + "; rank 1 is in MPI for 56.0 % of that time"
	if got := ShortenPlaces(text, place); utf8.RuneCountInString(got) > MaxLineWidth || !strings.Contains(got, " templates.cc:21;") {
		t.Errorf("%d columns: %s", utf8.RuneCountInString(got), got)
	}
}
