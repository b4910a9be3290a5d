#include "api/ipc/shared_event.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STATE_AT = 4096, /* in the file, after the entry of the name */
    RECORDS = PTXI_SHARED_EVENT_PENDING,
    WAIT_NS = 10 * 1000 * 1000
};

/* The place of records number, number - RECORDS, number - 2 * RECORDS ... It changes hands when its record is reached
 * or the record's process has ended. */
struct record {
    _Atomic uint64_t number, reached; /* the latest record with this place; the latest one that is reached */
    _Atomic uint64_t start;           /* of its process */
    _Atomic int32_t process;
};

/* In the file. Other processes may write anything there, so nothing depends on it but the end of waits. */
struct state {
    _Atomic uint64_t taken, latest;
    _Atomic uint32_t changes; /* grows when a record is reached; waiting threads sleep on it */
    struct record records[RECORDS];
};

struct ptxi_shared_event {
    struct state *state;
    struct ptxi_shared_name self; /* of this process; also of the event, if the process has made it and secret is set */
    int fd;                       /* -1: another process has made it */
};

static struct state *map_state(int fd)
{
    void *p = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, STATE_AT);

    return p == MAP_FAILED ? NULL : p;
}

/* Takes the descriptor. NULL: no memory. */
static struct ptxi_shared_event *make_event(int fd)
{
    struct ptxi_shared_event *e = calloc(1, sizeof *e);

    if (e)
        e->fd = fd;
    if (e && (e->state = map_state(fd)) && ptxi_shared_name_set_process(&e->self))
        return e;
    if (e)
        ptxi_shared_event_free(e);
    else
        close(fd);
    return NULL;
}

struct ptxi_shared_event *ptxi_shared_event_create(void)
{
    int fd = ptxi_shared_file_create(STATE_AT + sizeof(struct state));

    return fd < 0 ? NULL : make_event(fd);
}

void ptxi_shared_event_free(struct ptxi_shared_event *e)
{
    if (e->state)
        munmap(e->state, sizeof *e->state);
    if (e->fd >= 0)
        close(e->fd);
    free(e);
}

ptxiResult ptxi_shared_event_name(struct ptxi_shared_event *e, struct ptxi_shared_name *name)
{
    if (e->fd < 0)
        return PTXI_ERROR_INVALID_CONTEXT;
    if (!e->self.part.secret) {
        e->self.part = (struct ptxi_shared_part){ .kind = PTXI_SHARED_EVENT, .offset = STATE_AT,
                                                  .size = sizeof(struct state) };
        if (!ptxi_shared_name_publish(&e->self, e->fd)) {
            e->self.part.secret = 0;
            return PTXI_ERROR_OPERATING_SYSTEM;
        }
    }
    *name = e->self;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_shared_event_open(const struct ptxi_shared_name *name, struct ptxi_shared_event **e)
{
    int fd;
    ptxiResult r = ptxi_shared_name_open(name, PTXI_SHARED_EVENT, &fd);

    if (r)
        return r;
    if (name->part.offset != STATE_AT || name->part.size != sizeof(struct state)) {
        close(fd);
        return PTXI_ERROR_INVALID_HANDLE;
    }
    *e = make_event(fd);
    if (!*e)
        return PTXI_ERROR_OUT_OF_MEMORY;
    close(fd); /* the mapping keeps the file */
    (*e)->fd = -1;
    return PTXI_SUCCESS;
}

/* ---- records */

static void raise_to(_Atomic uint64_t *at, uint64_t value)
{
    uint64_t before = atomic_load(at);

    while (before < value && !atomic_compare_exchange_weak(at, &before, value))
        ;
}


void ptxi_shared_event_set_latest(struct ptxi_shared_event *e, uint64_t number)
{
    raise_to(&e->state->latest, number);
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

void ptxi_shared_event_reach(struct ptxi_shared_event *e, uint64_t number)
{
    raise_to(&e->state->records[number % RECORDS].reached, number);
    atomic_fetch_add(&e->state->changes, 1);
    futex(&e->state->changes, FUTEX_WAKE, INT_MAX, NULL);
}

uint64_t ptxi_shared_event_latest(const struct ptxi_shared_event *e)
{
    return atomic_load(&e->state->latest);
}

static bool is_reached(const struct record *r, uint64_t number)
{
    return atomic_load(&r->reached) >= number || atomic_load(&r->number) > number;
}

static ptxiResult query(const struct record *r, uint64_t number)
{
    if (is_reached(r, number))
        return PTXI_SUCCESS;
    if (ptxi_process_start(atomic_load(&r->process)) == atomic_load(&r->start))
        return PTXI_ERROR_NOT_READY;
    /* its last act may have been to reach the record */
    return is_reached(r, number) ? PTXI_SUCCESS : PTXI_ERROR_LAUNCH_FAILED;
}

/* Calls ask for a record after ptxi_shared_event_set_latest() only, so they do not see its place without process. */
uint64_t ptxi_shared_event_take_number(struct ptxi_shared_event *e)
{
    for (;;) {
        uint64_t number = atomic_fetch_add(&e->state->taken, 1) + 1;
        struct record *r = &e->state->records[number % RECORDS];
        uint64_t before = atomic_load(&r->number);

        if (before < number && query(r, before) == PTXI_ERROR_NOT_READY)
            return 0;
        if (before < number && atomic_compare_exchange_strong(&r->number, &before, number)) {
            atomic_store(&r->process, e->self.process);
            atomic_store(&r->start, e->self.start);
            return number;
        }
    }
}

ptxiResult ptxi_shared_event_query(const struct ptxi_shared_event *e, uint64_t number)
{
    return query(&e->state->records[number % RECORDS], number);
}

ptxiResult ptxi_shared_event_wait_briefly(struct ptxi_shared_event *e, uint64_t number)
{
    const struct record *r = &e->state->records[number % RECORDS];
    uint32_t changes = atomic_load(&e->state->changes);

    if (is_reached(r, number))
        return PTXI_SUCCESS;
    futex(&e->state->changes, FUTEX_WAIT, changes, &(struct timespec){ 0, WAIT_NS });
    return ptxi_shared_event_query(e, number);
}
