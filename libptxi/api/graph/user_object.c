/* A thread of the library calls the functions that destroy objects, because the last reference may go while a call
 * holds locks. */
#include "api/graph/user_object.h"

#include "api/context/context.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ptxiUserObject_st {
    struct ptxi_handle handle;
    void *user;
    ptxiHostFn destroy;
    unsigned long long refs, held; /* all references, and those of the program; under the lock */
    struct ptxiUserObject_st *next; /* without references, and not destroyed yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ptxiUserObject_st *unused; /* list */
static bool destroying;                  /* a thread empties the list */

/* ---- destruction */

static struct ptxiUserObject_st *take_unused(void)
{
    pthread_mutex_lock(&lock);
    struct ptxiUserObject_st *o = unused;

    if (o)
        unused = o->next;
    destroying = o;
    pthread_mutex_unlock(&lock);
    return o;
}

static void *destroy_unused(void *none)
{
    struct ptxiUserObject_st *o;

    (void)none;
    ptxi_call_set_callback(true);
    while ((o = take_unused())) {
        o->destroy(o->user);
        ptxi_handle_unref(&o->handle);
    }
    return NULL;
}

static void free_object(void *object)
{
    free(object);
}

/* Under the lock. Without a thread the objects are destroyed when the next one loses its last reference. */
static void start_destruction(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    if (destroying || pthread_attr_init(&attributes))
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    destroying = !pthread_create(&thread, &attributes, destroy_unused, NULL);
    pthread_attr_destroy(&attributes);
}

static void release_locked(struct ptxiUserObject_st *o, unsigned count)
{
    assert(o->refs >= count);
    o->refs -= count;
    if (o->refs)
        return;
    ptxi_handle_remove(&o->handle);
    o->next = unused;
    unused = o;
    start_destruction();
}

void ptxi_user_object_release(ptxiUserObject object, unsigned count)
{
    pthread_mutex_lock(&lock);
    release_locked(object, count);
    pthread_mutex_unlock(&lock);
}

/* ---- references of graphs */

bool ptxi_user_objects_copy(struct ptxi_user_objects *to, const struct ptxi_user_objects *from)
{
    *to = (struct ptxi_user_objects){ .at = from->count ? malloc(from->count * sizeof *to->at) : NULL };
    if (!from->count)
        return true;
    if (!to->at)
        return false;
    memcpy(to->at, from->at, from->count * sizeof *to->at);
    to->count = from->count;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < to->count; i++)
        to->at[i].object->refs += to->at[i].count;
    pthread_mutex_unlock(&lock);
    return true;
}

void ptxi_user_objects_free(struct ptxi_user_objects *o)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < o->count; i++)
        release_locked(o->at[i].object, o->at[i].count);
    pthread_mutex_unlock(&lock);
    free(o->at);
    *o = (struct ptxi_user_objects){ .count = 0 };
}

/* ---- calls */

ptxiResult ptxi_user_object_use(ptxiUserObject object, unsigned count)
{
    ptxiResult r = ptxi_api_enter();

    if (!r && (!count || ptxi_handle_use(object, PTXI_HANDLE_USER_OBJECT)))
        return PTXI_ERROR_INVALID_VALUE;
    return r;
}

ptxiResult ptxiUserObjectCreate(ptxiUserObject *object_out, void *ptr, ptxiHostFn destroy, unsigned initialRefcount,
                                unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!object_out || !destroy || !initialRefcount || flags != PTXI_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxiUserObject_st *o = calloc(1, sizeof *o);

    if (!o)
        return PTXI_ERROR_OUT_OF_MEMORY;
    o->user = ptr;
    o->destroy = destroy;
    o->refs = o->held = initialRefcount;
    if (!ptxi_handle_add(&o->handle, PTXI_HANDLE_USER_OBJECT, NULL, free_object)) {
        free(o);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *object_out = o;
    return PTXI_SUCCESS;
}

ptxiResult ptxiUserObjectRetain(ptxiUserObject object, unsigned count)
{
    API_CALL;
    ptxiResult r = ptxi_user_object_use(object, count);

    if (r)
        return r;
    pthread_mutex_lock(&lock);
    if (object->refs) {
        object->refs += count;
        object->held += count;
    } else { /* another thread has released the last reference */
        r = PTXI_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

ptxiResult ptxiUserObjectRelease(ptxiUserObject object, unsigned count)
{
    API_CALL;
    ptxiResult r = ptxi_user_object_use(object, count);

    if (r)
        return r;
    pthread_mutex_lock(&lock);
    if (object->held >= count) {
        object->held -= count;
        release_locked(object, count);
    } else {
        r = PTXI_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

ptxiResult ptxi_user_object_retain(ptxiUserObject o, unsigned count, bool move)
{
    ptxiResult r = PTXI_SUCCESS;

    pthread_mutex_lock(&lock);
    if (!o->refs || (move && o->held < count))
        r = PTXI_ERROR_INVALID_VALUE;
    else if (move)
        o->held -= count;
    else
        o->refs += count;
    pthread_mutex_unlock(&lock);
    return r;
}
