#include "cudnn_api.h"

#include <map>

#include "search.h"
#include "vendor.h"

namespace opscope::cuda {

namespace {

const std::vector<std::string>& names() {
#ifdef _WIN32
  static const std::vector<std::string> list = {"cudnn64_9.dll", "cudnn64_8.dll"};
#else
  static const std::vector<std::string> list = {"libcudnn.so.9", "libcudnn.so.8"};
#endif
  return list;
}

CudnnTable load() {
  CudnnTable t;
  // cuDNN asks the loader for cuBLAS by its name: one that is open already is found.
  cublaslt();
  static const Library library = open_library(names());
  if (!library.found()) {
    t.missing = not_found("cuDNN", names(), "nvidia-cudnn-cu13");
    return t;
  }
  t.file = library.name();
#define OPSCOPE_LOAD(name, symbol_name, result, arguments)                                \
  t.name = reinterpret_cast<decltype(t.name)>(library.symbol(symbol_name));               \
  if (!t.name && t.missing.empty()) t.missing = "cuDNN at " + t.file + " cannot be used: it has no " symbol_name ".";
  OPSCOPE_CUDNN_FUNCTIONS(OPSCOPE_LOAD)
#undef OPSCOPE_LOAD
  return t;
}

std::string words(int status) {
  const char* text = cudnn_table().error_string(status);
  return text ? text : "status " + std::to_string(status);
}

std::vector<int> narrow(const std::vector<int64_t>& extents) {
  constexpr int64_t most = (int64_t{1} << 31) - 1;
  std::vector<int> list;
  int64_t elements = 1;
  for (const int64_t extent : extents) {
    elements *= extent;
    if (extent > most || elements > most) throw Error("unsupported", "cuDNN indexes tensors of fewer than 2^31 elements. Choose a smaller size.");
    list.push_back(static_cast<int>(extent));
  }
  return list;
}

}  // namespace

const CudnnTable& cudnn_table() {
  static const CudnnTable t = load();
  return t;
}

void* cudnn_handle(const Context& context) {
  static std::map<int, void*> handles;
  void*& handle = handles[context.traits().ordinal];
  if (!handle) {
    cudnn_must(cudnn_table().create(&handle), "it was started");
    cudnn_must(cudnn_table().set_stream(handle, context.stream()), "it was given a stream");
  }
  return handle;
}

void cudnn_must(int status, const char* doing) {
  if (status != 0) throw Error("unsupported", std::string("cuDNN does not take this case: it refused while ") + doing + ".", words(status));
}

void cudnn_ran(int status) {
  if (status != 0) throw Error("unsupported", "cuDNN refused to compute this case.", words(status));
}

int cudnn_type(Storage storage) { return storage == Storage::f16 ? 2 : storage == Storage::bf16 ? 9 : 0; }

std::shared_ptr<void> cudnn_tensor(Storage storage, const std::vector<int64_t>& extents) {
  const std::vector<int> sizes = narrow(extents);
  std::vector<int> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; i--) strides[i - 1] = strides[i] * sizes[i];
  void* made = nullptr;
  cudnn_must(cudnn_table().create_tensor(&made), "a tensor was described");
  std::shared_ptr<void> owned(made, [](void* tensor) { cudnn_table().destroy_tensor(tensor); });
  cudnn_must(cudnn_table().set_tensor(made, cudnn_type(storage), static_cast<int>(sizes.size()), sizes.data(), strides.data()), "a tensor was described");
  return owned;
}

std::shared_ptr<void> cudnn_filter(Storage storage, const std::vector<int64_t>& extents) {
  const std::vector<int> sizes = narrow(extents);
  constexpr int row_major = 0;
  void* made = nullptr;
  cudnn_must(cudnn_table().create_filter(&made), "the filters were described");
  std::shared_ptr<void> owned(made, [](void* filter) { cudnn_table().destroy_filter(filter); });
  cudnn_must(cudnn_table().set_filter(made, cudnn_type(storage), row_major, static_cast<int>(sizes.size()), sizes.data()), "the filters were described");
  return owned;
}

}  // namespace opscope::cuda
