/* Messages about a module's text, collected while it is read and rendered in the manner of gcc.
 *
 *     struct ptxi_diag d;
 *     ptxi_diag_init(&d, &arena);
 *     ptxi_diag_add(&d, PTXI_DIAG_ERROR, loc, "'%s' has no modifier '%s'", ...);
 *     ptxi_diag_add(&d, PTXI_DIAG_NOTE, PTXI_LOC_NONE, "accepted: %s", ...);      belongs to the error before it
 *     ptxi_diag_render(&d, text, text_len, "gemm.ptx", &str); */
#ifndef PTXI_BASE_DIAG_H
#define PTXI_BASE_DIAG_H

#include "base/arena.h"
#include "base/str.h"

struct ptxi_loc {
    uint32_t line, col; /* from 1, in bytes; line 0: no place in the text */
    uint32_t len;       /* bytes to underline on that line; 0 and 1 show a caret alone */
};

#define PTXI_LOC_NONE ((struct ptxi_loc){ 0, 0, 0 })

enum ptxi_diag_severity { PTXI_DIAG_ERROR, PTXI_DIAG_WARNING, PTXI_DIAG_NOTE };

enum { PTXI_DIAG_MAX = 100 }; /* errors kept, and warnings kept, of one module */

struct ptxi_diag_entry {
    struct ptxi_diag_entry *next;
    enum ptxi_diag_severity severity;
    struct ptxi_loc loc;
    const char *msg; /* in the arena */
};

struct ptxi_diag {
    struct ptxi_diag_entry *first, *last; /* in order of arrival */
    struct ptxi_arena *arena;
    uint32_t errors, warnings; /* all there were, kept or not */
    bool oom;                  /* a message was lost because memory was short */
    bool dropping;             /* the last error or warning was over the limit; its notes go too */
};

void ptxi_diag_init(struct ptxi_diag *d, struct ptxi_arena *a);

void ptxi_diag_add(struct ptxi_diag *d, enum ptxi_diag_severity severity, struct ptxi_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* True once further errors would only be counted: time to stop reading. */
static inline bool ptxi_diag_full(const struct ptxi_diag *d)
{
    return d->errors >= PTXI_DIAG_MAX;
}

/* Append all messages to `out`. `text` is the module's text (NULL: no lines are quoted), `file` its name. */
void ptxi_diag_render(const struct ptxi_diag *d, const char *text, size_t text_len, const char *file,
                      struct ptxi_str *out);

const char *ptxi_diag_severity_name(enum ptxi_diag_severity s);

/* A text that messages are about. A module linked of several has several, and lines that count on from one to the next. */
struct ptxi_text {
    const char *name; /* of the file, for people */
    const char *s;
    size_t size;
    uint32_t first_line; /* number of its first line; 1 for the first text */
};

struct ptxi_texts {
    const struct ptxi_text *at; /* by first_line */
    uint32_t count;
};

/* The text that a place is in; `loc` becomes a place in that text alone. */
const struct ptxi_text *ptxi_text_at(const struct ptxi_texts *texts, struct ptxi_loc *loc);

/* One message "file:line:col: label: msg" with its line of text and caret. Run-time reports use it with labels of
 * their own ("trap"). A loc without line gives "label: msg". */
void ptxi_diag_render_one(struct ptxi_str *out, const char *text, size_t text_len, const char *file,
                          struct ptxi_loc loc, const char *label, const char *msg);

#endif
