/* Syntax-aware mutation of PTX. Copies, moves and removes lines. Replaces words, qualifiers and numbers with others of
 * the same kind. Many mutated texts still load, so that the fuzzer gets past the parser. */
#include "mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400, TRIES = 8 };

struct text {
    uint8_t *s;
    size_t n, max;
};

struct piece { /* part of a text; n == 0: none */
    size_t at, n;
};

static uint32_t state;

static size_t below(size_t n)
{
    state = state * 1664525u + 1013904223u;
    return n ? (size_t)((uint64_t)(state >> 4) * n >> 28) : 0;
}

static bool of_word(uint8_t c)
{
    return isalnum(c) || (c && strchr("_.%$:", c));
}

/* A word: register, directive, number, name or opcode. */
static int kind(uint8_t c)
{
    return c == '%' || c == '.' ? c : isdigit(c) ? '0' : 'a';
}

static struct piece pick_line(const struct text *t)
{
    size_t at = below(t->n), end = at;

    while (at && t->s[at - 1] != '\n')
        at--;
    while (end < t->n && t->s[end++] != '\n')
        ;
    return (struct piece){ at, end - at < LONGEST ? end - at : LONGEST };
}

static struct piece pick_word(const struct text *t)
{
    size_t at = below(t->n), end;

    while (at < t->n && !of_word(t->s[at]))
        at++;
    end = at;
    while (at && of_word(t->s[at - 1]))
        at--;
    while (end < t->n && of_word(t->s[end]))
        end++;
    return (struct piece){ at, end - at < LONGEST ? end - at : LONGEST };
}

/* Finds a word with the same kind of first character as `like`; any word if `like` is 0. */
static struct piece pick_kind(const struct text *t, int like)
{
    for (int k = 0; k < TRIES; k++) {
        struct piece p = pick_word(t);

        if (p.n && (!like || kind(t->s[p.at]) == like))
            return p;
    }
    return (struct piece){ 0, 0 };
}

/* Finds a qualifier: from a dot inside a word to the next dot. */
static struct piece pick_qualifier(const struct text *t)
{
    struct piece w = pick_kind(t, 'a');
    size_t at = w.at + below(w.n), last = w.at + w.n, end;

    while (at < last && t->s[at] != '.')
        at++;
    for (end = at; end < last && (end == at || t->s[end] != '.'); end++)
        ;
    return (struct piece){ at, end - at };
}

/* Replaces a piece with `n` bytes. */
static void put(struct text *t, struct piece p, const void *bytes, size_t n)
{
    if (t->n - p.n + n > t->max)
        return;
    memmove(t->s + p.at + n, t->s + p.at + p.n, t->n - p.at - p.n);
    memcpy(t->s + p.at, bytes, n);
    t->n += n - p.n;
}

static void put_piece(struct text *t, struct piece to, const struct text *from, struct piece p)
{
    uint8_t copy[LONGEST];

    memcpy(copy, from->s + p.at, p.n);
    put(t, to, copy, p.n);
}

static void change_number(struct text *t)
{
    static const char *const numbers[] = { "0",
                                           "1",
                                           "2",
                                           "3",
                                           "7",
                                           "8",
                                           "15",
                                           "16",
                                           "31",
                                           "32",
                                           "33",
                                           "63",
                                           "64",
                                           "127",
                                           "128",
                                           "255",
                                           "256",
                                           "1023",
                                           "1024",
                                           "4095",
                                           "4096",
                                           "65535",
                                           "65536",
                                           "0x7fffffff",
                                           "0x80000000",
                                           "0xffffffff",
                                           "4294967296",
                                           "0x7fffffffffffffff",
                                           "0x8000000000000000",
                                           "0xffffffffffffffff",
                                           "0f3F800000",
                                           "0fFF800000",
                                           "0f7F812345",
                                           "0d0000000000000001",
                                           "0d7FF0000000000000",
                                           "-1" };
    struct piece p = pick_kind(t, '0');
    char text[24];

    if (!p.n)
        return;
    memcpy(text, t->s + p.at, p.n < 23 ? p.n : 23);
    text[p.n < 23 ? p.n : 23] = 0;
    if (below(2))
        snprintf(text, sizeof text, "%llu", strtoull(text, NULL, 0) + 1 - 2 * below(2));
    else
        snprintf(text, sizeof text, "%s", numbers[below(sizeof numbers / sizeof *numbers)]);
    put(t, p, text, strlen(text));
}

/* Applies one mutation to a text, with material from it or from another text. */
static void change(struct text *t, const struct text *from)
{
    struct piece p = pick_line(t), q;

    switch (below(8)) {
    case 0: /* insert a line */
        put_piece(t, (struct piece){ p.at, 0 }, from, pick_line(from));
        break;
    case 1: /* replace a line */
        put_piece(t, p, from, pick_line(from));
        break;
    case 2:
        put(t, p, "", 0);
        break;
    case 3: case 4: /* replace a word */
        p = pick_word(t);
        if (p.n && (q = pick_kind(from, kind(t->s[p.at]))).n)
            put_piece(t, p, from, q);
        break;
    case 5:
        put_piece(t, pick_qualifier(t), from, pick_qualifier(from));
        break;
    case 6: /* insert or remove a qualifier */
        p = pick_qualifier(t);
        if (below(2))
            put(t, p, "", 0);
        else
            put_piece(t, (struct piece){ p.at, 0 }, from, pick_qualifier(from));
        break;
    case 7:
        change_number(t);
        break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    struct text t = { data, size, max };

    state = seed;
    if (!size || !below(4))
        return LLVMFuzzerMutate(data, size, max);
    for (size_t k = 0, n = 1 + below(3); k < n && t.n; k++)
        change(&t, &t);
    return t.n;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t max,
                                 unsigned seed)
{
    struct text t = { out, an < max ? an : max, max };
    const struct text from = { (uint8_t *)b, bn, bn };

    memcpy(out, a, t.n);
    state = seed;
    for (size_t k = 0, n = 1 + below(4); k < n && t.n && bn; k++)
        change(&t, &from);
    return t.n;
}

/* Returns whether a text declares tens of thousands of names or bytes. Such texts are slow and similar to each other,
 * so the fuzzer skips most of them. */
bool tedious(const uint8_t *data, size_t size)
{
    for (size_t i = 0, n; i < size; i++) {
        if ((data[i] != '<' && data[i] != '[') || i + 1 == size || !isdigit(data[i + 1]))
            continue;
        for (n = 0; i + 1 < size && isalnum(data[i + 1]); i++)
            n++;
        if (n > 4)
            return size % 16;
    }
    return false;
}

#ifndef FUZZER
enum { ROOM = 1 << 14 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
    (void)max;
    if (size)
        data[below(size)] ^= (uint8_t)(1 << below(8));
    return size;
}

void mutants(const uint8_t *data, size_t size, unsigned count)
{
    static uint8_t copy[ROOM];

    if (size > ROOM / 2)
        return;
    for (unsigned k = 0; k < count; k++) {
        memcpy(copy, data, size);
        LLVMFuzzerTestOneInput(copy, LLVMFuzzerCustomMutator(copy, size, ROOM, k * 2654435761u));
    }
}
#endif
