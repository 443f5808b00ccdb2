// cxx.cc: exceptions through frames that have loops, destructors, lambdas, a template, and a coroutine.
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>
#if __cpp_impl_coroutine && __has_include(<coroutine>)
#include <coroutine>
#endif

#include "cxx.h"

struct Leaves {
	~Leaves()
	{
		for (int i = 0; i < 2; i++) { R;
			MPI_Barrier(MPI_COMM_SELF);
		}
	}
};

static void third(int n)
{
	for (int i = 0;; i++) { R;
		if (i == n)
			throw std::runtime_error("enough");
		MPI_Barrier(MPI_COMM_SELF);
	}
}

static void second(int n)
{
	for (int i = 0; i < 4; i++) { R;
		Leaves l;
		if (i == 1)
			third(n);
	}
}

static void first(int n)
{
	for (int v : std::vector<int>{1, 2, n}) { R;
		second(v);
	}
}

#if __cpp_impl_coroutine && __has_include(<coroutine>)
struct Task {
	struct promise_type {
		Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
};

static Task task(int n)
{
	for (int i = 0; i < n; i++) {
		MPI_Barrier(MPI_COMM_SELF);
		co_await std::suspend_always{};
	}
}

static void coroutine()
{
	Task t = task(4);
	while (!t.h.done()) { R;
		t.h.resume();
	}
	t.h.destroy();
}
#else
static void coroutine() {}
#endif

extern "C" void cxx()
{
	int caught = 0;
	for (int i = 0; i < 3; i++) { R;
		try {
			first(i);
		} catch (const std::exception &) {
			caught++;
		}
	}
	std::function<void(int)> f = [](int n) {
		for (int i = 0; i < n; i++) { R;
			MPI_Barrier(MPI_COMM_SELF);
		}
	};
	f(3);
	coroutine();
	std::printf("caught %d, %d\n", caught, twice(5) + other(3));
}
