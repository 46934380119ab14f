// Aligned, touched memory for tensors.
#pragma once
#include <cstddef>
#include <cstdint>

namespace opscope::cpu {

// Zeroed memory aligned to a page (2 MiB and backed by huge pages where the system grants them, when large).
// Pages are reserved, not touched: whoever fills the block touches it. Throws Error("out-of-memory").
class Block {
 public:
  Block() = default;
  explicit Block(size_t bytes);
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  void release();
  std::byte* data_ = nullptr;
  size_t bytes_ = 0, mapped_ = 0, whole_ = 0;  // asked for / mapped, where it was / of the block itself
};

}  // namespace opscope::cpu
