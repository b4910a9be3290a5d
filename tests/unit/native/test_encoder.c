/* Compares encoded instructions with what objdump reads. The host need not have the instructions. */
#include "unit/support/bits.h"

#include <string.h>
#include <unistd.h>

#include "native/encoder.h"

#define R ptxi_x86_reg
#define M ptxi_x86_at

static const char *const general_texts[] = {
    "mov rax,QWORD PTR [rbx+0x10]", "mov DWORD PTR [r12+0x200],r9d", "mov DWORD PTR [rbp+0x0],0xffffffff",
    "mov ecx,0x12345678", "movabs r10,0x123456789abcdef0", "add rdx,QWORD PTR [r13+0x0]", "cmp rax,rcx",
    "sub rcx,0x80", "cmp DWORD PTR [rbx+0x8],0xffffffff", "test eax,eax", "test DWORD PTR [rbp+0x40],0x3",
    "cmp BYTE PTR [rbp+0xd],0x0", "not eax", "shl ecx,0x8", "shr rdx,0x1", "imul rax,rcx", "movsxd rax,eax",
    "lea rcx,[rax+0x80]",
    "push r12", "pop rbp", "call rax", "jmp rdx", "mov rsi,rbx",
    "mov eax,DWORD PTR [rax+r14*1+0x40]", "prefetcht0 BYTE PTR [rax+rcx*1+0x0]", "ret",
    "movzx ecx,BYTE PTR [rbp+0x11]", "movzx ecx,WORD PTR [rbp+0x12]", "mov BYTE PTR [rax+r14*1+0x3],cl",
    "mov WORD PTR [rax+0x4],cx", "mov BYTE PTR [rsp+0x2],0x1", "shlx rax,rcx,rdx", "tzcnt edx,ecx",
    "movsx ecx,BYTE PTR [rbp+rdx*2+0x11]", "movsx ecx,WORD PTR [rax+r14*8+0x200]",
    "popcnt ecx,eax", "div rcx",
};

static void encode_general(struct ptxi_x86 *x)
{
    ptxi_x86_load(x, 64, PTXI_RAX, M(PTXI_RBX, 16));
    ptxi_x86_store(x, 32, M(PTXI_R12, 512), PTXI_R9);
    ptxi_x86_store_imm(x, 32, M(PTXI_RBP, 0), -1);
    ptxi_x86_imm(x, PTXI_RCX, 0x12345678);
    ptxi_x86_imm(x, PTXI_R10, 0x123456789abcdef0);
    ptxi_x86_alu(x, PTXI_ADD, 64, PTXI_RDX, M(PTXI_R13, 0));
    ptxi_x86_alu(x, PTXI_CMP, 64, PTXI_RAX, R(PTXI_RCX));
    ptxi_x86_alu_imm(x, PTXI_SUB, 64, R(PTXI_RCX), 128);
    ptxi_x86_alu_imm(x, PTXI_CMP, 32, M(PTXI_RBX, 8), -1);
    ptxi_x86_test(x, 32, PTXI_RAX, PTXI_RAX);
    ptxi_x86_test_imm(x, M(PTXI_RBP, 64), 3);
    ptxi_x86_cmp_byte(x, M(PTXI_RBP, 13), 0);
    ptxi_x86_not(x, PTXI_RAX);
    ptxi_x86_shl(x, 32, PTXI_RCX, 8);
    ptxi_x86_shr(x, 64, PTXI_RDX, 1);
    ptxi_x86_imul(x, PTXI_RAX, R(PTXI_RCX));
    ptxi_x86_movsxd(x, PTXI_RAX, R(PTXI_RAX));
    ptxi_x86_lea(x, 64, PTXI_RCX, M(PTXI_RAX, 128));
    ptxi_x86_push(x, PTXI_R12);
    ptxi_x86_pop(x, PTXI_RBP);
    ptxi_x86_call(x, PTXI_RAX);
    ptxi_x86_jump_reg(x, PTXI_RDX);
    ptxi_x86_load(x, 64, PTXI_RSI, R(PTXI_RBX));
    ptxi_x86_load(x, 32, PTXI_RAX, ptxi_x86_indexed(PTXI_RAX, PTXI_R14, 64));
    ptxi_x86_prefetch(x, ptxi_x86_indexed(PTXI_RAX, PTXI_RCX, 0));
    ptxi_x86_ret(x);
    ptxi_x86_load_part(x, 8, PTXI_RCX, M(PTXI_RBP, 17));
    ptxi_x86_load_part(x, 16, PTXI_RCX, M(PTXI_RBP, 18));
    ptxi_x86_store_part(x, 8, ptxi_x86_indexed(PTXI_RAX, PTXI_R14, 3), PTXI_RCX);
    ptxi_x86_store_part(x, 16, M(PTXI_RAX, 4), PTXI_RCX);
    ptxi_x86_store_byte(x, M(PTXI_RSP, 2), 1);
    ptxi_x86_shlx(x, PTXI_RAX, PTXI_RCX, PTXI_RDX);
    ptxi_x86_tzcnt(x, PTXI_RDX, PTXI_RCX);
    ptxi_x86_load_signed_part(x, 8, PTXI_RCX, ptxi_x86_scaled(PTXI_RBP, PTXI_RDX, 1, 17));
    ptxi_x86_load_signed_part(x, 16, PTXI_RCX, ptxi_x86_scaled(PTXI_RAX, PTXI_R14, 3, 512));
    ptxi_x86_popcnt(x, PTXI_RCX, PTXI_RAX);
    ptxi_x86_div(x, PTXI_RCX);
}

/* Vector instructions: the name for 256 and for 512 bits, and the operands: `r` reg, `v` first, `m` the last one. */
static const struct {
    uint32_t op;
    const char *narrow, *wide; /* NULL: none */
    bool unary;
} vectors[] = {
    { PTXI_V_MOV, "vmovdqa", "vmovdqa32", true }, { PTXI_V_MOVU, "vmovdqu", "vmovdqu32", true },
    { PTXI_V_ADDPS, "vaddps", "vaddps", false }, { PTXI_V_ADDPD, "vaddpd", "vaddpd", false },
    { PTXI_V_MULPS, "vmulps", "vmulps", false }, { PTXI_V_MULPD, "vmulpd", "vmulpd", false },
    { PTXI_V_SUBPS, "vsubps", "vsubps", false }, { PTXI_V_SUBPD, "vsubpd", "vsubpd", false },
    { PTXI_V_DIVPS, "vdivps", "vdivps", false }, { PTXI_V_DIVPD, "vdivpd", "vdivpd", false },
    { PTXI_V_MINPS, "vminps", "vminps", false }, { PTXI_V_MAXPS, "vmaxps", "vmaxps", false },
    { PTXI_V_SQRTPS, "vsqrtps", "vsqrtps", true },
    { PTXI_V_FMADD231PS, "vfmadd231ps", "vfmadd231ps", false },
    { PTXI_V_FMADD231PD, "vfmadd231pd", "vfmadd231pd", false },
    { PTXI_V_PADDD, "vpaddd", "vpaddd", false }, { PTXI_V_PADDQ, "vpaddq", "vpaddq", false },
    { PTXI_V_PSUBD, "vpsubd", "vpsubd", false }, { PTXI_V_PSUBQ, "vpsubq", "vpsubq", false },
    { PTXI_V_PMULLD, "vpmulld", "vpmulld", false }, { PTXI_V_PMULDQ, "vpmuldq", "vpmuldq", false },
    { PTXI_V_PMULLQ, NULL, "vpmullq", false },
    { PTXI_V_PMULUDQ, "vpmuludq", "vpmuludq", false },
    { PTXI_V_PAND, "vpand", "vpandd", false }, { PTXI_V_POR, "vpor", "vpord", false },
    { PTXI_V_PXOR, "vpxor", "vpxord", false },
    { PTXI_V_PSLLVD, "vpsllvd", "vpsllvd", false }, { PTXI_V_PSLLVQ, "vpsllvq", "vpsllvq", false },
    { PTXI_V_PSRLVD, "vpsrlvd", "vpsrlvd", false }, { PTXI_V_PSRLVQ, "vpsrlvq", "vpsrlvq", false },
    { PTXI_V_PSRAVD, "vpsravd", "vpsravd", false },
    { PTXI_V_PMINSD, "vpminsd", "vpminsd", false }, { PTXI_V_PMINUD, "vpminud", "vpminud", false },
    { PTXI_V_PMAXSD, "vpmaxsd", "vpmaxsd", false }, { PTXI_V_PMAXUD, "vpmaxud", "vpmaxud", false },
    { PTXI_V_PABSD, "vpabsd", "vpabsd", true },
    { PTXI_V_PCMPEQD, "vpcmpeqd", NULL, false }, { PTXI_V_PCMPGTD, "vpcmpgtd", NULL, false },
    { PTXI_V_CVTDQ2PS, "vcvtdq2ps", "vcvtdq2ps", true },
    { PTXI_V_PCMPEQQ, "vpcmpeqq", NULL, false }, { PTXI_V_PCMPGTQ, "vpcmpgtq", NULL, false },
    { PTXI_V_UNPCKLPS, "vunpcklps", "vunpcklps", false }, { PTXI_V_UNPCKHPS, "vunpckhps", "vunpckhps", false },
    { PTXI_V_UNPCKLPD, "vunpcklpd", "vunpcklpd", false }, { PTXI_V_UNPCKHPD, "vunpckhpd", "vunpckhpd", false },
    { PTXI_V_PACKUSDW, "vpackusdw", "vpackusdw", false },
};

enum { VECTORS = sizeof vectors / sizeof *vectors };

/* Instructions with other forms of operands. */
static const char *const narrow_texts[] = {
    "vmovdqa YMMWORD PTR [rbp+0x40],ymm3", "vmovdqu YMMWORD PTR [rax+r14*1+0x100],ymm9",
    "vpbroadcastd ymm8,xmm1", "vpbroadcastd ymm1,DWORD PTR [rbp+0x80]",
    "vpmovsxdq ymm2,XMMWORD PTR [rbp+0x10]", "vpmovzxdq ymm10,xmm11",
    "vcmpunordps ymm1,ymm9,ymm10", "vcmpltpd ymm1,ymm2,YMMWORD PTR [rbp+0x40]",
    "vshufps ymm1,ymm2,ymm3,0x88", "vpermq ymm1,ymm1,0xd8", "vmovmskps ecx,ymm9", "vmovmskpd eax,ymm1",
    "vpblendvb ymm1,ymm2,ymm3,ymm12", "vmovd xmm9,eax", "vmovd eax,xmm9", "vzeroupper", "vptest ymm9,ymm15",
    "vpermd ymm3,ymm10,ymm12", "vpblendd ymm1,ymm9,ymm3,0xf0",
    "vpgatherdd ymm8,DWORD PTR [rdx+ymm3*1+0x0],ymm15", "vpgatherdq ymm9,QWORD PTR [rdx+xmm14*1+0x0],ymm15",
    "vpgatherqd xmm8,DWORD PTR [rcx+ymm4*1+0x40],xmm15", "vpgatherqq ymm8,QWORD PTR [rcx+ymm7*1-0x8],ymm15",
    "vinserti128 ymm8,ymm8,xmm14,0x1", "vextracti128 xmm14,ymm3,0x1", "vmovq xmm8,rax", "vmovq rax,xmm8",
    "vmovq QWORD PTR [rax+r14*1+0x8],xmm8", "vmovhps QWORD PTR [rax+0x8],xmm9", "vmovdqu xmm1,XMMWORD PTR [rax+0x10]",
    "vpmaskmovd YMMWORD PTR [rax+r14*1+0x20],ymm15,ymm9", "vpmaskmovq YMMWORD PTR [rbp+0x20],ymm10,ymm1",
    "vpsllq ymm9,ymm3,0x20", "vpsrlq ymm2,ymm12,0x21",
    "vmovd xmm3,DWORD PTR [rbp+rdx*4+0x100]", "vmovd DWORD PTR [rbp+rdx*4+0x100],xmm11", "vucomiss xmm3,xmm3",
    "vucomisd xmm9,xmm9", "vpslld ymm9,ymm3,0x7", "vpsrld ymm2,ymm12,0x1f",
};

static void encode_narrow(struct ptxi_x86 *x)
{
    ptxi_x86_vector(x, PTXI_V_MOV_TO, 3, 0, M(PTXI_RBP, 64));
    ptxi_x86_vector(x, PTXI_V_MOVU_TO, 9, 0, ptxi_x86_indexed(PTXI_RAX, PTXI_R14, 256));
    ptxi_x86_vector(x, PTXI_V_BROADCASTD, 8, 0, R(1));
    ptxi_x86_vector(x, PTXI_V_BROADCASTD, 1, 0, M(PTXI_RBP, 128));
    ptxi_x86_vector(x, PTXI_V_PMOVSXDQ, 2, 0, M(PTXI_RBP, 16));
    ptxi_x86_vector(x, PTXI_V_PMOVZXDQ, 10, 0, R(11));
    ptxi_x86_vector_imm(x, PTXI_V_CMPPS, 1, 9, R(10), 3);
    ptxi_x86_vector_imm(x, PTXI_V_CMPPD, 1, 2, M(PTXI_RBP, 64), 1);
    ptxi_x86_vector_imm(x, PTXI_V_SHUFPS, 1, 2, R(3), 0x88);
    ptxi_x86_vector_imm(x, PTXI_V_PERMQ, 1, 0, R(1), 0xd8);
    ptxi_x86_vector(x, PTXI_V_MOVMSKPS, PTXI_RCX, 0, R(9));
    ptxi_x86_vector(x, PTXI_V_MOVMSKPD, PTXI_RAX, 0, R(1));
    ptxi_x86_vector_imm(x, PTXI_V_BLENDVB, 1, 2, R(3), 12 << 4);
    ptxi_x86_vmovd(x, 9, PTXI_RAX);
    ptxi_x86_vmovd_from(x, PTXI_RAX, 9);
    ptxi_x86_vzeroupper(x);
    ptxi_x86_vector(x, PTXI_V_PTEST, 9, 0, R(15));
    ptxi_x86_vector(x, PTXI_V_PERMD, 3, 10, R(12));
    ptxi_x86_vector_imm(x, PTXI_V_BLENDD, 1, 9, R(3), 0xf0);
    ptxi_x86_gather(x, PTXI_V_GATHERDD, 8, PTXI_RDX, 3, 0, 15);
    ptxi_x86_gather(x, PTXI_V_GATHERDQ, 9, PTXI_RDX, 14, 0, 15);
    ptxi_x86_gather(x, PTXI_V_GATHERQD, 8, PTXI_RCX, 4, 64, 15);
    ptxi_x86_gather(x, PTXI_V_GATHERQQ, 8, PTXI_RCX, 7, -8, 15);
    ptxi_x86_vector_imm(x, PTXI_V_INSERT_128, 8, 8, R(14), 1);
    ptxi_x86_vector_imm(x, PTXI_V_EXTRACT_128, 3, 0, R(14), 1);
    ptxi_x86_vector_128(x, PTXI_V_MOVQ, 8, 0, R(PTXI_RAX));
    ptxi_x86_vector_128(x, PTXI_V_MOVQ_TO, 8, 0, R(PTXI_RAX));
    ptxi_x86_vector_128(x, PTXI_V_MOVQ_TO, 8, 0, ptxi_x86_indexed(PTXI_RAX, PTXI_R14, 8));
    ptxi_x86_vector_128(x, PTXI_V_MOVHPS_TO, 9, 0, M(PTXI_RAX, 8));
    ptxi_x86_vector_128(x, PTXI_V_MOVU, 1, 0, M(PTXI_RAX, 16));
    ptxi_x86_vector(x, PTXI_V_PMASKMOVD_TO, 9, 15, ptxi_x86_indexed(PTXI_RAX, PTXI_R14, 32));
    ptxi_x86_vector(x, PTXI_V_PMASKMOVQ_TO, 1, 10, M(PTXI_RBP, 32));
    ptxi_x86_vector_imm(x, PTXI_V_SHIFT_IMM_Q, PTXI_SHIFT_LEFT, 9, R(3), 32);
    ptxi_x86_vector_imm(x, PTXI_V_SHIFT_IMM_Q, PTXI_SHIFT_RIGHT, 2, R(12), 33);
    ptxi_x86_vector_128(x, PTXI_V_MOVD, 3, 0, ptxi_x86_scaled(PTXI_RBP, PTXI_RDX, 2, 256));
    ptxi_x86_vector_128(x, PTXI_V_MOVD_TO, 11, 0, ptxi_x86_scaled(PTXI_RBP, PTXI_RDX, 2, 256));
    ptxi_x86_vector_128(x, PTXI_V_UCOMISS, 3, 0, R(3));
    ptxi_x86_vector_128(x, PTXI_V_UCOMISD, 9, 0, R(9));
    ptxi_x86_vector_imm(x, PTXI_V_SHIFT_IMM_D, PTXI_SHIFT_LEFT, 9, R(3), 7);
    ptxi_x86_vector_imm(x, PTXI_V_SHIFT_IMM_D, PTXI_SHIFT_RIGHT, 2, R(12), 31);
}

static const char *const wide_texts[] = {
    "vmovdqa32 ZMMWORD PTR [rbp+0x40],zmm19", "vmovdqu32 ZMMWORD PTR [rax+r14*1+0x100],zmm9",
    "vpbroadcastd zmm28,xmm1", "vpbroadcastd zmm1,DWORD PTR [rbp+0x80]",
    "vpmovsxdq zmm18,YMMWORD PTR [rbp+0x20]", "vpmovzxdq zmm10,ymm27",
    "vcmpordps k1,zmm25,zmm10", "vcmpunordps k1{k1},zmm9,zmm26", "vcmpltpd k1,zmm2,ZMMWORD PTR [rbp+0x40]",
    "vpcmpltd k1,zmm17,zmm3", "vpcmpnltud k1{k1},zmm1,zmm31", "vpblendmd zmm20{k1},zmm2,zmm3",
    "vpblendmq zmm0{k1},zmm22,ZMMWORD PTR [rbp+0x80]", "vmovdqa32 zmm17{k1},zmm18", "vpmovqd ymm4,zmm30",
    "vinserti64x4 zmm1,zmm1,ymm21,0x1", "kmovw k1,WORD PTR [rbp+0x42]", "kmovb k1,BYTE PTR [rbp+0x43]", "kmovw ecx,k1",
    "kortestw k1,k1", "vpermd zmm19,zmm2,zmm31", "vpermd zmm3{k1},zmm20,zmm4", "kmovw k1,eax",
    "vpgatherdd zmm8{k1},DWORD PTR [rdx+zmm3*1+0x0]", "vpgatherdq zmm9{k1},QWORD PTR [rdx+ymm14*1+0x0]",
    "vpgatherqd ymm8{k1},DWORD PTR [rcx+zmm4*1+0x40]", "vpgatherqq zmm8{k1},QWORD PTR [rcx+zmm7*1-0x8]",
    "vpscatterdd DWORD PTR [rdx+zmm3*1+0x0]{k1},zmm8", "vpscatterdq QWORD PTR [rdx+ymm14*1+0x0]{k1},zmm9",
    "vpscatterqd DWORD PTR [rcx+zmm4*1+0x40]{k1},ymm8", "vpscatterqq QWORD PTR [rcx+zmm7*1+0x8]{k1},zmm8",
    "vextracti64x4 ymm14,zmm3,0x1", "vpmovdw ymm8,zmm2", "vptestmd k1,zmm11,zmm8", "vpcmpleuq k1{k1},zmm12,zmm9",
    "vpcmpeqq k1,zmm8,zmm3", "vpslld zmm19,zmm30,0x7", "vprold zmm20,zmm3,0xf", "vprolvd zmm3,zmm20,zmm9",
    "vprorvd zmm3,zmm2,ZMMWORD PTR [rbp+0x40]", "vpexpandq zmm3{k1},zmm20", "valignq zmm4,zmm19,zmm3,0x7",
    "valignq zmm1,zmm2,ZMMWORD PTR [rbp+0x40],0x7",
};

static void encode_wide(struct ptxi_x86 *x)
{
    ptxi_x86_vector(x, PTXI_V_MOV_TO, 19, 0, M(PTXI_RBP, 64));
    ptxi_x86_vector(x, PTXI_V_MOVU_TO, 9, 0, ptxi_x86_indexed(PTXI_RAX, PTXI_R14, 256));
    ptxi_x86_vector(x, PTXI_V_BROADCASTD, 28, 0, R(1));
    ptxi_x86_vector(x, PTXI_V_BROADCASTD, 1, 0, M(PTXI_RBP, 128));
    ptxi_x86_vector(x, PTXI_V_PMOVSXDQ, 18, 0, M(PTXI_RBP, 32));
    ptxi_x86_vector(x, PTXI_V_PMOVZXDQ, 10, 0, R(27));
    ptxi_x86_vector_masked(x, PTXI_V_CMPPS, 1, 25, R(10), 7, 0);
    ptxi_x86_vector_masked(x, PTXI_V_CMPPS, 1, 9, R(26), 3, 1);
    ptxi_x86_vector_masked(x, PTXI_V_CMPPD, 1, 2, M(PTXI_RBP, 64), 1, 0);
    ptxi_x86_vector_masked(x, PTXI_V_PCMPD, 1, 17, R(3), 1, 0);
    ptxi_x86_vector_masked(x, PTXI_V_PCMPUD, 1, 1, R(31), 5, 1);
    ptxi_x86_vector_masked(x, PTXI_V_BLENDMD, 20, 2, R(3), -1, 1);
    ptxi_x86_vector_masked(x, PTXI_V_BLENDMQ, 0, 22, M(PTXI_RBP, 128), -1, 1);
    ptxi_x86_vector_masked(x, PTXI_V_MOV, 17, 0, R(18), -1, 1);
    ptxi_x86_vector(x, PTXI_V_PMOVQD_TO, 30, 0, R(4));
    ptxi_x86_vector_imm(x, PTXI_V_INSERT_HALF, 1, 1, R(21), 1);
    ptxi_x86_kmovw_load(x, 1, M(PTXI_RBP, 66));
    ptxi_x86_kmovb_load(x, 1, M(PTXI_RBP, 67));
    ptxi_x86_kmovw_from(x, PTXI_RCX, 1);
    ptxi_x86_kortestw(x, 1);
    ptxi_x86_vector(x, PTXI_V_PERMD, 19, 2, R(31));
    ptxi_x86_vector_masked(x, PTXI_V_PERMD, 3, 20, R(4), -1, 1);
    ptxi_x86_kmovw_to(x, 1, PTXI_RAX);
    ptxi_x86_gather(x, PTXI_V_GATHERDD, 8, PTXI_RDX, 3, 0, 1);
    ptxi_x86_gather(x, PTXI_V_GATHERDQ, 9, PTXI_RDX, 14, 0, 1);
    ptxi_x86_gather(x, PTXI_V_GATHERQD, 8, PTXI_RCX, 4, 64, 1);
    ptxi_x86_gather(x, PTXI_V_GATHERQQ, 8, PTXI_RCX, 7, -8, 1);
    ptxi_x86_gather(x, PTXI_V_SCATTERDD, 8, PTXI_RDX, 3, 0, 1);
    ptxi_x86_gather(x, PTXI_V_SCATTERDQ, 9, PTXI_RDX, 14, 0, 1);
    ptxi_x86_gather(x, PTXI_V_SCATTERQD, 8, PTXI_RCX, 4, 64, 1);
    ptxi_x86_gather(x, PTXI_V_SCATTERQQ, 8, PTXI_RCX, 7, 8, 1);
    ptxi_x86_vector_imm(x, PTXI_V_EXTRACT_HALF, 3, 0, R(14), 1);
    ptxi_x86_vector(x, PTXI_V_PMOVDW_TO, 2, 0, R(8));
    ptxi_x86_vector_masked(x, PTXI_V_TESTMD, 1, 11, R(8), -1, 0);
    ptxi_x86_vector_masked(x, PTXI_V_PCMPUQ, 1, 12, R(9), 2, 1);
    ptxi_x86_vector_masked(x, PTXI_V_PCMPQ, 1, 8, R(3), 0, 0);
    ptxi_x86_vector_imm(x, PTXI_V_SHIFT_IMM_D, PTXI_SHIFT_LEFT, 19, R(30), 7);
    ptxi_x86_vector_imm(x, PTXI_V_SHIFT_IMM_D, PTXI_ROTATE_LEFT, 20, R(3), 15);
    ptxi_x86_vector(x, PTXI_V_PROLVD, 3, 20, R(9));
    ptxi_x86_vector(x, PTXI_V_PRORVD, 3, 2, M(PTXI_RBP, 64));
    ptxi_x86_vector_masked(x, PTXI_V_PEXPANDQ, 3, 0, R(20), -1, 1);
    ptxi_x86_vector_imm(x, PTXI_V_ALIGNQ, 4, 19, R(3), 7);
    ptxi_x86_vector_imm(x, PTXI_V_ALIGNQ, 1, 2, M(PTXI_RBP, 64), 7);
}

/* --- objdump --- */

/* The text of a line of objdump: the third column, without a comment and with single spaces. False: it has none. */
static bool read_line(char *line, char *text, size_t size)
{
    char *column = strchr(line, '\t'), *to = text;

    column = column ? strchr(column + 1, '\t') : NULL;
    if (!column)
        return false;
    for (column++; *column && *column != '\n' && *column != '#' && to < text + size - 1; column++)
        if (*column != ' ' || (to > text && to[-1] != ' '))
            *to++ = *column;
    while (to > text && to[-1] == ' ')
        to--;
    *to = 0;
    return *text;
}

typedef void found(void *user, unsigned k, const char *text);

/* Calls next() for each instruction that objdump finds in the code. Returns their number. */
static unsigned disassemble(const struct ptxi_x86 *x, found *next, void *user)
{
    char path[] = "/tmp/ptxi-encoder-XXXXXX", command[200], line[400], text[400];
    int file = mkstemp(path);
    unsigned count = 0;
    FILE *out;

    ck_assert(file >= 0 && !x->oom);
    ck_assert_int_eq(write(file, x->bytes, x->size), x->size);
    close(file);
    snprintf(command, sizeof command, "objdump -D -z -w -b binary -m i386:x86-64 -M intel %s", path);
    out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    while (fgets(line, sizeof line, out))
        if (read_line(line, text, sizeof text))
            next(user, count++, text);
    ck_assert_int_eq(pclose(out), 0);
    unlink(path);
    return count;
}

static void expect_text(void *user, unsigned k, const char *text)
{
    const char *const *texts = user;

    ck_assert_str_eq(text, texts[k]);
}

static void check_texts(bool wide, void (*encode)(struct ptxi_x86 *), const char *const *texts, unsigned count)
{
    struct ptxi_x86 x = { .wide = wide };

    encode(&x);
    ck_assert_uint_eq(disassemble(&x, expect_text, (void *)texts), count);
    free(x.bytes);
}

START_TEST(general_instructions)
{
    check_texts(false, encode_general, general_texts, sizeof general_texts / sizeof *general_texts);
}
END_TEST

START_TEST(narrow_instructions)
{
    check_texts(false, encode_narrow, narrow_texts, sizeof narrow_texts / sizeof *narrow_texts);
}
END_TEST

START_TEST(wide_instructions)
{
    check_texts(true, encode_wide, wide_texts, sizeof wide_texts / sizeof *wide_texts);
}
END_TEST

/* All registers, and memory at short and long distances. */
struct operands {
    unsigned reg, first, last;
    int32_t disp;
};

static struct operands operands(unsigned k, bool wide)
{
    const unsigned mask = wide ? 31 : 15;
    static const int32_t disps[] = { 0, 64, -64, 127, 128, 100000 };

    return (struct operands){ k * 7 & mask, (k * 11 + 3) & mask, (k * 13 + 5) & mask, disps[k % 6] };
}

enum { FORMS = 96 }; /* of each instruction; each third one has a memory operand */

struct vector_test {
    bool wide;
    unsigned index[VECTORS * FORMS], form[VECTORS * FORMS];
};

static void name_memory(char *text, size_t size, bool wide, int32_t disp)
{
    snprintf(text, size, "%sMMWORD PTR [r12%c0x%x]", wide ? "Z" : "Y", disp < 0 ? '-' : '+',
             (unsigned)(disp < 0 ? -disp : disp));
}

static void expect_vector(void *user, unsigned k, const char *text)
{
    const struct vector_test *t = user;
    const unsigned v = t->index[k];
    const struct operands o = operands(t->form[k], t->wide);
    const char letter = t->wide ? 'z' : 'y';
    char want[200], last[100], first[20] = "";

    snprintf(last, sizeof last, "%cmm%u", letter, o.last);
    if (t->form[k] % 3 == 0)
        name_memory(last, sizeof last, t->wide, o.disp);
    if (!vectors[v].unary)
        snprintf(first, sizeof first, "%cmm%u,", letter, o.first);
    snprintf(want, sizeof want, "%s %cmm%u,%s%s", t->wide ? vectors[v].wide : vectors[v].narrow, letter, o.reg, first,
             last);
    ck_assert_str_eq(text, want);
}

START_TEST(all_registers)
{
    static struct vector_test t;
    struct ptxi_x86 x = { .wide = _i };
    unsigned count = 0;

    t.wide = _i;
    for (unsigned v = 0; v < VECTORS; v++)
        for (unsigned form = 0; form < FORMS && (t.wide ? vectors[v].wide : vectors[v].narrow); form++) {
            const struct operands o = operands(form, t.wide);

            ptxi_x86_vector(&x, vectors[v].op, o.reg, vectors[v].unary ? 0 : o.first,
                            form % 3 ? R(o.last) : M(PTXI_R12, o.disp));
            t.index[count] = v;
            t.form[count++] = form;
        }
    ck_assert_uint_eq(disassemble(&x, expect_vector, &t), count);
    free(x.bytes);
}
END_TEST

/* Jumps, and memory relative to the code. */
START_TEST(distances)
{
    static const char *const texts[] = { "nop", "jmp 0x0", "je 0x14",
                                         "vaddps ymm1,ymm2,YMMWORD PTR [rip+0xffffffffffffffec]" };
    struct ptxi_x86 x = { 0 };
    uint32_t back, on;

    ptxi_x86_data(&x, "\x90", 1);
    back = ptxi_x86_jump(&x);
    ptxi_x86_patch(&x, back, 0);
    on = ptxi_x86_jump_if(&x, PTXI_E);
    ptxi_x86_vector(&x, PTXI_V_ADDPS, 1, 2, M(PTXI_RIP, 1));
    ptxi_x86_patch(&x, on, x.size - 1);
    ck_assert_uint_eq(x.size, 21);
    ck_assert_uint_eq(disassemble(&x, expect_text, (void *)texts), 4);
    free(x.bytes);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("encoder");
    TCase *tc = tcase_create("encoder");
    SRunner *sr = srunner_create(s);
    int failed;

    if (system("objdump --version >/dev/null 2>&1")) {
        puts("skipped: there is no objdump");
        return 77;
    }
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, general_instructions);
    tcase_add_test(tc, narrow_instructions);
    tcase_add_test(tc, wide_instructions);
    tcase_add_loop_test(tc, all_registers, 0, 2);
    tcase_add_test(tc, distances);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
