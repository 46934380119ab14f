#include <algorithm>

#include "plan.h"
#include "rows/few.h"

namespace opscope::cuda {

namespace {

// dims: [batch, channels, plane, training]; scalars: [eps].
std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const int64_t n = d[0] * d[1] * d[2];
  const auto each = [&](Role role) { return TensorShape{d[1], role, Storage::f32}; };
  if (d[3] == 0) return {in(n), each(Role::in), each(Role::in), each(Role::in), each(Role::in), out(n)};
  return {in(n), each(Role::in), each(Role::in), out(n), each(Role::out), each(Role::out)};
}

// Elements of a channel that one block reads twice, the second time from a cache, sooner than two launches do.
constexpr int64_t most_of_block = 16384;

// Blocks for a channel that take whole images, a power of two, 1 where one is enough; 0 where a cluster holds no channel.
int64_t channel_blocks(const Traits& device, int64_t batch, int64_t channels, int64_t plane) {
  const int64_t most = device.major >= 9 ? 8 : 1;
  int64_t blocks = 1;
  while (blocks < most && blocks * 2 <= batch && (ceil_div(batch, blocks) * plane > most_of_block || (channels * blocks < device.sm_count && ceil_div(batch, blocks) * plane > 1024))) blocks *= 2;
  // Every block has an image.
  while (blocks > 1 && ceil_div(batch, ceil_div(batch, blocks)) != blocks) blocks /= 2;
  return ceil_div(batch, blocks) * plane <= most_of_block ? blocks : 0;
}

// Elements up to which inference has a thread for each.
constexpr int64_t few_inferred = int64_t{1} << 15;

// Few elements (batch_norm_few.cu). Whether they are.
bool plan_few(Planner& p, int64_t batch, int64_t channels, int64_t plane, bool training, float eps) {
  const auto whole = [](int64_t n) { return static_cast<int>(n); };
  const std::string name = "batch_norm_few_" + p.dtype();
  const int64_t count = batch * plane, n = count * channels;
  if (!training) {
    if (n > few_inferred) return false;
    const FewRows a = {{p.input(0), p.input(1), p.input(2)}, p.output(), {p.input(3), p.input(4)}, whole(n), 0, 0, eps, 0.0f, whole(channels), 0, divide_by(channels), divide_by(plane)};
    p.launch(p.kernel_in("batch_norm_few", name + "_each"), {ceil_div(n, 256)}, 256, 0, a);
    return true;
  }
  const FewLaunch s = few_shape(p.device.sm_count, channels, count);
  if (!s.taken) return false;
  const FewRows a = {{p.input(0), p.input(1), p.input(2)}, p.output(), {p.output(1), p.output(2)}, whole(channels), whole(count), s.log2, eps, 1.0f / static_cast<float>(count), whole((channels - 1) * plane),
                     whole(plane), {}, divide_by(plane)};
  p.launch(p.kernel_in("batch_norm_few", name + (s.blocks_each ? "_block" : "_lanes")), {s.blocks}, s.threads, 0, a);
  return true;
}

void plan(Planner& p) {
  const auto batch = static_cast<long long>(p.dim(0)), channels = static_cast<long long>(p.dim(1)), plane = static_cast<long long>(p.dim(2));
  const long long count = batch * plane, n = count * channels;
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const auto eps = static_cast<float>(p.scalar(0));
  const int training = p.dim(3) != 0;
  if (plan_few(p, batch, channels, plane, training != 0, eps)) return;
  const std::string name = "batch_norm_" + p.dtype();
  const bool by_warps = count <= 8192 && plane >= 32 && channels >= p.device.sm_count * 8;
  if (const int64_t blocks = training && !by_warps ? channel_blocks(p.device, batch, channels, plane) : 0) {
    const auto images = static_cast<long long>(ceil_div(batch, blocks));
    // A vector for each thread of an image.
    int group = 1;
    while (group < 256 && group * 2 * lanes <= plane) group *= 2;
    p.launch(p.kernel(name + "_cluster"), {channels * blocks}, 256, 0, p.input(0), p.input(1), p.input(2), p.output(), p.output(1), p.output(2), channels, plane, batch, images, group, static_cast<int>(blocks), eps)
        .cluster(static_cast<unsigned>(blocks));
    return;
  }
  if (training) {
    const int64_t wanted = std::clamp<int64_t>(std::min(ceil_div(int64_t{p.device.sm_count} * 8, channels), ceil_div(count, 4096)), 1, 1024);
    const auto part = static_cast<long long>(ceil_div(ceil_div(count, wanted), 8) * 8);
    const auto parts = static_cast<int>(ceil_div(count, part));
    const CUdeviceptr moments = p.workspace(channels * parts * 12);
    // Many channels of few elements, which lie in pieces that a warp can read.
    if (parts == 1 && by_warps)
      p.launch(p.kernel(name + "_channels"), {ceil_div(channels, 8)}, 256, 0, p.input(0), moments, channels, plane, count);
    else
      p.launch(p.kernel(name + "_part"), {channels * parts}, 256, 0, p.input(0), moments, channels, plane, count, part, parts);
    p.launch(p.kernel("batch_norm_join"), {ceil_div(channels, 8)}, 256, 0, moments, p.output(1), p.output(2), channels, parts, eps);
  }
  const CUdeviceptr mean = training ? p.output(1) : p.input(3), spread = training ? p.output(2) : p.input(4);
  p.launch(p.kernel(name + "_apply"), {ceil_div(ceil_div(n, lanes), 256)}, 256, 0, p.input(0), p.input(1), p.input(2), mean, spread, p.output(), channels, plane, n, eps, training);
}

const Register registered({"batch_norm", real_dtypes, {4}, tensors, plan, 1});

}  // namespace

}  // namespace opscope::cuda
