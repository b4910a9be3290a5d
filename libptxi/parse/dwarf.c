#include "parse/dwarf.h"

#include <stdbool.h>
#include <string.h>

/* Numbers of the DWARF standard, version 4. */
enum tag {
    TAG_array_type = 0x01,
    TAG_class_type = 0x02,
    TAG_enumeration_type = 0x04,
    TAG_formal_parameter = 0x05,
    TAG_pointer_type = 0x0f,
    TAG_reference_type = 0x10,
    TAG_structure_type = 0x13,
    TAG_typedef = 0x16,
    TAG_union_type = 0x17,
    TAG_subrange_type = 0x21,
    TAG_base_type = 0x24,
    TAG_const_type = 0x26,
    TAG_variable = 0x34,
    TAG_volatile_type = 0x35,
    TAG_restrict_type = 0x37,
    TAG_rvalue_reference_type = 0x42
};
enum attribute {
    AT_location = 0x02,
    AT_name = 0x03,
    AT_byte_size = 0x0b,
    AT_upper_bound = 0x2f,
    AT_count = 0x37,
    AT_type = 0x49
};
enum form {
    FORM_addr = 0x01,
    FORM_block2 = 0x03,
    FORM_block4 = 0x04,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_block = 0x09,
    FORM_block1 = 0x0a,
    FORM_data1 = 0x0b,
    FORM_flag = 0x0c,
    FORM_sdata = 0x0d,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_ref_addr = 0x10,
    FORM_ref1 = 0x11,
    FORM_ref2 = 0x12,
    FORM_ref4 = 0x13,
    FORM_ref8 = 0x14,
    FORM_ref_udata = 0x15,
    FORM_sec_offset = 0x17,
    FORM_exprloc = 0x18,
    FORM_flag_present = 0x19
};
enum operation { OP_addr = 0x03, OP_plus_uconst = 0x23 };

enum { MAX_DEPTH = 16 /* of types */, ADDRESS = 8, WORK_PER_BYTE = 64, KNOWN = 256 };

/* Bytes that are read from the start. `bad`: there are too few of them, or they are not supported. */
struct reader {
    const uint8_t *s;
    size_t at, size;
    bool bad;
};

/* The unit of .debug_info that is read. */
struct unit {
    const struct ptxi_dwarf *d;
    size_t start, end, abbrev; /* in .debug_info; of its table in .debug_abbrev */
    unsigned version;
    uint64_t *work; /* what may still be done, so that malformed data does not take long */
    size_t *known;  /* where the table has entries with low numbers, after the number; 0: not known */
};

/* What matters of an entry. */
struct entry {
    uint64_t tag; /* 0: the end of a list of children */
    bool children;
    bool has_size, has_type, has_count;
    uint64_t size, type, count; /* type: in .debug_info */
    const char *name;
    size_t location, location_size;
};

static uint64_t read_number(struct reader *r, unsigned bytes)
{
    uint64_t n = 0;

    if (r->bad || bytes > r->size - r->at) {
        r->bad = true;
        return 0;
    }
    for (unsigned k = 0; k < bytes; k++)
        n |= (uint64_t)r->s[r->at++] << 8 * k;
    return n;
}

static uint64_t read_leb(struct reader *r)
{
    uint64_t n = 0, byte;
    unsigned shift = 0;

    do {
        byte = read_number(r, 1);
        n |= shift < 64 ? (byte & 127) << shift : 0;
        shift += 7;
    } while (byte & 128 && !r->bad);
    return n;
}

static void skip(struct reader *r, uint64_t bytes)
{
    if (r->bad || bytes > r->size - r->at)
        r->bad = true;
    else
        r->at += (size_t)bytes;
}

static const char *read_string(struct reader *r)
{
    const uint8_t *s = r->s + r->at, *end = r->bad ? NULL : memchr(s, 0, r->size - r->at);

    if (!end) {
        r->bad = true;
        return NULL;
    }
    r->at += (size_t)(end - s) + 1;
    return (const char *)s;
}

/* The value of an attribute. */
struct value {
    uint64_t number;
    const char *string;
    size_t block, block_size; /* in .debug_info */
    bool is_number;
};

static void read_block(struct reader *r, uint64_t size, struct value *v)
{
    v->block = r->at;
    v->block_size = (size_t)size;
    skip(r, size);
}

static void read_value(const struct unit *u, struct reader *r, uint64_t form, struct value *v)
{
    *v = (struct value){ .is_number = true };
    switch (form) {
    case FORM_addr:
    case FORM_data8:
    case FORM_ref8:
        v->number = read_number(r, 8);
        break;
    case FORM_data4:
    case FORM_ref4:
    case FORM_strp:
    case FORM_sec_offset:
        v->number = read_number(r, 4);
        break;
    case FORM_data2:
    case FORM_ref2:
        v->number = read_number(r, 2);
        break;
    case FORM_data1:
    case FORM_ref1:
    case FORM_flag:
        v->number = read_number(r, 1);
        break;
    case FORM_udata:
    case FORM_sdata:
    case FORM_ref_udata:
        v->number = read_leb(r);
        break;
    case FORM_ref_addr:
        v->number = read_number(r, u->version < 3 ? ADDRESS : 4);
        break;
    case FORM_flag_present:
        v->number = 1;
        break;
    case FORM_string:
        v->string = read_string(r);
        break;
    case FORM_block:
    case FORM_exprloc:
        read_block(r, read_leb(r), v);
        break;
    case FORM_block1:
        read_block(r, read_number(r, 1), v);
        break;
    case FORM_block2:
        read_block(r, read_number(r, 2), v);
        break;
    case FORM_block4:
        read_block(r, read_number(r, 4), v);
        break;
    default:
        r->bad = true;
    }
    v->is_number = !v->string && !v->block_size;
}

static void keep_value(const struct unit *u, uint64_t attribute, uint64_t form, const struct value *v, struct entry *e)
{
    switch (attribute) {
    case AT_name:
        e->name = v->string;
        break;
    case AT_location:
        e->location = v->block;
        e->location_size = v->block_size;
        break;
    case AT_byte_size:
        e->has_size = v->is_number;
        e->size = v->number;
        break;
    case AT_type:
        e->has_type = v->is_number && form != FORM_ref_addr;
        e->type = u->start + v->number;
        break;
    case AT_count:
        e->has_count = v->is_number;
        e->count = v->number;
        break;
    case AT_upper_bound:
        e->has_count = v->is_number;
        e->count = v->number + 1;
        break;
    default:
        break;
    }
}

/* Finds the description of the entries with this number: *a is after the number. */
static bool find_description(const struct unit *u, uint64_t number, struct reader *a)
{
    *a = (struct reader){ u->d->abbrev, u->abbrev, u->d->abbrev_size, u->abbrev > u->d->abbrev_size };
    if (number < KNOWN && u->known[number]) {
        a->at = u->known[number];
        return true;
    }
    while (!a->bad) {
        uint64_t n = read_leb(a), attribute, form;

        if (n < KNOWN && !u->known[n])
            u->known[n] = a->at;
        if (n == number && n && !a->bad)
            return true;
        if (!n || !*u->work)
            return false;
        read_leb(a);
        skip(a, 1);
        do {
            attribute = read_leb(a);
            form = read_leb(a);
            *u->work -= *u->work ? 1 : 0;
        } while ((attribute || form) && !a->bad && *u->work);
    }
    return false;
}

/* Reads an entry at the reader's place. False: it is malformed. */
static bool read_entry(const struct unit *u, struct reader *r, struct entry *e)
{
    uint64_t number = read_leb(r), attribute, form;
    struct reader a;

    *e = (struct entry){ .tag = 0 };
    if (!number)
        return !r->bad;
    if (!find_description(u, number, &a))
        return false;
    e->tag = read_leb(&a);
    e->children = read_number(&a, 1);
    for (;;) {
        struct value v;

        attribute = read_leb(&a);
        form = read_leb(&a);
        if (a.bad || r->bad || !*u->work)
            return false;
        --*u->work;
        if (!attribute && !form)
            return e->tag != 0;
        read_value(u, r, form, &v);
        keep_value(u, attribute, form, &v, e);
    }
}

static bool multiply(uint64_t *a, uint64_t b)
{
    return !__builtin_mul_overflow(*a, b, a);
}

/* The number of elements of an array, whose children come next. 0: not known. */
static uint64_t count_elements(const struct unit *u, struct reader *r)
{
    uint64_t count = 1;
    struct entry e;

    while (read_entry(u, r, &e)) {
        if (!e.tag)
            return count;
        if (e.children || (e.tag == TAG_subrange_type && (!e.has_count || !multiply(&count, e.count))))
            return 0;
    }
    return 0;
}

/* The bytes of a type. 0: not known. */
static uint64_t size_of_type(const struct unit *u, uint64_t at)
{
    uint64_t count = 1;

    for (unsigned depth = 0; depth < MAX_DEPTH && at >= u->start && at < u->end; depth++) {
        struct reader r = { u->d->info, (size_t)at, u->end, false };
        struct entry e;

        if (!read_entry(u, &r, &e))
            return 0;
        if (e.has_size)
            return multiply(&count, e.size) ? count : 0;
        switch (e.tag) {
        case TAG_pointer_type:
        case TAG_reference_type:
        case TAG_rvalue_reference_type:
            return multiply(&count, ADDRESS) ? count : 0;
        case TAG_array_type:
            if (!e.children || !multiply(&count, count_elements(u, &r)))
                return 0;
            break;
        case TAG_typedef:
        case TAG_const_type:
        case TAG_volatile_type:
        case TAG_restrict_type:
            break;
        default:
            return 0;
        }
        if (!e.has_type)
            return 0;
        at = e.type;
    }
    return 0;
}

/* Whether the place of a variable is a name and an offset. */
static bool find_place(const struct unit *u, const struct entry *e, struct ptxi_dwarf_variable *v)
{
    struct reader r = { u->d->info, e->location, e->location + e->location_size, !e->location_size };

    if (read_number(&r, 1) != OP_addr)
        return false;
    v->at = r.at;
    v->offset = read_number(&r, ADDRESS);
    if (!r.bad && r.at < r.size)
        v->offset += read_number(&r, 1) == OP_plus_uconst ? read_leb(&r) : (r.bad = true);
    return !r.bad && r.at == r.size;
}

/* Reads the entries of a unit, of which the header has been read. */
static void read_unit(const struct unit *u, struct reader *r, void *ctx,
                      void (*found)(void *ctx, const struct ptxi_dwarf_variable *v))
{
    struct entry e;

    while (r->at < r->size && read_entry(u, r, &e)) {
        struct ptxi_dwarf_variable v = { .name = e.name };

        if ((e.tag != TAG_variable && e.tag != TAG_formal_parameter) || !find_place(u, &e, &v))
            continue;
        v.size = e.has_type ? size_of_type(u, e.type) : 0;
        found(ctx, &v);
    }
}

void ptxi_dwarf_find_variables(const struct ptxi_dwarf *d, void *ctx,
                               void (*found)(void *ctx, const struct ptxi_dwarf_variable *v))
{
    struct reader r = { d->info, 0, d->info_size, false };
    uint64_t work = WORK_PER_BYTE * (uint64_t)d->info_size;

    while (r.at < r.size) {
        size_t known[KNOWN] = { 0 };
        struct unit u = { .d = d, .start = r.at, .work = &work, .known = known };
        uint64_t length = read_number(&r, 4);

        if (r.bad || length > r.size - r.at)
            return;
        u.end = r.at + (size_t)length;
        struct reader own = { d->info, r.at, u.end, false };

        u.version = (unsigned)read_number(&own, 2);
        u.abbrev = (size_t)read_number(&own, 4);
        if (read_number(&own, 1) != ADDRESS || own.bad || u.version < 2 || u.version > 4)
            return;
        read_unit(&u, &own, ctx, found);
        r.at = u.end;
    }
}
