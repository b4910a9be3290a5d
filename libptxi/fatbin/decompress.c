/* Decompresses entries of fat binaries, with liblz4 and libzstd. Either library may be missing in a build. */
#include "fatbin/fatbin.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LZ4
#include <lz4.h>

static enum ptxi_fatbin_result decompress_lz4(const struct ptxi_fatbin_entry *e, char *to)
{
    if (e->stored > LZ4_MAX_INPUT_SIZE)
        return PTXI_FATBIN_TOO_LARGE;
    int n = LZ4_decompress_safe((const char *)e->data, to, (int)e->stored, (int)e->size);

    return n >= 0 && (size_t)n == e->size ? PTXI_FATBIN_OK : PTXI_FATBIN_CORRUPT;
}
#else
static enum ptxi_fatbin_result decompress_lz4(const struct ptxi_fatbin_entry *e, char *to)
{
    (void)e, (void)to;
    return PTXI_FATBIN_NO_LZ4;
}
#endif

#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

static enum ptxi_fatbin_result decompress_zstd(const struct ptxi_fatbin_entry *e, char *to)
{
    size_t n = ZSTD_decompress(to, e->size, e->data, e->stored);

    if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
        return PTXI_FATBIN_NO_MEMORY;
    return n == e->size ? PTXI_FATBIN_OK : PTXI_FATBIN_CORRUPT;
}
#else
static enum ptxi_fatbin_result decompress_zstd(const struct ptxi_fatbin_entry *e, char *to)
{
    (void)e, (void)to;
    return PTXI_FATBIN_NO_ZSTD;
}
#endif

static enum ptxi_fatbin_result decompress(const struct ptxi_fatbin_entry *e, char *to)
{
    switch (e->compression) {
    case PTXI_FATBIN_LZ4: return decompress_lz4(e, to);
    case PTXI_FATBIN_ZSTD: return decompress_zstd(e, to);
    default: memcpy(to, e->data, e->size); return PTXI_FATBIN_OK;
    }
}

enum ptxi_fatbin_result ptxi_fatbin_extract(const struct ptxi_fatbin_entry *e, char **data, size_t *size)
{
    if (e->size > PTXI_MOST_TEXT)
        return PTXI_FATBIN_TOO_LARGE;
    char *to = malloc(e->size + 1);

    if (!to)
        return PTXI_FATBIN_NO_MEMORY;
    enum ptxi_fatbin_result r = decompress(e, to);

    if (r) {
        free(to);
        return r;
    }
    to[e->size] = 0;
    *data = to;
    *size = e->kind == PTXI_FATBIN_PTX ? strlen(to) : e->size;
    return PTXI_FATBIN_OK;
}
