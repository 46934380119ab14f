import type { LibraryOp, OnnxNode } from './types'

/** Element types of onnx.proto's TensorProto.DataType. */
const TYPES = { float32: 1, int32: 6, int64: 7 } as const
type ElementType = keyof typeof TYPES

const IR_VERSION = 10
const OPSET = 21

function varint(value: number): number[] {
  // Negative numbers are 64-bit two's complement.
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes: number[] = []
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest > 0n ? low | 0x80 : low)
  } while (rest > 0n)
  return bytes
}

const UTF8 = new TextEncoder()
/** A field of protocol buffers: a number, or bytes with their length. */
const number = (field: number, value: number): number[] => [...varint(field << 3), ...varint(value)]
const bytes = (field: number, content: Iterable<number>): number[] => {
  const all = [...content]
  return [...varint((field << 3) | 2), ...varint(all.length), ...all]
}
const text = (field: number, value: string): number[] => bytes(field, UTF8.encode(value))
const floatBytes = (value: number): Uint8Array => new Uint8Array(Float32Array.of(value).buffer)

function attribute(name: string, value: NonNullable<OnnxNode['attributes']>[string]): number[] {
  const kind = (type: number) => number(20, type)
  if (typeof value === 'number') return [...text(1, name), ...number(3, value), ...kind(2)]
  if (typeof value === 'string') return [...text(1, name), ...text(4, value), ...kind(3)]
  if ('float' in value) return [...text(1, name), ...varint((2 << 3) | 5), ...floatBytes(value.float), ...kind(1)]
  return [...text(1, name), ...value.flatMap((one) => number(8, one)), ...kind(7)]
}

function constant(name: string, value: NonNullable<OnnxNode['constants']>[number]): number[] {
  if ('float' in value) return [...number(2, TYPES.float32), ...text(8, name), ...bytes(9, floatBytes(value.float))]
  const whole = new Uint8Array(BigInt64Array.from(value.int64, BigInt).buffer)
  return [...number(1, value.int64.length), ...number(2, TYPES.int64), ...text(8, name), ...bytes(9, whole)]
}

const valueInfo = (name: string, type: ElementType, shape: readonly number[]): number[] => {
  const extents = shape.flatMap((extent) => bytes(1, number(1, extent)))
  return [...text(1, name), ...bytes(2, bytes(1, [...number(1, TYPES[type]), ...bytes(2, extents)]))]
}

/** Shape and type of an input or output of a model. */
export interface ModelTensor {
  shape: readonly number[]
  type: 'float32' | 'int32'
}

/** An ONNX file of one node: inputs `x0`, `x1`, ... and the output `y` (onnx.proto, IR version 10, operator set 21, and ONNX Runtime's own where the node is one of its operators). */
export function onnxModel({ type, domain, inputs: order, attributes = {}, constants = [] }: OnnxNode, inputs: readonly ModelTensor[], output: ModelTensor): Uint8Array {
  const names = inputs.map((_, i) => `x${i}`)
  const fixed = constants.map((_, i) => `c${i}`)
  const used = order?.map((at) => names[at]!) ?? names
  const made = [...[...used, ...fixed].flatMap((name) => text(1, name)), ...text(2, 'y'), ...text(4, type), ...Object.entries(attributes).flatMap(([name, value]) => bytes(5, attribute(name, value))), ...(domain ? text(7, domain) : [])]
  const graph = [
    ...bytes(1, made), ...text(2, 'case'),
    ...constants.flatMap((value, i) => bytes(5, constant(fixed[i]!, value))),
    ...inputs.flatMap((tensor, i) => bytes(11, valueInfo(names[i]!, tensor.type, tensor.shape))),
    ...bytes(12, valueInfo('y', output.type, output.shape)),
  ]
  return Uint8Array.from([...number(1, IR_VERSION), ...bytes(7, graph), ...bytes(8, [...text(1, ''), ...number(2, OPSET)]), ...(domain ? bytes(8, [...text(1, domain), ...number(2, 1)]) : [])])
}

/** Whether ONNX has the op. */
export const hasOnnx = (op: LibraryOp): boolean => op.onnx !== undefined
