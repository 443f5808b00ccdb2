// Functions of C++ whose names are long, and differ in one template argument deep inside.
#include <mpi.h>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <complex>
#include <ostream>
namespace solvers { namespace detail {
template <int Order, class Real> struct basis { Real c[Order + 1]; };
template <class B, class Alloc> struct space { B b; std::vector<double, Alloc> data; };
template <class Space> struct upwind { Space s; };
template <class Space> struct central { Space s; };
} // namespace detail
template <class Flux, class Map>
__attribute__((noinline)) void transport(Flux &f, Map &m, int steps) {
	for (int i = 0; i < steps; i++) {
		double x = i, y;
		MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		m["step"] = y;
	}
}
template <class T> struct matrix {
	std::vector<T> v;
	__attribute__((noinline)) matrix &operator+=(const matrix &o) {
		double x = o.v.size(), y;
		MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		v.push_back(T(y));
		return *this;
	}
	__attribute__((noinline)) T operator()(int i, int j) {
		double y = i + j;
		MPI_Bcast(&y, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		return T(y);
	}
	__attribute__((noinline)) operator std::vector<std::complex<double>>() {
		MPI_Barrier(MPI_COMM_WORLD);
		return {};
	}
	__attribute__((noinline)) bool operator<(const matrix &) {
		MPI_Barrier(MPI_COMM_WORLD);
		return false;
	}
	__attribute__((noinline)) T &operator[](int i) {
		MPI_Barrier(MPI_COMM_WORLD);
		return v[0];
	}
	__attribute__((noinline)) T *operator->() {
		MPI_Barrier(MPI_COMM_WORLD);
		return &v[0];
	}
	__attribute__((noinline)) ~matrix() {
		int done;
		MPI_Finalized(&done);
		if (!done)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	__attribute__((noinline)) matrix() { MPI_Barrier(MPI_COMM_WORLD); }
};
template <class T> __attribute__((noinline)) std::ostream &operator<<(std::ostream &o, matrix<T> &) {
	MPI_Barrier(MPI_COMM_WORLD);
	return o;
}
} // namespace solvers
namespace {
__attribute__((noinline)) void hidden(int n) {
	for (int i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}
namespace nested {
struct thing {
	template <class F> __attribute__((noinline)) void each(F f) {
		for (int i = 0; i < 3; i++)
			f(i);
	}
};
} // namespace nested
} // namespace
__attribute__((noinline, abi_tag("v2"))) std::string tagged(int n) {
	char c = n;
	MPI_Bcast(&c, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
	return std::string(1, c);
}
__attribute__((noinline)) void later(const std::function<void(int, std::map<std::string, double> &)> &f) {
	std::map<std::string, double> m;
	for (int i = 0; i < 4; i++)
		f(i, m);
}
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	using namespace solvers;
	using std::map;
	typedef detail::space<detail::basis<2, double>, std::allocator<double>> S2;
	typedef detail::space<detail::basis<3, double>, std::allocator<double>> S3;
	detail::upwind<S2> u2{};
	detail::upwind<S3> u3{};
	detail::central<S3> c3{};
	map<std::string, double> m;
	map<std::string, double, std::greater<std::string>> g;
	transport(u2, m, 5);
	transport(u3, m, 6);
	transport(c3, g, 7);
	{
		matrix<std::complex<double>> a, b;
		a += b;
		a(1, 2);
		std::vector<std::complex<double>> v = a;
		a < b;
		a[0];
		a.operator->();
		std::ostream none(nullptr);
		none << a;
	}
	hidden(3);
	nested::thing t;
	t.each([&](int i) { double y = i; MPI_Bcast(&y, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); });
	t.each([&](int i) { auto deep = [&](auto z) __attribute__((noinline)) { MPI_Barrier(MPI_COMM_WORLD); }; deep(i); });
	tagged(65);
	later([&](int i, map<std::string, double> &m) { double y = i; MPI_Bcast(&y, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); m["x"] = y; });
	MPI_Finalize();
}
