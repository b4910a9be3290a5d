/* Messages about operands. Each is followed by a note that shows the accepted syntax. */
#include "parse/check_state.h"

#include <stdarg.h>
#include <stdio.h>

const char *const ptxi_check_space_names[] = { "generic", "const", "global", "local", "param", "shared", "tex" };

/* Formats a message in the arena. NULL when memory is short. */
static char *format_message(struct check *k, const char *fmt, va_list ap)
{
    va_list again;
    char *msg;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0 || !(msg = ptxi_arena_alloc(k->p->arena, (size_t)n + 1, 1)))
        return NULL;
    vsnprintf(msg, (size_t)n + 1, fmt, ap);
    return msg;
}

bool ptxi_check_fail(struct check *k, struct ptxi_loc loc, const char *fmt, ...)
{
    va_list ap;
    char *msg;

    if (k->quiet)
        return false;
    va_start(ap, fmt);
    msg = format_message(k, fmt, ap);
    va_end(ap);
    if (!msg)
        return false;
    ptxi_parse_error(k->p, loc, "%s", msg);
    ptxi_form_note_accepted(k->p, k->row);
    return false;
}

bool ptxi_check_fail_operand(struct check *k, struct ptxi_loc loc, const struct ptxi_opspec *s, const char *fmt, ...)
{
    va_list ap;
    char *msg;

    if (k->quiet)
        return false;
    va_start(ap, fmt);
    msg = format_message(k, fmt, ap);
    va_end(ap);
    return msg && ptxi_check_fail(k, loc, "operand %s of '%.*s' %s", s->name, (int)k->opcode->n, k->opcode->s, msg);
}
