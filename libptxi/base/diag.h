/* Diagnostics about the text of a module: collected while the text is read, and then formatted like gcc's.
 *
 *     struct ptxi_diag d;
 *     ptxi_diag_init(&d, &arena);
 *     ptxi_diag_add(&d, PTXI_DIAG_ERROR, loc, "'%s' has no modifier '%s'", ...);
 *     ptxi_diag_add(&d, PTXI_DIAG_NOTE, PTXI_LOC_NONE, "accepted: %s", ...);      belongs to the error before it
 *     ptxi_diag_render(&d, text, text_len, "gemm.ptx", &str);
 *
 * Ownership: messages are in the arena. Errors: if memory is exhausted, a message is lost and the flag `oom` is set. */
#ifndef PTXI_BASE_DIAG_H
#define PTXI_BASE_DIAG_H

#include "base/arena.h"
#include "base/str.h"

struct ptxi_loc {
    uint32_t line, col; /* from 1, in bytes; line 0 means that there is no location */
    uint32_t len;       /* number of bytes to underline on that line; 0 and 1 show only a caret */
};

#define PTXI_LOC_NONE ((struct ptxi_loc){ 0, 0, 0 })

enum ptxi_diag_severity { PTXI_DIAG_ERROR, PTXI_DIAG_WARNING, PTXI_DIAG_NOTE };

enum { PTXI_DIAG_MAX = 100 }; /* limit for the errors, and for the warnings, that are kept for one module */

struct ptxi_diag_entry {
    struct ptxi_diag_entry *next;
    enum ptxi_diag_severity severity;
    struct ptxi_loc loc;
    const char *msg; /* in the arena */
};

struct ptxi_diag {
    struct ptxi_diag_entry *first, *last; /* in the order in which they were added */
    struct ptxi_arena *arena;
    uint32_t errors, warnings; /* total numbers, including those that were not kept */
    bool oom;                  /* a message was lost because memory was exhausted */
    bool dropping;             /* the last error or warning was over the limit, so its notes are dropped, too */
};

/* The arena must outlive the diagnostics. */
void ptxi_diag_init(struct ptxi_diag *d, struct ptxi_arena *a);

void ptxi_diag_add(struct ptxi_diag *d, enum ptxi_diag_severity severity, struct ptxi_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* True if further errors would only be counted, so that a parser can stop. */
static inline bool ptxi_diag_full(const struct ptxi_diag *d)
{
    return d->errors >= PTXI_DIAG_MAX;
}

/* Appends all messages to `out`. `text` is the text of the module; if it is NULL, no lines are quoted. `file` is the
 * name for messages. */
void ptxi_diag_render(const struct ptxi_diag *d, const char *text, size_t text_len, const char *file,
                      struct ptxi_str *out);

const char *ptxi_diag_severity_name(enum ptxi_diag_severity s);

/* A text that messages refer to. A linked module has several texts. Line numbers continue from one text to the next. */
struct ptxi_text {
    const char *name; /* file name for messages */
    const char *s;
    size_t size;
    uint32_t first_line; /* number of its first line; 1 for the first text */
};

struct ptxi_texts {
    const struct ptxi_text *at; /* sorted by first_line */
    uint32_t count;
};

/* Returns the text that contains a location, and converts `loc` to a location in that text. */
const struct ptxi_text *ptxi_text_at(const struct ptxi_texts *texts, struct ptxi_loc *loc);

/* Appends a line of the text, without its end. Control characters are replaced. False: there is no such line. */
bool ptxi_diag_put_line(struct ptxi_str *out, const struct ptxi_text *text, uint32_t line);

/* Appends one message "file:line:col: label: msg" with the line of text and a caret. Run-time reports use it with
 * labels of their own ("trap"). Without a line in loc, the message is "label: msg". */
void ptxi_diag_render_one(struct ptxi_str *out, const char *text, size_t text_len, const char *file,
                          struct ptxi_loc loc, const char *label, const char *msg);

#endif
