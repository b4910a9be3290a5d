/* Tests the instruction table: lookup of forms and their properties. */
#include "unit/support/bits.h"

#include "isa/isa.h"
#include "isa/op.gen.h"
#include "isa/bytecode.h"

/* Finds up to 8 rows of the spelled instruction with matching qualifiers. */
static unsigned match_all(const char *spelling, struct ptxi_match m[8])
{
    char text[200], *dot, *word;
    uint16_t quals[PTXI_MAX_SLOTS];
    unsigned count = 0, found = 0, bad;
    const struct ptxi_family *f;

    snprintf(text, sizeof text, "%s", spelling);
    word = strchr(text, '.');
    f = ptxi_isa_family(text, word ? (size_t)(word - text) : strlen(text));
    if (!f)
        return 0;
    for (; word; word = dot) {
        dot = strchr(++word, '.');
        quals[count] = ptxi_isa_word(word, dot ? (size_t)(dot - word) : strlen(word));
        if (quals[count++] == PTXI_NO_WORD)
            return 0;
    }
    for (unsigned i = 0; i < f->count; i++) {
        struct ptxi_match one;

        if (ptxi_isa_match(&ptxi_rows[f->first + i], quals, count, &one, &bad) && found < 8)
            m[found++] = one;
    }
    return found;
}

/* Returns the first of these rows. */
static unsigned match(const char *spelling, struct ptxi_match *m)
{
    struct ptxi_match all[8];
    unsigned n = match_all(spelling, all);

    if (n)
        *m = all[0];
    return n;
}

static void check_op(const char *spelling, uint16_t op, unsigned mods)
{
    struct ptxi_match m;

    ck_assert_msg(match(spelling, &m) > 0, "%s", spelling);
    ck_assert_msg(ptxi_isa_op(&m) == op, "%s: %s", spelling, ptxi_op_names[ptxi_isa_op(&m)]);
    ck_assert_msg(m.mods == mods, "%s: mods %u", spelling, m.mods);
}

START_TEST(forms_have_their_operations)
{
    check_op("add.s32", PTXI_OP_add_i32, 0);
    check_op("add.u32", PTXI_OP_add_i32, 0);
    check_op("add.f32", PTXI_OP_add_f32, 0);
    check_op("add.rn.f32", PTXI_OP_add_f32, 0);
    check_op("add.rz.ftz.sat.f32", PTXI_OP_add_f32_ftz_x, PTXI_RZ << PTXI_MOD_RND_SHIFT | PTXI_MOD_FTZ | PTXI_MOD_SAT);
    check_op("add.rp.f64", PTXI_OP_add_f64_x, PTXI_RP << PTXI_MOD_RND_SHIFT);
    check_op("addc.cc.u64", PTXI_OP_addc_i64, PTXI_MOD_CC);
    check_op("setp.hi.u16", PTXI_OP_setp_gt_u16, 0);
    check_op("setp.lt.xor.s64", PTXI_OP_setp_lt_s64, 3 << PTXI_MOD_BOOL_SHIFT);
    check_op("setp.eq.b64", PTXI_OP_setp_eq_i64, 0);
    check_op("shr.b32", PTXI_OP_shr_u32, 0);
    check_op("cvt.rzi.s32.f32", PTXI_OP_cvt_s32_f32, PTXI_RZ << PTXI_MOD_RND_SHIFT);
    check_op("cvt.rmi.f32.f32", PTXI_OP_cvt_rint_f32, PTXI_RM << PTXI_MOD_RND_SHIFT);
    check_op("cvt.f32.f32", PTXI_OP_cvt_f32_f32, 0);
    check_op("red.add.s32", PTXI_OP_atom_add_i32, 0);
    check_op("add.f16x2", PTXI_OP_add_f16x2, 0);
    check_op("cvt.s32.s16", PTXI_OP_NONE, 0); /* by a rule only */
}
END_TEST

START_TEST(qualifiers_are_a_set)
{
    check_op("add.f32.ftz.rz", PTXI_OP_add_f32_ftz_x, PTXI_RZ << PTXI_MOD_RND_SHIFT | PTXI_MOD_FTZ);
    check_op("prmt.f4e.b32", PTXI_OP_prmt_f4e, 0);
    check_op("vote.ballot.sync.b32", PTXI_OP_vote_ballot, 0);
}
END_TEST

START_TEST(types_and_spaces_are_ordered)
{
    struct ptxi_match to, from;

    ck_assert_uint_eq(match("cvt.rzi.f32.s32", &to), 0);
    ck_assert_uint_gt(match("cvt.s16.u32", &to), 0);
    ck_assert_uint_eq(ptxi_isa_slot(&to, "D"), PTXI_T_s16);
    ck_assert_uint_eq(ptxi_isa_slot(&to, "S"), PTXI_T_u32);
    ck_assert_uint_gt(match("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", &to), 0);
    ck_assert_uint_gt(match("cp.async.bulk.global.shared::cta.bulk_group", &from), 0);
    ck_assert_ptr_ne(to.row, from.row);
    ck_assert_uint_eq(match("cp.async.bulk.shared::cta.global.bulk_group", &from), 0);
}
END_TEST

START_TEST(unknown_qualifiers_are_refused)
{
    static const char *const bad[] = { "add", "add.b32", "add.sat.u64", "add.rni.f32", "add.s32.s32", "mul.u32",
                                       "div.f32", "setp.lo.s32", "cvt.sat.s64.s32",
                                       "ld.v4.b64.ca.cg", "ld.volatile.const.b32", "st.const.b32", "shl.s32",
                                       "nothing.b32" };
    struct ptxi_match m;

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(match(bad[i], &m) == 0, "%s", bad[i]);
}
END_TEST

/* Returns what the last fitting row requires, or NULL if all requirements of a row are met. */
static const struct ptxi_need *unmet_need(const char *spelling, unsigned version, unsigned sm, char suffix,
                                          struct ptxi_need *storage)
{
    struct ptxi_match m[8];
    unsigned n = match_all(spelling, m);
    const struct ptxi_need *need = NULL;

    ck_assert_msg(n > 0, "%s", spelling);
    for (unsigned i = 0; i < n; i++)
        if (!(need = ptxi_isa_unmet_need(&m[i], version, (struct ptxi_target){ (uint16_t)sm, suffix }, storage)))
            return NULL;
    return need;
}

START_TEST(versions_and_targets_are_required)
{
    struct ptxi_need storage;
    const struct ptxi_need *n;

    ck_assert_ptr_null(unmet_need("add.u16x2", 80, 90, 0, &storage));
    n = unmet_need("add.u16x2", 80, 89, 0, &storage);
    ck_assert_ptr_nonnull(n);
    ck_assert_uint_eq(n->word, PTXI_NO_WORD);
    ck_assert_uint_eq(n->targets[0].sm, 90);
    ck_assert_ptr_nonnull(unmet_need("add.u16x2", 78, 90, 0, &storage));
    n = unmet_need("ld.relaxed.cluster.global.b32", 78, 80, 0, &storage);
    ck_assert_ptr_nonnull(n);
    ck_assert_str_eq(ptxi_words[n->word], "cluster");
    ck_assert_ptr_null(unmet_need("ld.relaxed.gpu.global.b32", 78, 80, 0, &storage));
    /* PTX 6.4 removed it for sm_70 and newer */
    ck_assert_ptr_null(unmet_need("vote.all.pred", 63, 70, 0, &storage));
    ck_assert_ptr_nonnull(unmet_need("vote.all.pred", 64, 70, 0, &storage));
    ck_assert_ptr_null(unmet_need("vote.all.pred", 64, 61, 0, &storage));
}
END_TEST

START_TEST(architectures_and_families)
{
    struct ptxi_need storage;

    ck_assert_ptr_null(unmet_need("redux.sync.min.f32", 86, 100, 'a', &storage));
    ck_assert_ptr_nonnull(unmet_need("redux.sync.min.f32", 90, 100, 0, &storage));
    ck_assert_ptr_null(unmet_need("redux.sync.min.f32", 88, 103, 'a', &storage));
    ck_assert_ptr_null(unmet_need("redux.sync.min.f32", 88, 103, 'f', &storage));
    ck_assert_ptr_nonnull(unmet_need("redux.sync.min.f32", 90, 120, 'a', &storage));
    /* sm_101 is sm_110, which belongs to another family than sm_100 */
    ck_assert_ptr_null(unmet_need("setmaxnreg.inc.sync.aligned.u32", 86, 101, 'a', &storage));
    ck_assert_ptr_null(unmet_need("setmaxnreg.inc.sync.aligned.u32", 90, 110, 'a', &storage));
    ck_assert_ptr_nonnull(unmet_need("redux.sync.min.f32", 90, 101, 'a', &storage));
}
END_TEST

START_TEST(similar_names_are_found)
{
    for (unsigned w = 0; w < ptxi_word_count; w++)
        ck_assert_uint_eq(ptxi_isa_word(ptxi_words[w], strlen(ptxi_words[w])), w);
    for (unsigned f = 0; f < ptxi_family_count; f++) {
        const char *name = ptxi_families[f].mnemonic;

        ck_assert_ptr_eq(ptxi_isa_family(name, strlen(name)), &ptxi_families[f]);
        for (unsigned i = 0; i < ptxi_families[f].count; i++) {
            ck_assert_str_eq(ptxi_rows[ptxi_families[f].first + i].mnemonic, name);
            ck_assert_uint_eq(ptxi_rows[ptxi_families[f].first + i].family, f);
        }
    }
    ck_assert_ptr_null(ptxi_isa_family("ad", 2));
    ck_assert_ptr_null(ptxi_isa_family("addd", 4));
    ck_assert_uint_eq(ptxi_isa_word("s3", 2), PTXI_NO_WORD);
    ck_assert_uint_eq(ptxi_isa_word("s322", 3), PTXI_T_s32);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa");
    TCase *t = tcase_create("isa");

    tcase_add_test(t, forms_have_their_operations);
    tcase_add_test(t, qualifiers_are_a_set);
    tcase_add_test(t, types_and_spaces_are_ordered);
    tcase_add_test(t, unknown_qualifiers_are_refused);
    tcase_add_test(t, versions_and_targets_are_required);
    tcase_add_test(t, architectures_and_families);
    tcase_add_test(t, similar_names_are_found);
    suite_add_tcase(s, t);
    return run_suite(s);
}
