/* A reader of ELF files and static archives that knows only what leads to fat binaries. "System V Application Binary
 * Interface, Object Files" describes ELF; ar(5) describes archives. */
#include "fatbin/file.h"

#include "fatbin/bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { ELF_CUDA = 190 }; /* e_machine of cubins; new headers call it EM_CUDA */

/* Sections with fat binaries. fatbinary_section.h of the CUDA toolkit has the names. */
static const struct section_name {
    const char *name;
    bool relocatable;
} section_names[] = { { ".nv_fatbin", false }, { "__nv_relfatbin", true } };

struct bytes {
    const unsigned char *at;
    size_t size;
};

/* A part of `b`. False: `b` does not contain it. */
static bool get_part(struct bytes b, uint64_t offset, uint64_t size, struct bytes *part)
{
    if (offset > b.size || size > b.size - offset)
        return false;
    *part = (struct bytes){ b.at + offset, size };
    return true;
}

/* Damaged entries are reported when the fat binary is read. */
static unsigned count_entries(struct ptxi_fatbin f)
{
    struct ptxi_fatbin_entry e;
    unsigned n = 0;

    while (!ptxi_fatbin_next(&f, &e))
        n++;
    return n;
}

static bool reserve(struct ptxi_fatbin_list *list, struct ptxi_arena *arena)
{
    uint32_t cap = list->cap ? 2 * list->cap : 8;

    if (list->count < list->cap)
        return true;
    struct ptxi_fatbin_found *more = ARENA_NEW(arena, struct ptxi_fatbin_found, cap);

    if (!more)
        return false;
    if (list->count)
        memcpy(more, list->at, list->count * sizeof *more);
    list->at = more;
    list->cap = cap;
    return true;
}

enum ptxi_fatbin_result ptxi_fatbin_append(struct ptxi_fatbin_list *list, struct ptxi_arena *arena,
                                           struct ptxi_fatbin_found found)
{
    struct ptxi_fatbin f;
    enum ptxi_fatbin_result r = ptxi_fatbin_open(&f, found.data, found.size);

    if (r)
        return r;
    if (!reserve(list, arena))
        return PTXI_FATBIN_NO_MEMORY;
    found.size = (size_t)(f.end - found.data);
    found.first = list->entries + 1;
    list->entries += count_entries(f);
    list->at[list->count++] = found;
    return PTXI_FATBIN_OK;
}

/* Appends the fat binaries of a section. Linkers fill the gaps between them with zeros. */
static enum ptxi_fatbin_result scan_section(struct bytes s, struct ptxi_fatbin_found like, struct ptxi_arena *arena,
                                            struct ptxi_fatbin_list *list)
{
    enum ptxi_fatbin_result r = PTXI_FATBIN_OK;

    for (size_t at = 0; at < s.size && !r;) {
        if (!s.at[at]) {
            at++;
            continue;
        }
        like.data = s.at + at;
        like.size = s.size - at;
        r = ptxi_fatbin_append(list, arena, like);
        if (!r)
            at += list->at[list->count - 1].size;
    }
    return r;
}

/* ---- ELF */

static bool is_elf(const unsigned char *p)
{
    static const unsigned char ident[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

    for (size_t i = 0; i < sizeof ident; i++)
        if (p[i] != ident[i])
            return false;
    return true;
}

static uint16_t elf_machine(const unsigned char *p)
{
    return ptxi_read_le16(p + offsetof(Elf64_Ehdr, e_machine));
}

/* The flags of a cubin have the architecture in bits 8 to 15 since ABI version 8 (CUDA 13), before in bits 0 to 7. */
bool ptxi_fatbin_is_cubin(const void *image, struct ptxi_target *t)
{
    const unsigned char *p = image;

    if (!is_elf(p) || elf_machine(p) != ELF_CUDA)
        return false;
    uint32_t flags = ptxi_read_le32(p + offsetof(Elf64_Ehdr, e_flags));

    *t = (struct ptxi_target){ .sm = p[EI_ABIVERSION] >= 8 ? flags >> 8 & 0xff : flags & 0xff };
    return true;
}

struct elf {
    struct bytes file, sections, names;
    uint64_t count;
};

static const unsigned char *section_header(const struct elf *elf, uint64_t i)
{
    return elf->sections.at + i * sizeof(Elf64_Shdr);
}

static bool section_contents(const struct elf *elf, uint64_t i, struct bytes *contents)
{
    const unsigned char *h = section_header(elf, i);

    if (ptxi_read_le32(h + offsetof(Elf64_Shdr, sh_type)) == SHT_NOBITS)
        return get_part(elf->file, 0, 0, contents);
    return get_part(elf->file, ptxi_read_le64(h + offsetof(Elf64_Shdr, sh_offset)),
                    ptxi_read_le64(h + offsetof(Elf64_Shdr, sh_size)), contents);
}

/* Section 0 has the number of sections and the index of the table of names if they do not fit into the header. */
static bool open_elf(struct bytes file, struct elf *elf)
{
    const unsigned char *p = file.at;
    struct bytes first;

    if (file.size < sizeof(Elf64_Ehdr))
        return false;
    uint64_t offset = ptxi_read_le64(p + offsetof(Elf64_Ehdr, e_shoff));
    uint64_t count = ptxi_read_le16(p + offsetof(Elf64_Ehdr, e_shnum));
    uint64_t names = ptxi_read_le16(p + offsetof(Elf64_Ehdr, e_shstrndx));

    *elf = (struct elf){ .file = file };
    if (!offset)
        return true;
    if (ptxi_read_le16(p + offsetof(Elf64_Ehdr, e_shentsize)) != sizeof(Elf64_Shdr) ||
        !get_part(file, offset, sizeof(Elf64_Shdr), &first))
        return false;
    if (!count)
        count = ptxi_read_le64(first.at + offsetof(Elf64_Shdr, sh_size));
    if (names == SHN_XINDEX)
        names = ptxi_read_le32(first.at + offsetof(Elf64_Shdr, sh_link));
    elf->count = count;
    return count <= file.size / sizeof(Elf64_Shdr) &&
           get_part(file, offset, count * sizeof(Elf64_Shdr), &elf->sections) && names < count &&
           section_contents(elf, names, &elf->names);
}

static bool has_name(const struct elf *elf, uint64_t i, const char *name)
{
    uint32_t at = ptxi_read_le32(section_header(elf, i) + offsetof(Elf64_Shdr, sh_name));
    size_t n = strlen(name) + 1;

    return at < elf->names.size && n <= elf->names.size - at && !memcmp(elf->names.at + at, name, n);
}

static enum ptxi_fatbin_result find_in_elf(struct bytes file, const char *member, struct ptxi_arena *arena,
                                           struct ptxi_fatbin_list *list)
{
    enum ptxi_fatbin_result r = PTXI_FATBIN_OK;
    struct elf elf;
    struct bytes s;

    if (!open_elf(file, &elf))
        return PTXI_FATBIN_BAD_FILE;
    for (uint64_t i = 0; i < elf.count && !r; i++)
        for (size_t k = 0; k < sizeof section_names / sizeof *section_names && !r; k++) {
            struct ptxi_fatbin_found like = { .member = member, .relocatable = section_names[k].relocatable };

            if (!has_name(&elf, i, section_names[k].name))
                continue;
            r = section_contents(&elf, i, &s) ? scan_section(s, like, arena, list) : PTXI_FATBIN_BAD_FILE;
        }
    return r;
}

/* Each kernel has a bank of constants for its parameters in a section with this name. */
const char *ptxi_fatbin_next_kernel(const void *cubin, size_t size, uint32_t *section)
{
    static const char prefix[] = ".nv.constant0.";
    struct elf elf;

    if (ptxi_fatbin_file_kind(cubin, size) != PTXI_FILE_CUBIN || !open_elf((struct bytes){ cubin, size }, &elf))
        return NULL;
    while (*section < elf.count) {
        uint32_t at = ptxi_read_le32(section_header(&elf, (*section)++) + offsetof(Elf64_Shdr, sh_name));
        size_t left = at < elf.names.size ? elf.names.size - at : 0;
        const char *name = (const char *)elf.names.at + at;

        if (left > sizeof prefix && !memcmp(name, prefix, sizeof prefix - 1) && memchr(name, 0, left))
            return name + sizeof prefix - 1;
    }
    return NULL;
}

/* ---- archives */

/* The header of a member: fields of characters, padded with blanks. */
enum { AR_MAGIC = 8, AR_HEADER = 60, AR_NAME = 16, AR_SIZE_AT = 48, AR_SIZE = 10, AR_END_AT = 58 };

static bool read_decimal(const unsigned char *p, size_t n, uint64_t *value)
{
    size_t i = 0;

    for (*value = 0; i < n && p[i] >= '0' && p[i] <= '9'; i++)
        *value = *value * 10 + (uint64_t)(p[i] - '0');
    for (size_t k = i; k < n; k++)
        if (p[k] != ' ')
            return false;
    return i > 0;
}

/* Three forms: "name/", "/123" (offset in the member "//", System V), "#1/12" (bytes before the contents, BSD).
 * NULL: out of memory. */
static const char *member_name(const unsigned char *header, struct bytes *contents, struct bytes long_names,
                               struct ptxi_arena *arena)
{
    struct bytes name = { header, AR_NAME };
    uint64_t n;

    if (header[0] == '/' && read_decimal(header + 1, AR_NAME - 1, &n))
        name = n < long_names.size ? (struct bytes){ long_names.at + n, long_names.size - n } : (struct bytes){ 0 };
    else if (!memcmp(header, "#1/", 3) && read_decimal(header + 3, AR_NAME - 3, &n) && n <= contents->size) {
        name = (struct bytes){ contents->at, n };
        *contents = (struct bytes){ contents->at + n, contents->size - n };
    }
    n = 0;
    while (n < name.size && name.at[n] && name.at[n] != '/' && name.at[n] != '\n')
        n++;
    while (n && name.at[n - 1] == ' ')
        n--;
    return ptxi_arena_strndup(arena, n ? (const char *)name.at : "", n);
}

static bool is_symbol_table(const unsigned char *header)
{
    return !memcmp(header, "/ ", 2) || !memcmp(header, "/SYM64/ ", 8);
}

static enum ptxi_fatbin_result find_in_archive(struct bytes file, struct ptxi_arena *arena,
                                               struct ptxi_fatbin_list *list)
{
    struct bytes long_names = { 0 }, header, contents;
    enum ptxi_fatbin_result r = PTXI_FATBIN_OK;
    uint64_t size;

    for (size_t at = AR_MAGIC; at < file.size && !r; at += AR_HEADER + size + size % 2) {
        if (!get_part(file, at, AR_HEADER, &header) || memcmp(header.at + AR_END_AT, "`\n", 2) ||
            !read_decimal(header.at + AR_SIZE_AT, AR_SIZE, &size) || !get_part(file, at + AR_HEADER, size, &contents))
            return PTXI_FATBIN_BAD_FILE;
        if (is_symbol_table(header.at))
            continue;
        if (!memcmp(header.at, "// ", 3)) {
            long_names = contents;
            continue;
        }
        const char *name = member_name(header.at, &contents, long_names, arena);

        if (!name)
            return PTXI_FATBIN_NO_MEMORY;
        if (ptxi_fatbin_file_kind(contents.at, contents.size) == PTXI_FILE_ELF)
            r = find_in_elf(contents, name, arena, list);
    }
    return r;
}

/* ---- files */

static bool begins_with(struct bytes b, const char *text)
{
    size_t n = strlen(text);

    return b.size >= n && !memcmp(b.at, text, n);
}

enum ptxi_fatbin_file ptxi_fatbin_file_kind(const void *data, size_t size)
{
    struct bytes b = { data, size };

    if (size >= 4 && ptxi_fatbin_is(data))
        return PTXI_FILE_FATBIN;
    if (size >= sizeof(Elf64_Ehdr) && is_elf(data))
        return elf_machine(data) == ELF_CUDA ? PTXI_FILE_CUBIN : PTXI_FILE_ELF;
    return begins_with(b, "!<arch>\n") || begins_with(b, "!<thin>\n") ? PTXI_FILE_ARCHIVE : PTXI_FILE_OTHER;
}

enum ptxi_fatbin_result ptxi_fatbin_find(const void *data, size_t size, struct ptxi_arena *arena,
                                         struct ptxi_fatbin_list *list)
{
    struct bytes file = { data, size };

    switch (ptxi_fatbin_file_kind(data, size)) {
    case PTXI_FILE_FATBIN: return scan_section(file, (struct ptxi_fatbin_found){ .member = NULL }, arena, list);
    case PTXI_FILE_ELF: return find_in_elf(file, NULL, arena, list);
    case PTXI_FILE_ARCHIVE:
        return begins_with(file, "!<thin>") ? PTXI_FATBIN_THIN : find_in_archive(file, arena, list);
    default: return PTXI_FATBIN_OK;
    }
}

/* ---- programs */

static bool has_ptx(const struct ptxi_fatbin_found *found)
{
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin f;

    if (ptxi_fatbin_open(&f, found->data, found->size))
        return false;
    while (!ptxi_fatbin_next(&f, &e))
        if (e.kind == PTXI_FATBIN_PTX)
            return true;
    return false;
}

unsigned ptxi_fatbin_group(struct ptxi_fatbin_list *list)
{
    unsigned count = 0, relocatable = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        struct ptxi_fatbin_found *f = &list->at[i];

        f->program = 0;
        if (!has_ptx(f))
            continue;
        f->program = f->relocatable && relocatable ? relocatable : ++count;
        if (f->relocatable)
            relocatable = f->program;
    }
    for (uint32_t i = 0; i < list->count && !count; i++)
        list->at[i].program = 1;
    return count || !list->count ? count : 1;
}
