// The terms of a lower tile of four vectors in assembly (AVX-512). GCC copies some of the 24 sums in each turn: 1.7 instructions for each multiplication; here
// 1.6, with those that fetch rows of B four terms ahead: beside a thread on the same core they come too late from the second-level cache otherwise.
#pragma once
#include "tile.h"

namespace {

#if defined(OPSCOPE_ISA_avx512) && defined(__GNUC__)
#define OPSCOPE_LOWER_TURNS 1

// What the assembly reads, at these offsets in bytes; strides in bytes as well. Each turn of eight terms fetches 48 floats of A ahead, where B lies;
// the first turns also a row of C each, the next ones a row of the panel of B that follows.
struct Turns {
  const float* a;           // 0
  int64_t a_stride;         // 8
  const float* b;           // 16
  int64_t b_stride;         // 24, between rows, or between two packed panels
  const float* a_ahead;     // 32
  const float* c_ahead;     // 40
  int64_t c_stride;         // 48
  const char* b_ahead;      // 56
  int64_t b_ahead_stride;   // 64
  int64_t with_c, with_b;   // 72, 80, turns
  int64_t others;           // 88, turns
  int64_t terms;            // 96, behind the last turn
};

// Four vectors of a row of B times an element of A; `fetch`: a prefetch or nothing.
#define OPSCOPE_TURN_ROW(s0, s1, s2, s3, at, x, fetch) \
  "vbroadcastss " at ", %%zmm" #x "\n" fetch "vfmadd231ps %%zmm0, %%zmm" #x ", %" #s0 "\n vfmadd231ps %%zmm1, %%zmm" #x ", %" #s1 \
  "\n vfmadd231ps %%zmm2, %%zmm" #x ", %" #s2 "\n vfmadd231ps %%zmm3, %%zmm" #x ", %" #s3 "\n"

// f0 to f3: prefetches. Term t of rows that lie `a_stride` apart, and of a group of rows.
#define OPSCOPE_TURN_ROWS_5(t, f0, f1, f2, f3) \
  OPSCOPE_TURN_ROW(0, 1, 2, 3, "4*" #t "(%%rdi)", 4, f0) OPSCOPE_TURN_ROW(4, 5, 6, 7, "4*" #t "(%%rdi,%%rax)", 5, f1) \
  OPSCOPE_TURN_ROW(8, 9, 10, 11, "4*" #t "(%%rdi,%%rax,2)", 6, f2) OPSCOPE_TURN_ROW(12, 13, 14, 15, "4*" #t "(%%rcx)", 7, f3) \
  OPSCOPE_TURN_ROW(16, 17, 18, 19, "4*" #t "(%%rcx,%%rax)", 4, "")
#define OPSCOPE_TURN_ROWS_6(t, f0, f1, f2, f3) OPSCOPE_TURN_ROWS_5(t, f0, f1, f2, f3) OPSCOPE_TURN_ROW(20, 21, 22, 23, "4*" #t "(%%rcx,%%rax,2)", 5, "")
#define OPSCOPE_TURN_GROUP(bytes, t, f0, f1, f2, f3) \
  OPSCOPE_TURN_ROW(0, 1, 2, 3, #bytes "*" #t "(%%rdi)", 4, f0) OPSCOPE_TURN_ROW(4, 5, 6, 7, #bytes "*" #t "+4(%%rdi)", 5, f1) \
  OPSCOPE_TURN_ROW(8, 9, 10, 11, #bytes "*" #t "+8(%%rdi)", 6, f2) OPSCOPE_TURN_ROW(12, 13, 14, 15, #bytes "*" #t "+12(%%rdi)", 7, f3) \
  OPSCOPE_TURN_ROW(16, 17, 18, 19, #bytes "*" #t "+16(%%rdi)", 4, "")
#define OPSCOPE_TURN_GROUP_5(t, f0, f1, f2, f3) OPSCOPE_TURN_GROUP(20, t, f0, f1, f2, f3)
#define OPSCOPE_TURN_GROUP_6(t, f0, f1, f2, f3) OPSCOPE_TURN_GROUP(24, t, f0, f1, f2, f3) OPSCOPE_TURN_ROW(20, 21, 22, 23, "24*" #t "+20(%%rdi)", 5, "")

// Row t of B: of two packed panels, and where it lies (`at`).
#define OPSCOPE_TURN_PAIR(t, at) "vmovups 128*" #t "(%%r8), %%zmm0\n vmovups 128*" #t "+64(%%r8), %%zmm1\n vmovups 128*" #t "(%%r8,%%r9), %%zmm2\n vmovups 128*" #t "+64(%%r8,%%r9), %%zmm3\n"
#define OPSCOPE_TURN_LIES(t, at) "vmovups " at ", %%zmm0\n vmovups 64" at ", %%zmm1\n vmovups 128" at ", %%zmm2\n vmovups 192" at ", %%zmm3\n"

// Vector v of the row four terms on, at `at` where it lies.
#define OPSCOPE_TURN_AHEAD_LIES(t, at, v) "prefetcht0 64*" #v at "\n"
#define OPSCOPE_TURN_AHEAD_PAIR(t, at, v) OPSCOPE_TURN_AHEAD_PAIR_##v(t)
#define OPSCOPE_TURN_AHEAD_PAIR_0(t) "prefetcht0 128*(" #t "+4)(%%r8)\n"
#define OPSCOPE_TURN_AHEAD_PAIR_1(t) "prefetcht0 128*(" #t "+4)+64(%%r8)\n"
#define OPSCOPE_TURN_AHEAD_PAIR_2(t) "prefetcht0 128*(" #t "+4)(%%r8,%%r9)\n"
#define OPSCOPE_TURN_AHEAD_PAIR_3(t) "prefetcht0 128*(" #t "+4)+64(%%r8,%%r9)\n"
#define OPSCOPE_TURN_TERM(A, B, F, t, at, ahead) B(t, at) A(t, F(t, ahead, 0), F(t, ahead, 1), F(t, ahead, 2), F(t, ahead, 3))
// Rows of B: r9 apart, the first at r8, the fourth at r10; r11 and r13: three and five times r9.
#define OPSCOPE_TURN(A, B, F) \
  OPSCOPE_TURN_TERM(A, B, F, 0, "(%%r8)", "(%%r8,%%r9,4)") OPSCOPE_TURN_TERM(A, B, F, 1, "(%%r8,%%r9)", "(%%r10,%%r9,2)") \
  OPSCOPE_TURN_TERM(A, B, F, 2, "(%%r8,%%r9,2)", "(%%r10,%%r11)") OPSCOPE_TURN_TERM(A, B, F, 3, "(%%r10)", "(%%r10,%%r9,4)") \
  OPSCOPE_TURN_TERM(A, B, F, 4, "(%%r8,%%r9,4)", "(%%r8,%%r9,8)") OPSCOPE_TURN_TERM(A, B, F, 5, "(%%r10,%%r9,2)", "(%%r10,%%r11,2)") \
  OPSCOPE_TURN_TERM(A, B, F, 6, "(%%r10,%%r11)", "(%%r8,%%r13,2)") OPSCOPE_TURN_TERM(A, B, F, 7, "(%%r10,%%r9,4)", "(%%r10,%%r9,8)")

// `terms` terms on.
#define OPSCOPE_TURN_PAST_ROWS_5(terms) "add $4*" #terms ", %%rdi\n add $4*" #terms ", %%rcx\n"
#define OPSCOPE_TURN_PAST_ROWS_6(terms) OPSCOPE_TURN_PAST_ROWS_5(terms)
#define OPSCOPE_TURN_PAST_GROUP_5(terms) "add $20*" #terms ", %%rdi\n"
#define OPSCOPE_TURN_PAST_GROUP_6(terms) "add $24*" #terms ", %%rdi\n"
#define OPSCOPE_TURN_PAST_PAIR "add $1024, %%r8\n"
#define OPSCOPE_TURN_PAST_LIES "lea (%%r8,%%r9,8), %%r8\n lea (%%r10,%%r9,8), %%r10\n"
#define OPSCOPE_TURN_TERM_PAST_PAIR "add $128, %%r8\n"
#define OPSCOPE_TURN_TERM_PAST_LIES "add %%r9, %%r8\n"

#define OPSCOPE_TURN_FETCH(hint) "prefetch" hint " (%%rdx)\n prefetch" hint " 64(%%rdx)\n prefetch" hint " 128(%%rdx)\n prefetch" hint " 192(%%rdx)\n add %%rbx, %%rdx\n"
#define OPSCOPE_TURN_LEFT_AHEAD_PAIR ""
#define OPSCOPE_TURN_LEFT_AHEAD_LIES "prefetcht0 (%%rsi)\n prefetcht0 64(%%rsi)\n prefetcht0 128(%%rsi)\n add $192, %%rsi\n"
// As many turns as stand at `count`.
#define OPSCOPE_TURN_LOOP(count, fetch, a_kind, b_kind) \
  "mov " #count "(%24), %%r12\n test %%r12, %%r12\n jz 2f\n .p2align 6\n1:\n" fetch OPSCOPE_TURN_LEFT_AHEAD_##b_kind \
  OPSCOPE_TURN(OPSCOPE_TURN_##a_kind, OPSCOPE_TURN_##b_kind, OPSCOPE_TURN_AHEAD_##b_kind) OPSCOPE_TURN_PAST_##a_kind(8) OPSCOPE_TURN_PAST_##b_kind "dec %%r12\n jnz 1b\n2:\n"

#define OPSCOPE_TURN_ZERO(n) "vpxord %" #n ", %" #n ", %" #n "\n"
#define OPSCOPE_TURN_ZERO_4(n0, n1, n2, n3) OPSCOPE_TURN_ZERO(n0) OPSCOPE_TURN_ZERO(n1) OPSCOPE_TURN_ZERO(n2) OPSCOPE_TURN_ZERO(n3)

#define OPSCOPE_TURNS(t, sum, a_kind, b_kind) \
  __asm__ volatile( \
      "mov (%24), %%rdi\n mov 8(%24), %%rax\n lea (%%rdi,%%rax,2), %%rcx\n add %%rax, %%rcx\n" \
      "mov 16(%24), %%r8\n mov 24(%24), %%r9\n lea (%%r9,%%r9,2), %%r11\n lea (%%r8,%%r11), %%r10\n lea (%%r9,%%r9,4), %%r13\n mov 32(%24), %%rsi\n" \
      OPSCOPE_TURN_ZERO_4(0, 1, 2, 3) OPSCOPE_TURN_ZERO_4(4, 5, 6, 7) OPSCOPE_TURN_ZERO_4(8, 9, 10, 11) \
      OPSCOPE_TURN_ZERO_4(12, 13, 14, 15) OPSCOPE_TURN_ZERO_4(16, 17, 18, 19) OPSCOPE_TURN_ZERO_4(20, 21, 22, 23) \
      "mov 40(%24), %%rdx\n mov 48(%24), %%rbx\n" OPSCOPE_TURN_LOOP(72, OPSCOPE_TURN_FETCH("t0"), a_kind, b_kind) \
      "mov 56(%24), %%rdx\n mov 64(%24), %%rbx\n" OPSCOPE_TURN_LOOP(80, OPSCOPE_TURN_FETCH("t1"), a_kind, b_kind) \
      OPSCOPE_TURN_LOOP(88, "", a_kind, b_kind) \
      "mov 96(%24), %%r12\n test %%r12, %%r12\n jz 4f\n3:\n" OPSCOPE_TURN_##b_kind(0, "(%%r8)") OPSCOPE_TURN_##a_kind(0, "", "", "", "") \
      OPSCOPE_TURN_PAST_##a_kind(1) OPSCOPE_TURN_TERM_PAST_##b_kind "dec %%r12\n jnz 3b\n4:\n" \
      : "=&v"((sum)[0]), "=&v"((sum)[1]), "=&v"((sum)[2]), "=&v"((sum)[3]), "=&v"((sum)[4]), "=&v"((sum)[5]), "=&v"((sum)[6]), "=&v"((sum)[7]), \
        "=&v"((sum)[8]), "=&v"((sum)[9]), "=&v"((sum)[10]), "=&v"((sum)[11]), "=&v"((sum)[12]), "=&v"((sum)[13]), "=&v"((sum)[14]), \
        "=&v"((sum)[15]), "=&v"((sum)[16]), "=&v"((sum)[17]), "=&v"((sum)[18]), "=&v"((sum)[19]), "=&v"((sum)[20]), "=&v"((sum)[21]), \
        "=&v"((sum)[22]), "=&v"((sum)[23]) \
      : "r"(&(t)) \
      : "rdi", "rax", "rcx", "r8", "r9", "r10", "r11", "rsi", "rdx", "rbx", "r12", "r13", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc", "memory")

// c[ROWS x 64] = (`first`) or += kc terms of five or six rows of A times two panels of B, as tile_of().
template <int ROWS, bool GROUPED, class B>
OPSCOPE_APART void tile_of_turns(const float* a, int64_t a_stride, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Ahead<float>& next) {
  constexpr int64_t TERMS = 8, BYTES = sizeof(float);
  constexpr bool PAIR = requires { b.gap; };
  const int64_t turns = kc / TERMS, with_c = least(turns, ROWS), with_b = least(turns - with_c, next.b.rows);
  int64_t b_stride;
  if constexpr (PAIR) b_stride = b.gap;
  else b_stride = b.stride;
  // The last bytes of lines, where rows start within them.
  const Turns t{a, a_stride * BYTES, b.data, b_stride * BYTES, GROUPED ? a + ROWS * a_stride : next.a, next.c + LINE - 1, c_stride * BYTES,
                reinterpret_cast<const char*>(next.b.start) + (LINE - 1) * BYTES, next.b.stride, with_c, with_b, turns - with_c - with_b, kc - turns * TERMS};
  if (next.b.rows > with_b) {
    const Lines rest{next.b.start + with_b * next.b.stride, next.b.stride, next.b.rows - with_b, next.b.bytes};
    OPSCOPE_PREFETCH_LINES(rest, 0, 1);
  }
  V sum[24];
  if constexpr (GROUPED && PAIR && ROWS == 6) OPSCOPE_TURNS(t, sum, GROUP_6, PAIR);
  if constexpr (GROUPED && PAIR && ROWS == 5) OPSCOPE_TURNS(t, sum, GROUP_5, PAIR);
  if constexpr (GROUPED && !PAIR && ROWS == 6) OPSCOPE_TURNS(t, sum, GROUP_6, LIES);
  if constexpr (GROUPED && !PAIR && ROWS == 5) OPSCOPE_TURNS(t, sum, GROUP_5, LIES);
  if constexpr (!GROUPED && PAIR && ROWS == 6) OPSCOPE_TURNS(t, sum, ROWS_6, PAIR);
  if constexpr (!GROUPED && PAIR && ROWS == 5) OPSCOPE_TURNS(t, sum, ROWS_5, PAIR);
  if constexpr (!GROUPED && !PAIR && ROWS == 6) OPSCOPE_TURNS(t, sum, ROWS_6, LIES);
  if constexpr (!GROUPED && !PAIR && ROWS == 5) OPSCOPE_TURNS(t, sum, ROWS_5, LIES);
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++, c = as_computed(c + c_stride))
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) vstore(c + v * W, first ? sum[4 * i + v] : vadd(vload(c + v * W), sum[4 * i + v]));
}
#endif

}  // namespace
