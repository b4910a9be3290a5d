/* With libdw of elfutils, names and lines come from the debug data, otherwise names come from the dynamic symbols.
 * libdw is loaded when the first report needs it, so that it is not a dependency of the library. */
#include "api/observe/symbol.h"

#include "base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- debug data */

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>

#define DWFL_FUNCTIONS(X) \
    X(dwfl_begin) X(dwfl_end) X(dwfl_linux_proc_report) X(dwfl_report_end) X(dwfl_linux_proc_find_elf) \
    X(dwfl_standard_find_debuginfo) X(dwfl_addrmodule) X(dwfl_module_addrname) X(dwfl_module_getsrc) X(dwfl_lineinfo)

static struct {
    pthread_mutex_t lock;
    bool tried;
    Dwfl *session; /* the objects that were loaded when it began; NULL: not available */
    Dwfl_Callbacks callbacks;
#define DECLARE(name) __typeof__(name) *name;
    DWFL_FUNCTIONS(DECLARE)
#undef DECLARE
} dw = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool load_libdw(void)
{
    void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (!library)
        return false;
#define LOAD(name) \
    if (!(dw.name = (__typeof__(name) *)dlsym(library, #name))) \
        return false;
    DWFL_FUNCTIONS(LOAD)
#undef LOAD
    dw.callbacks.find_elf = dw.dwfl_linux_proc_find_elf;
    dw.callbacks.find_debuginfo = dw.dwfl_standard_find_debuginfo;
    return true;
}

static void begin_session(void)
{
    if (dw.session)
        dw.dwfl_end(dw.session);
    dw.session = dw.dwfl_begin(&dw.callbacks);
    if (!dw.session)
        return;
    if (!dw.dwfl_linux_proc_report(dw.session, getpid()) && !dw.dwfl_report_end(dw.session, NULL, NULL))
        return;
    dw.dwfl_end(dw.session);
    dw.session = NULL;
}

/* The object that contains the address. It may have been loaded after the session began. */
static Dwfl_Module *find_object(Dwarf_Addr address)
{
    Dwfl_Module *m = NULL;

    if (!dw.tried) {
        dw.tried = true;
        if (load_libdw())
            begin_session();
    } else if (dw.session && !dw.dwfl_addrmodule(dw.session, address)) {
        begin_session();
    }
    if (dw.session)
        m = dw.dwfl_addrmodule(dw.session, address);
    return m;
}

/* Appends the place of the source. *name becomes the function's name, or stays as it is. */
static void describe_source(void *address, struct ptxi_str *place, struct ptxi_str *name)
{
    Dwarf_Addr a = (uintptr_t)address;
    const char *found, *file;
    Dwfl_Line *line;
    int number = 0;

    pthread_mutex_lock(&dw.lock);
    Dwfl_Module *m = find_object(a);

    if (m && (found = dw.dwfl_module_addrname(m, a)))
        ptxi_demangle(found, name);
    if (m && (line = dw.dwfl_module_getsrc(m, a)) && (file = dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL)))
        ptxi_str_printf(place, " at %s:%d", file, number);
    pthread_mutex_unlock(&dw.lock);
}

#else

static void describe_source(void *address, struct ptxi_str *place, struct ptxi_str *name)
{
    (void)address, (void)place, (void)name;
}

#endif

/* ---- both */

bool ptxi_symbol_describe(void *address, struct ptxi_str *out)
{
    struct ptxi_str place, name;
    Dl_info info;
    bool known = dladdr(address, &info) != 0, is_main;

    ptxi_str_init(&place, NULL);
    ptxi_str_init(&name, NULL);
    describe_source(address, &place, &name);
    if (!name.len && known && info.dli_sname)
        ptxi_demangle(info.dli_sname, &name);
    is_main = !strcmp(ptxi_str_text(&name), "main");
    if (name.len)
        ptxi_str_puts(out, ptxi_str_text(&name));
    else
        ptxi_str_printf(out, "%p", address);
    if (place.len)
        ptxi_str_puts(out, ptxi_str_text(&place));
    else if (known && info.dli_fname)
        ptxi_str_printf(out, " in %s+0x%zx", info.dli_fname, (size_t)((uintptr_t)address - (uintptr_t)info.dli_fbase));
    ptxi_str_free(&place);
    ptxi_str_free(&name);
    return is_main;
}
