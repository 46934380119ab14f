#include "block.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "fence.h"
#include "prepared.h"

#if defined(__linux__)
#include <sys/mman.h>
#elif defined(_WIN32)
#include <malloc.h>
#endif

namespace opscope::cpu {

namespace {

// Which addresses are equal modulo a page is then up to who lays tensors out, not the allocator's luck.
constexpr size_t PAGE = 4096;
constexpr size_t HUGE_PAGE = size_t{2} << 20;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

[[noreturn]] void fail(size_t bytes) {
  throw Error("out-of-memory", "The system gave no memory for " + std::to_string(bytes) + " bytes.");
}

}  // namespace

Block::Block(size_t bytes) : bytes_(bytes) {
#if defined(__linux__)
  if (bytes >= HUGE_PAGE) {
    // One page more than asked for, so that an aligned start can be cut out.
    mapped_ = round_up(bytes, HUGE_PAGE) + HUGE_PAGE;
    void* base = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) fail(bytes);
    const auto start = reinterpret_cast<uintptr_t>(base);
    const uintptr_t aligned = round_up(start, HUGE_PAGE);
    if (aligned > start) munmap(base, aligned - start);
    mapped_ -= aligned - start;
    data_ = reinterpret_cast<std::byte*>(aligned);
    whole_ = mapped_;
    forbid(data_ + bytes, whole_ - bytes);
    madvise(data_, mapped_, MADV_HUGEPAGE);  // a wish: without it the case is slower, not wrong
    return;
  }
#endif
  const size_t size = round_up(bytes > 0 ? bytes : 1, PAGE);
#if defined(_WIN32)
  data_ = static_cast<std::byte*>(_aligned_malloc(size, PAGE));
#else
  data_ = static_cast<std::byte*>(std::aligned_alloc(PAGE, size));
#endif
  if (!data_) fail(bytes);
  std::memset(data_, 0, size);
  whole_ = size;
  forbid(data_ + bytes, whole_ - bytes);
}

Block::Block(Block&& other) noexcept { *this = std::move(other); }

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    mapped_ = std::exchange(other.mapped_, 0);
    whole_ = std::exchange(other.whole_, 0);
  }
  return *this;
}

Block::~Block() { release(); }

void Block::release() {
  if (!data_) return;
  allow(data_, whole_);
#if defined(__linux__)
  if (mapped_ > 0) {
    munmap(data_, mapped_);
    data_ = nullptr;
    return;
  }
#endif
#if defined(_WIN32)
  _aligned_free(data_);
#else
  std::free(data_);
#endif
  data_ = nullptr;
}

}  // namespace opscope::cpu
