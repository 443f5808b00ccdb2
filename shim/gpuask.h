/* gpuask.h: what the drivers of GPUs know of an address. */
#ifndef SPOOR_GPUASK_H
#define SPOOR_GPUASK_H

#include <stdint.h>

struct sp_gpu_range {
	uint64_t base, size;
	unsigned device; /* 1 + its number */
};

/* The allocation on a device that addr lies in; 0 if there is none. It asks the drivers that
   the process has loaded, and not again for pages that they knew nothing of. */
int sp_gpu_ask(uint64_t addr, struct sp_gpu_range *out);

#endif
