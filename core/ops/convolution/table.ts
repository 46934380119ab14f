import type { Params } from '../../case'
import { defineOp, divisorUpTo } from '../define'
import { conv1d, conv2d, conv3d, type SizeForm } from '../forms'
import { accumulated } from '../tolerance'
import { inputsTouched, type WindowAxis } from '../windows'
import { asProduct, filterSize, outputExtents, referenceRange, type Convolution } from './reference'

/** An axis that a convolution of fewer dimensions does not have. */
const NONE: WindowAxis = { input: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 }

/** What the convolutions differ in. */
interface Dimensions {
  id: string
  title: string
  size: SizeForm
  /** How many of depth, height and width there are, counted from the last. */
  axes: 1 | 2 | 3
  geometry(p: Readonly<Record<string, number>>): Convolution['axes']
}

/** The axes of a convolution: neighbouring outputs `stride` apart, kernel elements `dilation` apart. */
const DIMENSIONS: readonly Dimensions[] = [
  {
    id: 'conv1d', title: 'Convolution of signals', size: conv1d, axes: 1,
    geometry: (p) => [NONE, NONE, { input: p['length']!, kernel: p['kernel']!, stride: p['stride']!, padding: p['padding']!, dilation: p['dilation']! }],
  },
  {
    id: 'conv2d', title: 'Convolution of images', size: conv2d, axes: 2,
    geometry: (p) => [
      NONE,
      { input: p['height']!, kernel: p['kernelHeight']!, stride: p['stride']!, padding: p['paddingHeight']!, dilation: p['dilation']! },
      { input: p['width']!, kernel: p['kernelWidth']!, stride: p['stride']!, padding: p['paddingWidth']!, dilation: p['dilation']! },
    ],
  },
  {
    id: 'conv3d', title: 'Convolution of volumes', size: conv3d, axes: 3,
    geometry: (p) => {
      const axis = (input: number): WindowAxis => ({ input, kernel: p['kernel']!, stride: p['stride']!, padding: p['padding']!, dilation: p['dilation']! })
      return [axis(p['depth']!), axis(p['height']!), axis(p['width']!)]
    },
  },
]

/**
 * out[n, f, o] = sum over c and k of x[n, c, o * stride - padding + k * dilation] * weight[f, c, k], zero outside x, where c runs over
 * the channels of the filter's group and o and k over one to three axes. x [batch, channels, spatial], weight
 * [filters, channels / groups, kernel], out [batch, filters, spatial]; row-major, accumulated in f32, no bias.
 * PyTorch: torch.nn.functional.conv2d(x, weight, None, stride, padding, dilation, groups).
 *
 * dims, the same for all three with extent 1 (padding 0, stride and dilation 1) for the axes that there are not:
 *   [batch, channels, filters, groups, stride, dilation, then depth, height, width each of: input, kernel, padding, output].
 * Operations: 2 * outputs * (channels / groups) * kernel elements, those of the padding counted too.
 */
function convolution({ id, title, size, axes, geometry }: Dimensions) {
  const of = (p: Params): Convolution => {
    const numbers = p as Readonly<Record<string, number>>
    return { batch: numbers['batch']!, channels: numbers['channels']!, filters: numbers['filters']!, groups: numbers['groups']!, axes: geometry(numbers) }
  }
  const outputs = (c: Convolution) => c.batch * c.filters * outputExtents(c).reduce((a, b) => a * b, 1)
  return defineOp({
    id,
    family: 'convolution',
    summary: title,
    torch: `F.${id}(x, weight, None, stride, padding, dilation, groups)`,
    size,
    refuse: (p) => {
      const c = of(p)
      for (const [name, extent] of [['channels', c.channels], ['filters', c.filters]] as const) if (extent % c.groups !== 0) return `groups (${c.groups}) must divide ${name} (${extent})`
      const extents = outputExtents(c)
      const at = extents.findIndex((extent) => extent < 1)
      if (at < 0) return undefined
      const { input, kernel, padding, dilation } = c.axes[at]!
      return `no output: a kernel of ${kernel} with dilation ${dilation} spans ${dilation * (kernel - 1) + 1} elements, the input with padding has ${input + 2 * padding}`
    },
    dtypes: ['f32', 'f16', 'bf16', 'tf32'],
    tensors: (p, dtype) => {
      const c = of(p)
      const spatial = c.axes.slice(-axes)
      const bytes = dtype === 'f16' || dtype === 'bf16' ? 2 : 4
      return [
        {
          name: 'x', shape: [c.batch, c.channels, ...spatial.map(({ input }) => input)], role: 'in', fill: { kind: 'normal', scale: 1 },
          leastBytes: c.batch * c.channels * spatial.reduce((product, axis) => product * inputsTouched(axis), bytes),
        },
        { name: 'weight', shape: [c.filters, c.channels / c.groups, ...spatial.map(({ kernel }) => kernel)], role: 'in', fill: { kind: 'normal', scale: 1 } },
        { name: 'out', shape: [c.batch, c.filters, ...outputExtents(c).slice(-axes)], role: 'out' },
      ]
    },
    dims: (p) => {
      const c = of(p)
      const extents = outputExtents(c)
      const { stride, dilation } = c.axes[2]
      return [c.batch, c.channels, c.filters, c.groups, stride, dilation, ...c.axes.flatMap(({ input, kernel, padding }, i) => [input, kernel, padding, extents[i]!])]
    },
    flops: (p) => 2 * outputs(of(p)) * filterSize(of(p)),
    unit: (dtype) => (dtype === 'f32' ? 'vector' : 'matrix'),
    // Neighbours in a row share their reads of x and weight.
    granule: (p) => divisorUpTo(outputExtents(of(p))[2], 64),
    referenceCost: (p) => filterSize(of(p)),
    // Besides the products, every row of x and weight is generated, at about four units an element.
    referenceCostAlone: (p) => {
      const c = of(p)
      const [depth, height, width] = c.axes
      const run = divisorUpTo(outputExtents(c)[2], 64)
      const rowElements = (run - 1) * width.stride + width.kernel * width.dilation
      return filterSize(c) * (1 + 4 / run) + (4 * (c.channels / c.groups) * depth.kernel * height.kernel * rowElements) / run
    },
    reference: (p, read, start, count) => referenceRange(of(p), read, start, count),
    product: (p) => asProduct(of(p)),
    tolerance: (p, dtype) => accumulated(dtype, filterSize(of(p))),
    // Standard deviation of a sum of products of unit normals, where no padding is met.
    outputScale: (p) => Math.sqrt(filterSize(of(p))),
  })
}

export default DIMENSIONS.map(convolution)
