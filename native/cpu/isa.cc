#include "isa.h"

#include <cstdint>
#include <cstring>
#include <fstream>

#include "hypervisor.h"
#include "x86_cpuid.h"

#if defined(__x86_64__) || defined(_M_X64)
#define OPSCOPE_X86 1
#if defined(_MSC_VER)
#include <intrin.h>
#endif
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace opscope::cpu {

#if OPSCOPE_X86
namespace {

// Register state the operating system saves on a context switch (XCR0).
uint64_t saved_state() {
  if (!(cpuid(1).c & (1u << 27))) return 0;  // OSXSAVE
#if defined(_MSC_VER)
  return _xgetbv(0);
#else
  uint32_t lo, hi;
  __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return (static_cast<uint64_t>(hi) << 32) | lo;
#endif
}

#if defined(__GNUC__)
__attribute__((target("clflushopt")))
#endif
void flush_unordered(const std::byte* from, const std::byte* end) {
  for (; from < end; from += 64) _mm_clflushopt(const_cast<std::byte*>(from));
}

std::string missing(bool processor, bool system, const char* what) {
  if (!processor) return std::string("this processor has no ") + what;
  if (!system) return std::string("the operating system does not save the registers of ") + what;
  return {};
}

}  // namespace

const std::vector<Isa>& isas() {
  static const std::vector<Isa> list = [] {
    const uint32_t top = cpuid(0).a;
    const Registers one = cpuid(1);
    const Registers seven = top >= 7 ? cpuid(7) : Registers{};
    const uint64_t saved = saved_state();
    const bool avx2 = (one.c >> 28 & 1) && (one.c >> 12 & 1) && (one.c >> 29 & 1) && (seven.b >> 5 & 1);
    const uint32_t avx512_bits = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW, VL
    const bool avx512 = avx2 && (seven.b & avx512_bits) == avx512_bits;
    const std::string no_avx2 = missing(avx2, (saved & 0x6) == 0x6, "AVX2 with FMA and F16C");
    const std::string no_avx512 = missing(avx512, (saved & 0xe6) == 0xe6, "AVX-512 (F, DQ, BW and VL)");
    return std::vector<Isa>{
        {"scalar", "Scalar", true, ""},
        {"sse2", "SSE2", true, ""},
        {"avx2", "AVX2 + FMA", no_avx2.empty(), no_avx2},
        {"avx512", "AVX-512", no_avx512.empty(), no_avx512},
    };
  }();
  return list;
}

bool multiplies_bf16_pairs() {
  static const bool has = cpuid(0).a >= 7 && cpuid(7).a >= 1 && (cpuid(7, 1).a >> 5 & 1);
  return has;
}

bool multiplies_bf16_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool has = [] {
    if (!multiplies_bf16_pairs()) return false;
    const uint32_t amx_bits = 1u << 22 | 1u << 24;  // AMX-BF16, AMX-TILE
    const uint64_t tile_state = 1u << 17 | 1u << 18;
    if ((cpuid(7).d & amx_bits) != amx_bits || (saved_state() & tile_state) != tile_state) return false;
    constexpr int REQUEST_STATE = 0x1023, TILE_DATA = 18;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, from Linux 5.16 on
    return syscall(SYS_arch_prctl, REQUEST_STATE, TILE_DATA) == 0;
  }();
  return has;
#else
  return false;
#endif
}

double clock_settles_seconds() {
  static const bool follows = [] {
    const Registers top = cpuid(0);
    const bool intel = top.b == 0x756e6547 && top.d == 0x49656e69 && top.c == 0x6c65746e;  // "GenuineIntel"
    // Cores with AVX-VNNI, from Alder Lake and Sapphire Rapids on, do not: docs/measuring.md has the measurement.
    return intel && !(top.a >= 7 && cpuid(7).a >= 1 && (cpuid(7, 1).a >> 4 & 1));
  }();
  return follows ? 0.0007 : 0;
}

std::string brand() {
  if (cpuid(0x80000000u).a < 0x80000004u) return "CPU";
  char text[49] = {};
  for (uint32_t i = 0; i < 3; i++) {
    const Registers r = cpuid(0x80000002u + i);
    std::memcpy(text + 16 * i, &r, 16);
  }
  std::string name(text);
  const size_t from = name.find_first_not_of(' ');
  if (from == std::string::npos) return "CPU";
  return name.substr(from, name.find_last_not_of(' ') - from + 1);
}

bool virtual_machine() { return cpuid(1).c >> 31 & 1; }

void denormals_off() { _mm_setcsr(_mm_getcsr() | 0x8040); }  // flush to zero, denormals are zero

void flush_lines(const std::byte* data, size_t bytes) {
  static const bool unordered = cpuid(0).a >= 7 && (cpuid(7).b >> 23 & 1);
  const std::byte* from = data - reinterpret_cast<uintptr_t>(data) % 64;
  if (unordered) flush_unordered(from, data + bytes);
  else
    for (; from < data + bytes; from += 64) _mm_clflush(from);
  _mm_mfence();
}

void relax() { _mm_pause(); }

#else

const std::vector<Isa>& isas() {
  static const std::vector<Isa> list{
      {"scalar", "Scalar", true, ""},
#if defined(__aarch64__) || defined(_M_ARM64)
      {"neon", "NEON", true, ""},
#endif
  };
  return list;
}

bool multiplies_bf16_pairs() { return false; }
bool multiplies_bf16_tiles() { return false; }
double clock_settles_seconds() { return 0; }

std::string brand() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && (line.starts_with("model name") || line.starts_with("Model"))) return line.substr(colon + 2);
  }
  return "CPU";
}

bool virtual_machine() { return system_names_hypervisor(); }

void denormals_off() {
#if defined(__aarch64__)
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | (1ull << 24)));
#endif
}

void flush_lines(const std::byte* data, size_t bytes) {
#if defined(__aarch64__) && defined(__linux__)
  const auto end = reinterpret_cast<uintptr_t>(data) + bytes;
  // Lines are 64 bytes or more; a larger line is only flushed several times.
  for (uintptr_t line = reinterpret_cast<uintptr_t>(data) / 64 * 64; line < end; line += 64) __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
  __asm__ volatile("dsb ish" ::: "memory");
#else
  (void)data;
  (void)bytes;
#endif
}

void relax() {
#if defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif

}  // namespace opscope::cpu

extern "C" bool opscope_multiplies_byte_quads() {
#if OPSCOPE_X86
  static const bool has = opscope::cpu::cpuid(0).a >= 7 && (opscope::cpu::cpuid(7).c >> 11 & 1);
  return has;
#else
  return false;
#endif
}
