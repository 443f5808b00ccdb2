// Places in C++.
extern "C" {
#include "sites.h"
}

namespace grid {

template <typename T> class Field {
public:
	__attribute__((noinline)) void update(T by)
	{
		MARK("grid::Field<double>::update");
		value += by;
	}

private:
	T value = 0;
};

__attribute__((noinline)) static void step(int n)
{
	auto work = [&] { MARK("operator()"); n++; };
	work();
	MARK("grid::step");
}

} // namespace grid

int main(int argc, char **)
{
	grid::Field<double> f;
	f.update(argc);
	grid::step(argc);
	maps();
	return 0;
}
