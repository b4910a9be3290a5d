#include "base/file.h"

#include <errno.h>
#include <stdlib.h>

/* Doubles the buffer, up to one byte more than the limit, plus the NUL. Frees it on failure. */
static char *grow(char *p, size_t *room, size_t most)
{
    size_t more = *room <= most / 2 ? 2 * *room : most + 1;
    char *q = realloc(p, more + 1);

    if (!q)
        free(p);
    *room = more;
    return q;
}

char *ptxi_read_all(FILE *f, size_t most, size_t *size)
{
    size_t room = 1 << 16, n = 0, got;
    char *p = malloc(room + 1);
    int error;

    while (p && (got = fread(p + n, 1, room - n, f)) > 0) {
        n += got;
        if (n > most)
            break;
        if (n == room)
            p = grow(p, &room, most);
    }
    if (!p)
        return NULL;
    p[n] = 0;
    *size = n;
    if (n <= most && !ferror(f))
        return p;
    error = n > most ? EFBIG : errno;
    free(p);
    errno = error;
    return NULL;
}
