/* Calls every function of ptxi.h with random arguments, one after the other. The process must survive the calls, and
 * the next program must work. calls.awk generates the calls from the header. Only memory that is smaller than its
 * declared size is excluded. */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 2000, CALLS = 12, SECONDS = 100 };

static struct world here = { .lock = PTHREAD_MUTEX_INITIALIZER }, elsewhere = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Calls create objects that remain. */
PTXI_API const char *__lsan_default_options(void);
PTXI_API const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

/* Calls also copy and fill the same memory concurrently, which is a race of this program and not of the library. */
PTXI_API const char *__tsan_default_suppressions(void);
PTXI_API const char *__tsan_default_suppressions(void)
{
    return "race:move_part\nrace:^fill$\n";
}

/* A stream of any context may wait forever for a word. */
static void do_call(const struct call *c)
{
    call_with_arguments(c);
    if (strstr(c->name, "WaitValue") || strstr(c->name, "MemOp")) {
        ptxiCtxInterrupt(NULL);
        ptxiCtxInterrupt((ptxiContext)find(&here, "ptxiContext").value);
        ptxiCtxInterrupt((ptxiContext)find(&elsewhere, "ptxiContext").value);
    }
}

static void do_round(unsigned n)
{
    ptxiContext ctx;
    unsigned counted = 0;

    elsewhere.count = here.count = 0;
    make_world(&elsewhere);
    make_world(&here);
    for (unsigned k = 0; k < CALLS; k++)
        do_call(&calls[below(call_count)]);
    do_call(&calls[n % call_count]);
    OK(run_program(&counted));
    must(counted == COUNTED, "a wrong result");
    ptxiCtxDestroy((ptxiContext)find(&here, "ptxiContext").value);
    ptxiCtxDestroy((ptxiContext)find(&elsewhere, "ptxiContext").value);
    while (ptxiCtxPopCurrent(&ctx) == PTXI_SUCCESS)
        ;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;

    arguments_from(&here, &elsewhere);
    alarm(SECONDS);
    OK(ptxiInit(0));
    for (unsigned n = 0; n < rounds; n++)
        do_round(n);
    printf("%u rounds of %d of %u calls\n", rounds, CALLS + 1, call_count);
    return call_count < 200;
}
