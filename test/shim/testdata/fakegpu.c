/* Stands in for libcudart and libamdhip64: "device" memory is the host's, taken
   straight from mmap so that it isn't a heap block. */
#include <stddef.h>
#include <sys/mman.h>

static int device;

static int take(void **p, size_t n)
{
	*p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *p == MAP_FAILED ? 2 : 0;
}

int cudaSetDevice(int d) { device = d; return 0; }
int cudaGetDevice(int *d) { *d = device; return 0; }
int cudaMalloc(void **p, size_t n) { return take(p, n); }
int cudaMallocManaged(void **p, size_t n, unsigned f) { return take(p, n + 0 * f); }

struct pitched { void *p; size_t pitch, x, y; };
struct extent { size_t w, h, d; };
int cudaMalloc3D(struct pitched *out, struct extent n)
{
	out->pitch = 512;
	return take(&out->p, out->pitch * n.h * n.d);
}

int cudaFree(void *p) { return p == NULL; }
int hipGetDevice(int *d) { *d = 0; return 0; }
int hipMalloc(void **p, size_t n) { return take(p, n); }
int hipFree(void *p) { return p == NULL; }
