#include "api/error/failure.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct ptxi_failure {
    _Atomic unsigned refs;
    ptxiReport report;
    char strings[];
};

enum { STRINGS = 5 };

/* Lists the string members of a report, so that a loop can copy them. */
static void string_members(ptxiReport *r, const char **member[STRINGS])
{
    member[0] = &r->text;
    member[1] = &r->kernel;
    member[2] = &r->function;
    member[3] = &r->ptxFile;
    member[4] = &r->sourceFile;
}

struct ptxi_failure *ptxi_failure_create(const ptxiReport *report)
{
    ptxiReport copy = *report;
    const char **member[STRINGS];
    size_t bytes = 0;

    string_members(&copy, member);
    for (int i = 0; i < STRINGS; i++)
        bytes += *member[i] ? strlen(*member[i]) + 1 : 0;
    struct ptxi_failure *f = malloc(sizeof *f + bytes);

    if (!f)
        return NULL;
    char *p = f->strings;

    for (int i = 0; i < STRINGS; i++)
        if (*member[i]) {
            size_t n = strlen(*member[i]) + 1;

            *member[i] = memcpy(p, *member[i], n);
            p += n;
        }
    copy.size = sizeof copy;
    f->report = copy;
    f->refs = 1;
    return f;
}

struct ptxi_failure *ptxi_failure_ref(struct ptxi_failure *f)
{
    if (f)
        atomic_fetch_add(&f->refs, 1);
    return f;
}

void ptxi_failure_unref(struct ptxi_failure *f)
{
    if (!f)
        return;
    unsigned before = atomic_fetch_sub(&f->refs, 1);

    assert(before);
    if (before == 1)
        free(f);
}

const ptxiReport *ptxi_failure_report(const struct ptxi_failure *f)
{
    return &f->report;
}
