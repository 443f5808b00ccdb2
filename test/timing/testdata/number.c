/* A plugin that attaches numbers that anyone can reckon up: to each barrier so many that it depends on the
   rank, to each reduction one of either sign, and to each
   exchange, of any thread, one more. */
#include <spoor.h>
#include <string.h>

static const spoor_api *spoor;
static int32_t work, balance, turn;
static int64_t times;

int spoor_init(const spoor_api *api) {
    spoor = api;
    work = api->value("work");
    balance = api->value("balance");
    turn = api->value("turn");
    return api->abi != SPOOR_PLUGIN_ABI;
}

void spoor_post(const spoor_call *call) {
    if (strcmp(call->name, "MPI_Barrier") == 0)
        spoor->attach(call, work, 1000000 * (call->rank + 1) + 997 * times++);
    if (strcmp(call->name, "MPI_Allreduce") == 0)
        spoor->attach(call, balance, (call->rank % 2 ? 1 : -1) * (call->rank + 5) * 12345);
    if (strcmp(call->name, "MPI_Sendrecv") == 0)
        spoor->attach(call, turn, 400 * call->rank + 300);
}
