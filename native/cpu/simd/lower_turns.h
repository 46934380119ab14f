// Lower tiles of four vectors, one below the other, in assembly (AVX-512). GCC copies some of the 24 sums in each turn: 1.7 instructions for each
// multiplication; here 1.6, with those that fetch rows of B four terms ahead: beside a thread on the same core they come too late from the second-level cache
// otherwise. The first term is multiplied instead of added to zeros, and a tile begins while the one before is written, without a call between.
#pragma once
#include "tile.h"

namespace {

#if defined(OPSCOPE_ISA_avx512) && defined(__GNUC__)
#define OPSCOPE_LOWER_TURNS 1

// What the assembly reads and moves on, at these offsets in bytes; strides and steps, from tile to tile, in bytes as well. Each turn of eight terms fetches
// a line each of three of the rows of A that the next tile meets; the first turns of a tile also a row of C each, the next ones a row of the panel of B that follows.
struct Turns {
  const float* a;          // 0
  int64_t a_stride;        // 8
  const float* b;          // 16
  int64_t b_stride;        // 24, between rows, or between two packed panels
  int64_t a_step;          // 32
  const float* a_behind;   // 40, fetched by the last tile
  float* c;                // 48
  int64_t c_step;          // 56
  const float* c_behind;   // 64
  int64_t c_stride;        // 72
  const char* b_ahead;     // 80
  int64_t b_ahead_stride;  // 88
  int64_t with_c;          // 96, turns, one and more
  int64_t with_b;          // 104, turns
  int64_t others;          // 112, turns
  int64_t terms;           // 120, behind the last turn
  int64_t tiles;           // 128
  int64_t adds;            // 136, to what C has
};
constexpr int64_t TURN_TERMS = 8;

// Four vectors of a row of B times an element of A; `fetch`: a prefetch or nothing.
#define OPSCOPE_TURN_ROW(op, s0, s1, s2, s3, at, x, fetch) \
  "vbroadcastss " at ", %%zmm" #x "\n" fetch op " %%zmm0, %%zmm" #x ", %%zmm" #s0 "\n" op " %%zmm1, %%zmm" #x ", %%zmm" #s1 "\n" op " %%zmm2, %%zmm" #x ", %%zmm" #s2 "\n" op " %%zmm3, %%zmm" #x ", %%zmm" #s3 "\n"

// f0 to f3: prefetches. Term t of rows that lie `a_stride` apart, and of a group of rows.
#define OPSCOPE_TURN_ROWS_5(op, t, f0, f1, f2, f3) \
  OPSCOPE_TURN_ROW(op, 8, 9, 10, 11, "4*" #t "(%%rdi)", 4, f0) OPSCOPE_TURN_ROW(op, 12, 13, 14, 15, "4*" #t "(%%rdi,%%rax)", 5, f1) \
  OPSCOPE_TURN_ROW(op, 16, 17, 18, 19, "4*" #t "(%%rdi,%%rax,2)", 6, f2) OPSCOPE_TURN_ROW(op, 20, 21, 22, 23, "4*" #t "(%%rcx)", 7, f3) \
  OPSCOPE_TURN_ROW(op, 24, 25, 26, 27, "4*" #t "(%%rcx,%%rax)", 4, "")
#define OPSCOPE_TURN_ROWS_6(op, t, f0, f1, f2, f3) OPSCOPE_TURN_ROWS_5(op, t, f0, f1, f2, f3) OPSCOPE_TURN_ROW(op, 28, 29, 30, 31, "4*" #t "(%%rcx,%%rax,2)", 5, "")
#define OPSCOPE_TURN_GROUP(op, bytes, t, f0, f1, f2, f3) \
  OPSCOPE_TURN_ROW(op, 8, 9, 10, 11, #bytes "*" #t "(%%rdi)", 4, f0) OPSCOPE_TURN_ROW(op, 12, 13, 14, 15, #bytes "*" #t "+4(%%rdi)", 5, f1) \
  OPSCOPE_TURN_ROW(op, 16, 17, 18, 19, #bytes "*" #t "+8(%%rdi)", 6, f2) OPSCOPE_TURN_ROW(op, 20, 21, 22, 23, #bytes "*" #t "+12(%%rdi)", 7, f3) \
  OPSCOPE_TURN_ROW(op, 24, 25, 26, 27, #bytes "*" #t "+16(%%rdi)", 4, "")
#define OPSCOPE_TURN_GROUP_5(op, t, f0, f1, f2, f3) OPSCOPE_TURN_GROUP(op, 20, t, f0, f1, f2, f3)
#define OPSCOPE_TURN_GROUP_6(op, t, f0, f1, f2, f3) OPSCOPE_TURN_GROUP(op, 24, t, f0, f1, f2, f3) OPSCOPE_TURN_ROW(op, 28, 29, 30, 31, "24*" #t "+20(%%rdi)", 5, "")

// Row t of B: of two packed panels, and where it lies (`at`).
#define OPSCOPE_TURN_PAIR(t, at) "vmovups 128*" #t "(%%r8), %%zmm0\n vmovups 128*" #t "+64(%%r8), %%zmm1\n vmovups 128*" #t "(%%r8,%%r9), %%zmm2\n vmovups 128*" #t "+64(%%r8,%%r9), %%zmm3\n"
#define OPSCOPE_TURN_LIES(t, at) "vmovups " at ", %%zmm0\n vmovups 64" at ", %%zmm1\n vmovups 128" at ", %%zmm2\n vmovups 192" at ", %%zmm3\n"

// Vector v of the row four terms on, at `at` where it lies, or nothing.
#define OPSCOPE_TURN_AHEAD_NONE(t, at, v) ""
#define OPSCOPE_TURN_AHEAD_LIES(t, at, v) "prefetcht0 64*" #v at "\n"
#define OPSCOPE_TURN_AHEAD_PAIR(t, at, v) OPSCOPE_TURN_AHEAD_PAIR_##v(t)
#define OPSCOPE_TURN_AHEAD_PAIR_0(t) "prefetcht0 128*(" #t "+4)(%%r8)\n"
#define OPSCOPE_TURN_AHEAD_PAIR_1(t) "prefetcht0 128*(" #t "+4)+64(%%r8)\n"
#define OPSCOPE_TURN_AHEAD_PAIR_2(t) "prefetcht0 128*(" #t "+4)(%%r8,%%r9)\n"
#define OPSCOPE_TURN_AHEAD_PAIR_3(t) "prefetcht0 128*(" #t "+4)+64(%%r8,%%r9)\n"
#define OPSCOPE_TURN_TERM(op, A, B, F, t, at, ahead) B(t, at) A(op, t, F(t, ahead, 0), F(t, ahead, 1), F(t, ahead, 2), F(t, ahead, 3))
#define OPSCOPE_TURN_NEXT(A, B, F, t, at, ahead) OPSCOPE_TURN_TERM("vfmadd231ps", A, B, F, t, at, ahead)
// Rows of B: r9 apart, the first at r8, the fourth at r10; r11 and r13: three and five times r9.
#define OPSCOPE_TURN_FIRST(op, A, B, F) OPSCOPE_TURN_TERM(op, A, B, F, 0, "(%%r8)", "(%%r8,%%r9,4)")
#define OPSCOPE_TURN_OTHERS(A, B, F) \
  OPSCOPE_TURN_NEXT(A, B, F, 1, "(%%r8,%%r9)", "(%%r10,%%r9,2)") OPSCOPE_TURN_NEXT(A, B, F, 2, "(%%r8,%%r9,2)", "(%%r10,%%r11)") \
  OPSCOPE_TURN_NEXT(A, B, F, 3, "(%%r10)", "(%%r10,%%r9,4)") OPSCOPE_TURN_NEXT(A, B, F, 4, "(%%r8,%%r9,4)", "(%%r8,%%r9,8)") \
  OPSCOPE_TURN_NEXT(A, B, F, 5, "(%%r10,%%r9,2)", "(%%r10,%%r11,2)") OPSCOPE_TURN_NEXT(A, B, F, 6, "(%%r10,%%r11)", "(%%r8,%%r13,2)") \
  OPSCOPE_TURN_NEXT(A, B, F, 7, "(%%r10,%%r9,4)", "(%%r10,%%r9,8)")

// `terms` terms on.
#define OPSCOPE_TURN_PAST_ROWS_5(terms) "add $4*" #terms ", %%rdi\n add $4*" #terms ", %%rcx\n"
#define OPSCOPE_TURN_PAST_ROWS_6(terms) OPSCOPE_TURN_PAST_ROWS_5(terms)
#define OPSCOPE_TURN_PAST_GROUP_5(terms) "add $20*" #terms ", %%rdi\n"
#define OPSCOPE_TURN_PAST_GROUP_6(terms) "add $24*" #terms ", %%rdi\n"
#define OPSCOPE_TURN_PAST_PAIR "add $1024, %%r8\n"
#define OPSCOPE_TURN_PAST_LIES "lea (%%r8,%%r9,8), %%r8\n lea (%%r10,%%r9,8), %%r10\n"
#define OPSCOPE_TURN_TERM_PAST_PAIR "add $128, %%r8\n"
#define OPSCOPE_TURN_TERM_PAST_LIES "add %%r9, %%r8\n"

// The last bytes of lines, where rows start within them.
#define OPSCOPE_TURN_FETCH(hint) "prefetch" hint " 60(%%rdx)\n prefetch" hint " 124(%%rdx)\n prefetch" hint " 188(%%rdx)\n prefetch" hint " 252(%%rdx)\n add %%rbx, %%rdx\n"
// A line each of three rows of the next tile, of its upper and lower half by turns, or three lines of the next group.
#define OPSCOPE_TURN_LEFT_AHEAD_ROWS "prefetcht0 (%%rsi)\n prefetcht0 (%%rsi,%%rax)\n prefetcht0 (%%rsi,%%rax,2)\n add %%r14, %%rsi\n neg %%r14\n add $64, %%r14\n"
#define OPSCOPE_TURN_LEFT_AHEAD_GROUP "prefetcht0 (%%rsi)\n prefetcht0 64(%%rsi)\n prefetcht0 128(%%rsi)\n add $192, %%rsi\n"
// Or of what follows the product, which all tiles walk through.
#define OPSCOPE_TURN_LEFT_AHEAD_NEXT OPSCOPE_TURN_LEFT_AHEAD_GROUP
#define OPSCOPE_TURN_LEFT_AHEAD_NONE ""
#define OPSCOPE_TURN_LEFT_FROM_NONE ""
#define OPSCOPE_TURN_LEFT_FROM_ROWS ""
#define OPSCOPE_TURN_LEFT_FROM_GROUP ""
#define OPSCOPE_TURN_LEFT_FROM_NEXT "mov 40(%0), %%rsi\n"
#define OPSCOPE_TURN_LEFT_TO_NONE ""
#define OPSCOPE_TURN_LEFT_TO_ROWS ""
#define OPSCOPE_TURN_LEFT_TO_GROUP ""
#define OPSCOPE_TURN_LEFT_TO_NEXT "mov %%rsi, 40(%0)\n"
#define OPSCOPE_TURN_BEGIN(op, fetch, left, a_kind, b_kind, ahead) fetch OPSCOPE_TURN_LEFT_AHEAD_##left OPSCOPE_TURN_FIRST(op, OPSCOPE_TURN_##a_kind, OPSCOPE_TURN_##b_kind, OPSCOPE_TURN_AHEAD_##ahead)
#define OPSCOPE_TURN_END(a_kind, b_kind, ahead) \
  OPSCOPE_TURN_OTHERS(OPSCOPE_TURN_##a_kind, OPSCOPE_TURN_##b_kind, OPSCOPE_TURN_AHEAD_##ahead) OPSCOPE_TURN_PAST_##a_kind(8) OPSCOPE_TURN_PAST_##b_kind "dec %%r12\n jnz 1b\n"
// The turns of a tile that stand at `count`, one and more: the first ones, and others.
#define OPSCOPE_TURN_FIRST_LOOP(count, fetch, left, a_kind, b_kind, ahead) \
  "mov " #count "(%0), %%r12\n" OPSCOPE_TURN_BEGIN("vmulps", fetch, left, a_kind, b_kind, ahead) "jmp 2f\n .p2align 6\n1:\n" OPSCOPE_TURN_BEGIN("vfmadd231ps", fetch, left, a_kind, b_kind, ahead) "2:\n" OPSCOPE_TURN_END(a_kind, b_kind, ahead)
#define OPSCOPE_TURN_LOOP(count, fetch, left, a_kind, b_kind, ahead) \
  "mov " #count "(%0), %%r12\n test %%r12, %%r12\n jz 2f\n .p2align 6\n1:\n" OPSCOPE_TURN_BEGIN("vfmadd231ps", fetch, left, a_kind, b_kind, ahead) OPSCOPE_TURN_END(a_kind, b_kind, ahead) "2:\n"

#define OPSCOPE_TURN_STORE(s0, s1, s2, s3) "vmovups %%zmm" #s0 ", (%%rdx)\n vmovups %%zmm" #s1 ", 64(%%rdx)\n vmovups %%zmm" #s2 ", 128(%%rdx)\n vmovups %%zmm" #s3 ", 192(%%rdx)\n add %%rbx, %%rdx\n"
#define OPSCOPE_TURN_ADD(s0, s1, s2, s3) \
  "vaddps (%%rdx), %%zmm" #s0 ", %%zmm" #s0 "\n vaddps 64(%%rdx), %%zmm" #s1 ", %%zmm" #s1 "\n vaddps 128(%%rdx), %%zmm" #s2 ", %%zmm" #s2 "\n vaddps 192(%%rdx), %%zmm" #s3 ", %%zmm" #s3 "\n" OPSCOPE_TURN_STORE(s0, s1, s2, s3)
#define OPSCOPE_TURN_EACH_5(F) F(8, 9, 10, 11) F(12, 13, 14, 15) F(16, 17, 18, 19) F(20, 21, 22, 23) F(24, 25, 26, 27)
#define OPSCOPE_TURN_EACH_6(F) OPSCOPE_TURN_EACH_5(F) F(28, 29, 30, 31)

#define OPSCOPE_TURNS(t, rows, left, a_kind, b_kind, ahead) \
  __asm__ volatile( \
      "mov 8(%0), %%rax\n mov 24(%0), %%r9\n lea (%%r9,%%r9,2), %%r11\n lea (%%r9,%%r9,4), %%r13\n" \
      "0: mov (%0), %%rdi\n lea (%%rdi,%%rax,2), %%rcx\n add %%rax, %%rcx\n mov 16(%0), %%r8\n lea (%%r8,%%r11), %%r10\n mov 72(%0), %%rbx\n lea (%%rax,%%rax,2), %%r14\n" \
      "mov 32(%0), %%rsi\n add %%rdi, %%rsi\n mov %%rsi, (%0)\n mov 48(%0), %%rdx\n add 56(%0), %%rdx\n cmpq $1, 128(%0)\n cmove 40(%0), %%rsi\n cmove 64(%0), %%rdx\n" OPSCOPE_TURN_LEFT_FROM_##left \
      OPSCOPE_TURN_FIRST_LOOP(96, OPSCOPE_TURN_FETCH("t0"), left, a_kind, b_kind, ahead) \
      "mov 80(%0), %%rdx\n mov 88(%0), %%rbx\n" OPSCOPE_TURN_LOOP(104, OPSCOPE_TURN_FETCH("t1"), left, a_kind, b_kind, ahead) "mov %%rdx, 80(%0)\n" \
      OPSCOPE_TURN_LOOP(112, "", left, a_kind, b_kind, ahead) \
      "mov 120(%0), %%r12\n test %%r12, %%r12\n jz 4f\n3:\n" OPSCOPE_TURN_##b_kind(0, "(%%r8)") OPSCOPE_TURN_##a_kind("vfmadd231ps", 0, "", "", "", "") \
      OPSCOPE_TURN_PAST_##a_kind(1) OPSCOPE_TURN_TERM_PAST_##b_kind "dec %%r12\n jnz 3b\n4:\n" \
      "mov 48(%0), %%rdx\n mov 72(%0), %%rbx\n cmpq $0, 136(%0)\n jne 5f\n" OPSCOPE_TURN_EACH_##rows(OPSCOPE_TURN_STORE) "jmp 6f\n5:\n" OPSCOPE_TURN_EACH_##rows(OPSCOPE_TURN_ADD) "6:\n" \
      "mov %%rdx, 48(%0)\n" OPSCOPE_TURN_LEFT_TO_##left "decq 128(%0)\n jnz 0b\n vzeroupper\n" \
      :: "r"(&(t)) \
      : "rdi", "rax", "rcx", "r8", "r9", "r10", "r11", "rsi", "rdx", "rbx", "r12", "r13", "r14", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
        "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "cc", "memory")

// How tiles meet the left operand: rows as they lie, without fetches of rows of B; with these (of packed panels instead of fetches of rows of A); rows in groups; rows,
// with what follows the product fetched instead of their next ones.
enum class Turning { rows, rows_fetched, groups, rows_before_next };

// c[ROWS * tiles x 64] = (`first`) or += kc terms (TURN_TERMS and more) of as many rows of A, five or six for each tile, times two panels of B. `behind`: what the last tile
// fetches of A (or all of them of what follows the product) and C, and rows of the panel of B that follows, of which it returns how many have been fetched.
template <int ROWS, Turning KIND, class B>
OPSCOPE_APART int64_t tiles_of_turns(const float* a, int64_t a_stride, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, int64_t tiles, const Ahead<float>& behind) {
  constexpr int64_t BYTES = sizeof(float);
  constexpr bool PAIR = requires { b.gap; };
  const int64_t turns = kc / TURN_TERMS, with_c = least(turns, ROWS), with_b = least(turns - with_c, (behind.b.rows + tiles - 1) / tiles);
  int64_t b_stride;
  if constexpr (PAIR) b_stride = b.gap;
  else b_stride = b.stride;
  Turns t{a, a_stride * BYTES, b.data, b_stride * BYTES, ROWS * a_stride * BYTES, behind.a, c, ROWS * c_stride * BYTES, behind.c, c_stride * BYTES,
          reinterpret_cast<const char*>(behind.b.start), behind.b.stride, with_c, with_b, turns - with_c - with_b, kc - turns * TURN_TERMS, tiles, !first};
#define OPSCOPE_TURNS_OF(height)                                                                                             \
  if constexpr (ROWS == height) {                                                                                            \
    if constexpr (KIND == Turning::groups && PAIR) OPSCOPE_TURNS(t, height, GROUP, GROUP_##height, PAIR, PAIR);                \
    else if constexpr (KIND == Turning::groups) OPSCOPE_TURNS(t, height, GROUP, GROUP_##height, LIES, LIES);                   \
    else if constexpr (KIND == Turning::rows_fetched && PAIR) OPSCOPE_TURNS(t, height, NONE, ROWS_##height, PAIR, PAIR);       \
    else if constexpr (KIND == Turning::rows_fetched) OPSCOPE_TURNS(t, height, ROWS, ROWS_##height, LIES, LIES);               \
    else if constexpr (PAIR) OPSCOPE_TURNS(t, height, ROWS, ROWS_##height, PAIR, NONE);                                        \
    else if constexpr (KIND == Turning::rows) OPSCOPE_TURNS(t, height, ROWS, ROWS_##height, LIES, NONE);                       \
    else OPSCOPE_TURNS(t, height, NEXT, ROWS_##height, LIES, NONE);                                                            \
  }
  OPSCOPE_TURNS_OF(5)
  OPSCOPE_TURNS_OF(6)
  return least(with_b * tiles, behind.b.rows);
}
#endif

}  // namespace
