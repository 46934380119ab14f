// What convolution_terms.cu takes beside the sizes, the same for host and device.
#pragma once

namespace opscope::cuda {

// Threads of a block, terms of a thread whose loads are on their way together.
constexpr int conv_terms_threads = 128, conv_terms_at_once = 8;

}  // namespace opscope::cuda
