/** How windows of a kernel lie along one axis: output o reads inputs o * stride - padding + k * dilation for k < kernel, as far as they exist. */
export interface WindowAxis {
  input: number
  kernel: number
  stride: number
  padding: number
  dilation: number
}

/** Outputs along an axis; below 1 where the kernel does not fit. */
export const outputsAlong = ({ input, kernel, stride, padding, dilation }: WindowAxis): number => Math.floor((input + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1

/** Inputs along an axis that some window reads: fewer than all where the stride is larger than the kernel. */
export function inputsTouched(axis: WindowAxis): number {
  const { input, kernel, stride, padding, dilation } = axis
  const outputs = outputsAlong(axis)
  if (dilation === 1 && stride <= kernel) return Math.min(input, (outputs - 1) * stride - padding + kernel)
  const touched = new Uint8Array(input)
  for (let o = 0; o < outputs; o++) {
    for (let k = 0; k < kernel; k++) {
      const at = o * stride - padding + k * dilation
      if (at >= 0 && at < input) touched[at] = 1
    }
  }
  return touched.reduce((sum, one) => sum + one, 0)
}

/** First and last output + 1 among `from .. to` for which kernel element `k` lies inside the input. */
export function outputsInside({ input, stride, padding, dilation }: WindowAxis, k: number, from: number, to: number): [first: number, end: number] {
  const offset = k * dilation - padding
  const first = Math.max(from, Math.ceil(-offset / stride))
  return [first, Math.max(first, Math.min(to, Math.floor((input - 1 - offset) / stride) + 1))]
}
