#include "libraries/onednn_api.h"

#include <algorithm>

namespace opscope::cpu::onednn {

OneDnn::OneDnn() {
  if (!library.found() || !library.get("dnnl_version", version)) return;
  major = version()->major;
  const auto get = [&](const char* name, auto& function) { return library.get(name, function); };
  bool all = openmp.get("omp_set_num_threads", set_threads);
  all = all && get("dnnl_engine_create", engine_create) && get("dnnl_stream_create", stream_create) && get("dnnl_stream_wait", stream_wait) && get("dnnl_memory_create", memory_create) &&
        get("dnnl_memory_destroy", memory_destroy) && get("dnnl_primitive_create", primitive_create) && get("dnnl_primitive_destroy", primitive_destroy) &&
        get("dnnl_primitive_desc_destroy", pd_destroy) && get("dnnl_primitive_execute", execute) && get("dnnl_primitive_desc_query_md", query_md) && get("dnnl_memory_desc_equal", md_equal) &&
        get("dnnl_reorder_primitive_desc_create", reorder);
  if (major == 2) {
    all = all && get("dnnl_memory_desc_init_by_strides", md_init_strides) && get("dnnl_memory_desc_init_by_tag", md_init_tag) && get("dnnl_primitive_desc_create", pd_create) &&
          get("dnnl_matmul_desc_init", matmul_init) && get("dnnl_dilated_convolution_forward_desc_init", convolution_init) && get("dnnl_pooling_v2_forward_desc_init", pooling_init) &&
          get("dnnl_softmax_v2_forward_desc_init", softmax_init) && get("dnnl_layer_normalization_forward_desc_init", norm_init) &&
          get("dnnl_batch_normalization_forward_desc_init", batch_norm_init) && get("dnnl_eltwise_forward_desc_init", eltwise_init);
  } else {
    all = all && major == 3 && get("dnnl_memory_desc_create_with_strides", md_create_strides) && get("dnnl_memory_desc_create_with_tag", md_create_tag) &&
          get("dnnl_memory_desc_destroy", md_destroy) && get("dnnl_matmul_primitive_desc_create", matmul) && get("dnnl_convolution_forward_primitive_desc_create", convolution) &&
          get("dnnl_pooling_forward_primitive_desc_create", pooling) && get("dnnl_softmax_forward_primitive_desc_create", softmax) &&
          get("dnnl_layer_normalization_forward_primitive_desc_create", norm) && get("dnnl_batch_normalization_forward_primitive_desc_create", batch_norm) &&
          get("dnnl_eltwise_forward_primitive_desc_create", eltwise);
    get("dnnl_group_normalization_forward_primitive_desc_create", group_norm);
  }
  usable = all && engine_create(&engine, 1, 0) == 0 && stream_create(&stream, engine, 1) == 0;
}

const OneDnn& dnn() {
  static const OneDnn one;
  return one;
}

void check(Status status, const char* what) {
  if (status == 1) throw Error("out-of-memory", std::string("oneDNN has no memory for ") + what + ".");
  if (status == 3) throw Error("unsupported", std::string("oneDNN does not implement ") + what + " in this form");
  if (status != 0) throw Error("kernel-failed", std::string("oneDNN failed at ") + what, "status " + std::to_string(status));
}

Descriptor::Descriptor(const std::vector<int64_t>& dims, const std::vector<int64_t>& given, bool any) {
  Dims d{}, strides{};
  std::copy(dims.begin(), dims.end(), d.begin());
  const int n = static_cast<int>(dims.size());
  int64_t stride = 1;
  for (int i = n - 1; i >= 0; i--) {
    const auto at = static_cast<size_t>(i);
    strides[at] = given.empty() ? stride : given[at];
    stride *= std::max<int64_t>(dims[at], 1);
  }
  if (dnn().major == 2) check(any ? dnn().md_init_tag(place_.data(), n, d.data(), TYPE_F32, TAG_ANY) : dnn().md_init_strides(place_.data(), n, d.data(), TYPE_F32, strides.data()), "a tensor");
  else check(any ? dnn().md_create_tag(&made_, n, d.data(), TYPE_F32, TAG_ANY) : dnn().md_create_strides(&made_, n, d.data(), TYPE_F32, strides.data()), "a tensor");
}

Descriptor::~Descriptor() {
  if (made_) dnn().md_destroy(made_);
}

}  // namespace opscope::cpu::onednn
