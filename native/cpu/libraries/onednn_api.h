// The functions of oneDNN that are called, found at run time. Versions 2.6 and 3 differ in how primitives are described: by structs that
// are initialised (2), or by a function for each primitive (3). Both take memory descriptors by pointer, which is all that is used of them.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "libraries/libraries.h"

namespace opscope::cpu::onednn {

using Handle = void*;            // engine, stream, memory, primitive and its descriptor
using Md = const void*;          // memory descriptor
using Dims = std::array<int64_t, 12>;
using Status = int;

// dnnl_types.h
constexpr int TRAINING = 64, FORWARD = 96, CONVOLUTION_DIRECT = 1, POOL_MAX = 0x1ff, POOL_AVG = 0x2ff, SOFTMAX = 0x30000, LOG_SOFTMAX = 0x30001;
constexpr int SRC = 1, WEIGHTS = 33, DST = 17, MEAN = 49, VARIANCE = 50, SCALE = 51, SHIFT = 52, QUERY_SRC = 129, QUERY_WEIGHTS = 131, QUERY_DST = 133;
constexpr int TAG_ANY = 1, TYPE_F32 = 3;
constexpr unsigned GLOBAL_STATISTICS = 1;

inline const Handle ALLOCATE = reinterpret_cast<Handle>(~uintptr_t{0});

struct Argument {
  int arg;
  Handle memory;
};

struct Version {
  int major, minor, patch;
};

// An operation descriptor of version 2 is at most 6 KB, a memory descriptor 0.7 KB.
using OpStruct = std::array<std::max_align_t, 1024>;
using MdStruct = std::array<std::max_align_t, 128>;

struct OneDnn {
  Library library = open_named("OPSCOPE_ONEDNN", {"libdnnl.so.3", "libdnnl.so.2"});
  Library openmp = open_named("OPSCOPE_OPENMP", {"libgomp.so.1"});
  void (*set_threads)(int) = nullptr;
  const Version* (*version)() = nullptr;
  Status (*engine_create)(Handle*, int, size_t) = nullptr;
  Status (*stream_create)(Handle*, Handle, unsigned) = nullptr;
  Status (*stream_wait)(Handle) = nullptr;
  Status (*memory_create)(Handle*, Md, Handle, void*) = nullptr;
  Status (*memory_destroy)(Handle) = nullptr;
  Status (*primitive_create)(Handle*, Handle) = nullptr;
  Status (*primitive_destroy)(Handle) = nullptr;
  Status (*pd_destroy)(Handle) = nullptr;
  Status (*execute)(Handle, Handle, int, const Argument*) = nullptr;
  Md (*query_md)(Handle, int, int) = nullptr;
  int (*md_equal)(Md, Md) = nullptr;
  Status (*reorder)(Handle*, Md, Handle, Md, Handle, Handle) = nullptr;
  // Version 2
  Status (*md_init_strides)(void*, int, const int64_t*, int, const int64_t*) = nullptr;
  Status (*md_init_tag)(void*, int, const int64_t*, int, int) = nullptr;
  Status (*pd_create)(Handle*, const void*, Handle, Handle, Handle) = nullptr;
  Status (*matmul_init)(void*, Md, Md, Md, Md) = nullptr;
  Status (*convolution_init)(void*, int, int, Md, Md, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*) = nullptr;
  Status (*pooling_init)(void*, int, int, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*, const int64_t*) = nullptr;
  Status (*softmax_init)(void*, int, int, Md, Md, int) = nullptr;
  Status (*norm_init)(void*, int, Md, Md, float, unsigned) = nullptr;
  Status (*batch_norm_init)(void*, int, Md, float, unsigned) = nullptr;
  Status (*eltwise_init)(void*, int, int, Md, float, float) = nullptr;
  // Version 3
  Status (*md_create_strides)(void**, int, const int64_t*, int, const int64_t*) = nullptr;
  Status (*md_create_tag)(void**, int, const int64_t*, int, int) = nullptr;
  Status (*md_destroy)(void*) = nullptr;
  Status (*matmul)(Handle*, Handle, Md, Md, Md, Md, Handle) = nullptr;
  Status (*convolution)(Handle*, Handle, int, int, Md, Md, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*, Handle) = nullptr;
  Status (*pooling)(Handle*, Handle, int, int, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*, const int64_t*, Handle) = nullptr;
  Status (*softmax)(Handle*, Handle, int, int, Md, Md, int, Handle) = nullptr;
  Status (*norm)(Handle*, Handle, int, Md, Md, Md, float, unsigned, Handle) = nullptr;
  Status (*batch_norm)(Handle*, Handle, int, Md, Md, float, unsigned, Handle) = nullptr;
  Status (*group_norm)(Handle*, Handle, int, Md, Md, int64_t, float, unsigned, Handle) = nullptr;  // null before version 3.3
  Status (*eltwise)(Handle*, Handle, int, int, Md, Md, float, float, Handle) = nullptr;

  bool usable = false;
  int major = 0;
  Handle engine = nullptr, stream = nullptr;
  // The numbers that the versions do not share.
  unsigned scale_and_shift() const { return major == 2 ? 8 | 16 : 2 | 4; }
  int linear() const { return major == 2 ? 0x7f : 0x26; }
  int power() const { return major == 2 ? 0x20 : 0x30; }

  OneDnn();
};

// What is found here, looked for once.
const OneDnn& dnn();

// Throws Error for a status that is not success.
void check(Status status, const char* what);

// The description of a tensor of floats.
class Descriptor {
 public:
  // Row-major, or with these strides; `any`: in whatever layout the primitive prefers.
  explicit Descriptor(const std::vector<int64_t>& dims, const std::vector<int64_t>& given = {}, bool any = false);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Md get() const { return made_ ? made_ : place_.data(); }

 private:
  MdStruct place_{};
  void* made_ = nullptr;
};

}  // namespace opscope::cpu::onednn
