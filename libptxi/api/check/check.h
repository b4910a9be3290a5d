/* Sanitizers: their settings, findings and reports. */
#ifndef PTXI_API_CHECK_CHECK_H
#define PTXI_API_CHECK_CHECK_H

#include "api/context/context.h"
#include "exec/finding/finding.h"
#include "exec/engine/grid.h"

struct ptxi_rows;

/* ---- place.c */

/* Resolves an instruction of a module's code. For ptxi_findings_create(). */
void ptxi_check_resolve(const struct ptxi_code *code, uint32_t at, struct ptxi_found_site *site);

/* Adds faults of one kind and place, if it is one that a tool in `tools` finds (bits of ptxiSanitizer). */
void ptxi_check_add_fault(struct ptxi_findings *f, unsigned tools, const struct ptxi_fault_report *fault,
                          uint64_t count, const char *kernel, uint64_t launch);

/* ---- sanitizer.c */

/* Initialises the sanitizers of a new context; frees those of a destroyed one. */
void ptxi_check_open_context(ptxiContext ctx);
void ptxi_check_close_context(ptxiContext ctx);
/* Memory that is allocated now, at the end of the context, is a leak. */
void ptxi_check_find_leaks(ptxiContext ctx);

/* Sets the tools and the collection of a grid. Its number is known. Rules may exclude it. */
void ptxi_check_begin_launch(ptxiContext ctx, struct ptxi_grid *g);
/* The grid has ended. Adds its failure, and counts what was checked and what was not. */
void ptxi_check_end_launch(const struct ptxi_grid *g, uint64_t accesses, uint64_t unchecked);

/* A collection with these rules, or NULL. */
struct ptxi_findings *ptxi_check_create_findings(struct ptxi_rules *rules);
/* The collection of a context, or NULL. It lives as long as the context, which the call holds. `tools` may be NULL. */
struct ptxi_findings *ptxi_check_findings_of(ptxiContext ctx, unsigned *tools);

/* Whether the tool `api` is or has been on in a context. */
extern _Atomic bool ptxi_check_has_api;

/* The checker of the context. The first use creates it. NULL: memory is short. */
struct ptxi_checker *ptxi_check_checker(ptxiContext ctx);

/* ---- copies.c */

/* The item that the thread runs moves rows. */
void ptxi_check_rows(const struct ptxi_rows *rows);
/* The program's own code accesses memory now. */
void ptxi_check_host(ptxiContext ctx, uint64_t address, size_t size, bool write);
/* Memory is allocated in the order of the stream. */
void ptxi_check_stream_allocation(struct ptxiStream_st *s, uint64_t address, size_t size);

/* ---- environment.c: PTXI_CHECK */

/* Reads the environment. PTXI_ERROR_INVALID_VALUE for words that are not known, after a message on stderr. Under
 * state.lock. */
ptxiResult ptxi_check_environment_init(void);
/* Reads the environment if nothing has read it, and if the tool `api` is on there. Under state.lock. */
void ptxi_check_environment_init_api(void);
/* False after the report at the end of the process, and in a process that fork() has made. */
bool ptxi_check_environment_is_live(void);
/* The tools of new contexts, and whether these look for leaks. */
unsigned ptxi_check_environment_tools(void);
bool ptxi_check_environment_leaks(void);
/* The rules of new contexts. NULL: none. */
struct ptxi_rules *ptxi_check_environment_rules(void);
/* Writes new findings now, if the format is one for readers. */
void ptxi_check_environment_write(struct ptxi_findings *f);
/* Takes the findings of a closed context for the report at the end of the process. False: they are not wanted. */
bool ptxi_check_environment_keep(struct ptxi_findings *f);
/* Adds them to the report while the context is open. */
void ptxi_check_environment_add(struct ptxi_findings *f);

/* Reads a list of words: tools, "leaks", and "all" or "1" for all tools. False for an unknown word. */
bool ptxi_check_parse_tools(const char *text, unsigned *tools, bool *leaks);

#endif
