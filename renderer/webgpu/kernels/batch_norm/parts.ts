import { entry, header, step, storage, THREADS, widthFor, working } from '../../wgsl/header'
import { EXCHANGE, reduction, sumOf } from '../../wgsl/rows'
import { dimOf, type KernelShape, type Program } from '../types'

/** Workgroups that fill a device, vectors that are worth a workgroup, and parts of a channel whose moments a thread joins where each part has many. */
const FILLED = 1056
const LEAST_VECTORS = 1024
const MOST_JOINED = 4
const MANY_VECTORS = 4096
/** Shorter planes are read in pieces of less than half a sector of memory. */
const LEAST_PLANE = 4
/** Vectors, or single elements, of a thread that are on their way together. */
const TOGETHER = { 1: 8, 4: 4 }

/**
 * Training in two dispatches: workgroups take the sum and the squares around the mean of a part of a channel (Welford 1962); then those of
 * the same parts join them, each for itself (Chan, Golub & LeVeque 1979), and normalise. Undefined for tiny planes.
 */
export function byParts(shape: KernelShape): Program | undefined {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  if (plane < LEAST_PLANE) return undefined
  const width = widthFor(plane)
  const vectors = (batch * plane) / width
  const most = Math.max(THREADS, Math.min(MOST_JOINED * THREADS, Math.floor(vectors / MANY_VECTORS)))
  const parts = Math.max(1, Math.min(most, Math.ceil(FILLED / channels), Math.floor(vectors / LEAST_VECTORS)))
  const perPart = Math.ceil(vectors / parts)
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vector] = [storage(dtype, width), working(width)]
  const f16 = dtype === 'f16'
  const row = plane / width
  const together = Array.from({ length: TOGETHER[width] }, (_, u) => u)
  const stride = together.length * THREADS
  const joined = Array.from({ length: Math.ceil(parts / THREADS) }, (_, j) => j)
  // Vectors behind the last one are read again and dropped.
  const place = (u: number) => `  let e_${u} = min(e + ${u * THREADS}u, end - 1u); let at_${u} = (e_${u} / ${row}u * channels + channel) * ${row}u + e_${u} % ${row}u; let x_${u} = ${vector}(x[at_${u}]);`
  const common = `  let channels = dim(2u);
  let parts = dim(3u);
  let channel = group / parts;
  if (channel >= channels) { return; }
  let part = group % parts;
  let begin = min(part * dim(0u), dim(1u));
  let end = min(begin + dim(0u), dim(1u));`
  const reduce = `${EXCHANGE}${reduction('sum', THREADS, (a, b) => `${a} + ${b}`, shape.subgroups)}`
  const moments = `${header([{ name: 'x', type }, { name: 'moments', type: 'vec2<f32>', write: true }], f16, shape.subgroups !== undefined)}${reduce}
${entry(`${common}
  var seen = 0.0;
  var mean = ${vector}(0.0);
  var squares = ${vector}(0.0);
  for (var e = begin + lane; e < end; e += ${stride}u) {
${together.map(place).join('\n')}
${together.map((u) => `  if (e + ${u * THREADS}u < end) { seen += 1.0; let off = x_${u} - mean; mean += off * (1.0 / seen); squares += off * (x_${u} - mean); }`).join('\n')}
  }
  let sum = reduce_sum(seen * ${sumOf('mean', width)}, lane);
  let off = mean - ${vector}(sum / f32(${width}u * max(1u, end - begin)));
  let around = reduce_sum(${sumOf('(squares + seen * off * off)', width)}, lane);
  if (lane == 0u) { moments[group] = vec2<f32>(sum, around); }`)}`
  const normalise = `${header([{ name: 'x', type }, { name: 'weight', type: 'f32' }, { name: 'bias', type: 'f32' }, { name: 'moments', type: 'vec2<f32>' }, { name: 'out', type, write: true }, { name: 'mean_out', type: 'f32', write: true }, { name: 'rstd_out', type: 'f32', write: true }], f16, shape.subgroups !== undefined)}${reduce}
${entry(`${common}
  let factor = weight[channel];
  let shift = bias[channel];
${joined.map((j) => `  let part_${j} = lane + ${j * THREADS}u;
  let begin_${j} = min(part_${j} * dim(0u), dim(1u));
  let own_${j} = f32(${width}u * (min(begin_${j} + dim(0u), dim(1u)) - begin_${j}));
  var known_${j} = vec2<f32>(0.0);
  if (part_${j} < parts) { known_${j} = moments[channel * parts + part_${j}]; }`).join('\n')}
  let count = f32(${width}u * dim(1u));
  let mean = reduce_sum(${joined.map((j) => `known_${j}.x`).join(' + ')}, lane) / count;
  var around = 0.0;
${joined.map((j) => `  if (part_${j} < parts && own_${j} > 0.0) { let off = known_${j}.x / own_${j} - mean; around += known_${j}.y + own_${j} * off * off; }`).join('\n')}
  let rstd = inverseSqrt(reduce_sum(around, lane) / count + scalar(0u));
  if (part == 0u && lane == 0u) { mean_out[channel] = mean; rstd_out[channel] = rstd; }
  // What was read last may still be in the cache.
  for (var left = (end - begin + ${stride - 1}u) / ${stride}u; left > 0u; left--) {
    let e = begin + lane + (left - 1u) * ${stride}u;
${together.map(place).join('\n')}
${together.map((u) => `  if (e + ${u * THREADS}u < end) { out[at_${u}] = ${type}((x_${u} - mean) * (rstd * factor) + shift); }`).join('\n')}
  }`)}`
  const dims = [perPart, vectors, channels, parts]
  return {
    scratchBytes: [8 * channels * parts],
    steps: [
      step(moments, [{ input: 0 }, { scratch: 0 }], dims, channels * parts),
      step(normalise, [{ input: 0 }, { input: 1 }, { input: 2 }, { scratch: 0 }, 'output', { output: 1 }, { output: 2 }], dims, channels * parts, shape.scalars),
    ],
  }
}
