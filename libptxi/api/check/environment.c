/* PTXI_CHECK: programs that do not call ptxi.h. Findings are written when a launch ends, or all at the end of the
 * process, in the format and to the file that other variables name. If a tool has found something, or nothing was
 * checked, a process that would end with status 0 ends with a status of its own. */
#include "api/check/check.h"

#include "api/check/format.h"
#include "api/check/rules.h"

#include "base/file.h"
#include "base/paint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit status of a process that would succeed. */
enum { FOUND_STATUS = 86, UNCHECKED_STATUS = 87 };

static struct {
    _Atomic unsigned tools; /* stored last */
    bool leaks, read;
    _Atomic bool ended;
    ptxiReportFormat format;
    FILE *out;
    bool colour;
    int found_status, unchecked_status;
    pid_t process;
    struct ptxi_rules *rules;
    pthread_mutex_t lock; /* of the list and of the file */
    struct ptxi_findings **lists;
    size_t count, cap;
} environment = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The bits of a word. 0: it is not known. */
static unsigned tool_bits(const char *word, size_t length)
{
    if ((length == 1 && *word == '1') || (length == 3 && !strncmp(word, "all", 3)))
        return PTXI_SANITIZER_ALL;
    for (unsigned k = 0; k < PTXI_TOOLS; k++)
        if (strlen(ptxi_tool_names[k]) == length && !strncmp(ptxi_tool_names[k], word, length))
            return 1u << k;
    return 0;
}

bool ptxi_check_parse_tools(const char *text, unsigned *tools, bool *leaks)
{
    *tools = 0;
    *leaks = false;
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, ",");
        size_t length = (size_t)(end - text);
        bool is_leaks = length == 5 && !strncmp(text, "leaks", length);
        unsigned bits = is_leaks ? PTXI_SANITIZER_MEMORY : tool_bits(text, length);

        if (!bits)
            return false;
        *leaks |= is_leaks;
        *tools |= bits;
    }
    return *tools != 0;
}

/* ---- the end of the process */

static struct ptxi_report_input input(void)
{
    return (struct ptxi_report_input){ .lists = environment.lists, .count = environment.count,
                                       .tools = environment.tools, .colour = environment.colour };
}

static int recorded_status;

static void record_status(int status, void *unused)
{
    (void)unused;
    recorded_status = status;
}

static void write_begin(void)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_report_format_begin(environment.format, &s);
    fwrite(ptxi_str_text(&s), 1, s.len, environment.out);
    ptxi_str_free(&s);
}

static void write_report(const struct ptxi_report_input *in)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    if (ptxi_report_is_streamed(environment.format))
        ptxi_report_format_summary(environment.format, in, &s);
    else
        ptxi_report_format(in, environment.format, &s);
    fwrite(ptxi_str_text(&s), 1, s.len, environment.out);
    fflush(environment.out);
    ptxi_str_free(&s);
}

/* Runs after the functions that the program has given to atexit(). */
static __attribute__((destructor)) void end_process(void)
{
    struct ptxi_check_totals t;
    struct ptxi_report_input in = input();

    if (!environment.tools || environment.process != getpid())
        return;
    pthread_mutex_lock(&environment.lock);
    environment.ended = true;
    write_report(&in);
    ptxi_report_totals(&in, &t);
    pthread_mutex_unlock(&environment.lock);
    int status = ptxi_report_problems(&t) ? environment.found_status : 0;

    if (!status && ptxi_report_is_incomplete(in.tools, &t))
        status = environment.unchecked_status;
    if (status && recorded_status == 0) {
        fflush(NULL);
        _exit(status);
    }
}

/* ---- reading */

static ptxiResult reject(const char *variable, const char *value, const char *expected)
{
    fprintf(stderr, "ptxi: %s: expected %s, got '%s'\n", variable, expected, value);
    return PTXI_ERROR_INVALID_VALUE;
}

/* "a, b and c" */
static void put_tool_names(struct ptxi_str *out)
{
    for (unsigned k = 0; k < PTXI_TOOLS; k++)
        ptxi_str_printf(out, "%s%s", k ? ", " : "", ptxi_tool_names[k]);
    ptxi_str_puts(out, " and leaks");
}

static ptxiResult reject_tools(const char *value)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_str_puts(&s, "'all', or a list of ");
    put_tool_names(&s);
    ptxiResult r = reject("PTXI_CHECK or --check", value, ptxi_str_text(&s));

    ptxi_str_free(&s);
    return r;
}

static ptxiResult reject_format(const char *value)
{
    struct ptxi_str names;

    ptxi_str_init(&names, NULL);
    ptxi_report_put_format_names(&names);
    ptxiResult r = reject("PTXI_CHECK_FORMAT", value, ptxi_str_text(&names));

    ptxi_str_free(&names);
    return r;
}

static ptxiResult read_rules(const char *file)
{
    struct ptxi_str message;
    FILE *f = fopen(file, "r");
    size_t size;
    char *text = f ? ptxi_read_all(f, PTXI_MOST_TEXT, &size) : NULL;
    ptxiResult r = PTXI_SUCCESS;

    if (f)
        fclose(f);
    ptxi_str_init(&message, NULL);
    if (!text) {
        r = reject("PTXI_CHECK_RULES", file, "the name of a file that can be read");
    } else if (!(environment.rules = ptxi_rules_parse(text, &message))) {
        fprintf(stderr, "ptxi: %s: %s\n", file, message.len ? ptxi_str_text(&message) : "out of memory");
        r = PTXI_ERROR_INVALID_VALUE;
    }
    free(text);
    ptxi_str_free(&message);
    return r;
}

static ptxiResult read_status(const char *variable, int *status)
{
    const char *value = getenv(variable);
    char *end;

    if (!value || !*value)
        return PTXI_SUCCESS;
    long n = strtol(value, &end, 10);

    if (*end || n < 0 || n > 255)
        return reject(variable, value, "a number from 0 to 255");
    *status = (int)n;
    return PTXI_SUCCESS;
}

/* %p in the name of a file is the number of the process, so that several write files of their own. */
static FILE *open_file(const char *name)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    for (const char *c = name; *c; c++) {
        if (c[0] == '%' && c[1] == 'p')
            ptxi_str_printf(&s, "%d", (int)getpid()), c++;
        else
            ptxi_str_putc(&s, *c);
    }
    FILE *f = fopen(ptxi_str_text(&s), "w");

    ptxi_str_free(&s);
    return f;
}

static ptxiResult open_output(const char *file)
{
    environment.out = file && *file ? open_file(file) : stderr;
    environment.colour = environment.out == stderr && ptxi_paint_wanted(stderr);
    if (environment.out)
        return PTXI_SUCCESS;
    fprintf(stderr, "ptxi: %s: %s\n", file, strerror(errno));
    return PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxi_check_environment_init(void)
{
    const char *tools = getenv("PTXI_CHECK"), *format = getenv("PTXI_CHECK_FORMAT");
    const char *rules = getenv("PTXI_CHECK_RULES");
    unsigned bits;
    bool leaks;
    ptxiResult r = PTXI_SUCCESS;

    environment.read = true;
    if (!tools || !*tools || !strcmp(tools, "0") || environment.tools)
        return PTXI_SUCCESS;
    if (!ptxi_check_parse_tools(tools, &bits, &leaks))
        return reject_tools(tools);
    if (format && *format && !ptxi_report_parse_format(format, &environment.format))
        return reject_format(format);
    environment.found_status = FOUND_STATUS;
    environment.unchecked_status = UNCHECKED_STATUS;
    if ((r = read_status("PTXI_CHECK_STATUS", &environment.found_status)) ||
        (r = read_status("PTXI_CHECK_UNCHECKED_STATUS", &environment.unchecked_status)) ||
        (rules && *rules && (r = read_rules(rules))) || (r = open_output(getenv("PTXI_CHECK_OUTPUT"))))
        return r;
    environment.process = getpid();
    environment.leaks = leaks;
    on_exit(record_status, NULL);
    write_begin();
    environment.tools = bits;
    return PTXI_SUCCESS;
}

void ptxi_check_environment_init_api(void)
{
    const char *tools = getenv("PTXI_CHECK");
    unsigned bits;
    bool leaks;

    if (!environment.read && tools && ptxi_check_parse_tools(tools, &bits, &leaks) && bits & PTXI_SANITIZER_API)
        (void)ptxi_check_environment_init();
}

bool ptxi_check_environment_is_live(void)
{
    return !environment.ended && environment.process == getpid();
}

unsigned ptxi_check_environment_tools(void)
{
    return environment.tools;
}

bool ptxi_check_environment_leaks(void)
{
    return environment.leaks;
}

struct ptxi_rules *ptxi_check_environment_rules(void)
{
    return environment.rules;
}

/* ---- contexts */

static bool is_listed(const struct ptxi_findings *f)
{
    for (size_t k = 0; k < environment.count; k++)
        if (environment.lists[k] == f)
            return true;
    return false;
}

void ptxi_check_environment_add(struct ptxi_findings *f)
{
    pthread_mutex_lock(&environment.lock);
    if (environment.count == environment.cap) {
        size_t cap = environment.cap ? 2 * environment.cap : 8;
        struct ptxi_findings **lists = realloc(environment.lists, cap * sizeof *lists);

        if (lists) {
            environment.lists = lists;
            environment.cap = cap;
        }
    }
    if (environment.count < environment.cap)
        environment.lists[environment.count++] = f;
    pthread_mutex_unlock(&environment.lock);
}

bool ptxi_check_environment_keep(struct ptxi_findings *f)
{
    pthread_mutex_lock(&environment.lock);
    bool kept = is_listed(f);
    pthread_mutex_unlock(&environment.lock);
    if (kept)
        ptxi_check_environment_write(f);
    return kept;
}

void ptxi_check_environment_write(struct ptxi_findings *f)
{
    struct ptxi_found *found;
    struct ptxi_str s;

    if (!environment.tools || !ptxi_report_is_streamed(environment.format))
        return;
    ptxi_str_init(&s, NULL);
    ptxi_findings_hold(f);
    for (size_t k = 0; (found = ptxi_findings_at(f, k)) != NULL; k++)
        if (ptxi_findings_take(f, found) && found->finding.severity != PTXI_FINDING_BENIGN)
            ptxi_report_format_one(environment.format, found, environment.colour, &s);
    ptxi_findings_release(f);
    if (s.len) {
        pthread_mutex_lock(&environment.lock);
        if (is_listed(f)) {
            fwrite(ptxi_str_text(&s), 1, s.len, environment.out);
            fflush(environment.out);
        }
        pthread_mutex_unlock(&environment.lock);
    }
    ptxi_str_free(&s);
}
