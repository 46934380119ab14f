import { expect, it } from 'vitest'
import { onnxModel } from './onnx-model'

type Field = { field: number; value: number | Uint8Array }

/** The fields of a message of protocol buffers. */
function parse(bytes: Uint8Array): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(BigInt.asIntN(64, value))
    }
  }
  while (at < bytes.length) {
    const key = varint()
    const wire = key & 7
    const length = wire === 2 ? varint() : wire === 5 ? 4 : 0
    fields.push({ field: key >> 3, value: wire === 0 ? varint() : bytes.subarray(at, at + length) })
    at += length
  }
  return fields
}

const all = (fields: Field[], field: number) => fields.filter((one) => one.field === field).map(({ value }) => value)
const inside = (fields: Field[], field: number) => all(fields, field).map((value) => parse(value as Uint8Array))
const text = (value: number | Uint8Array | undefined) => new TextDecoder().decode(value as Uint8Array)

it('writes a model of one node with its attributes, constants and shapes', () => {
  const model = parse(onnxModel({ type: 'LayerNormalization', attributes: { axis: -1, epsilon: { float: 0.5 }, pads: [1, 300], mode: 'x' }, constants: [{ int64: [2, -1] }] }, [{ shape: [3, 1000], type: 'float32' }, { shape: [1000], type: 'int32' }], { shape: [3, 1000], type: 'float32' }))
  const [graph] = inside(model, 7)
  const [node] = inside(graph!, 1)
  expect([all(node!, 1).map(text), all(node!, 2).map(text), text(all(node!, 4)[0])]).toEqual([['x0', 'x1', 'c0'], ['y'], 'LayerNormalization'])
  const attributes = Object.fromEntries(inside(node!, 5).map((one) => [text(all(one, 1)[0]), one]))
  expect(all(attributes['axis']!, 3)).toEqual([-1])
  expect(new Float32Array(Uint8Array.from(all(attributes['epsilon']!, 2)[0] as Uint8Array).buffer)[0]).toBe(0.5)
  expect(all(attributes['pads']!, 8)).toEqual([1, 300])
  expect(text(all(attributes['mode']!, 4)[0])).toBe('x')
  const [constant] = inside(graph!, 5)
  expect([all(constant!, 1), all(constant!, 2)]).toEqual([[2], [7]])
  expect([...new BigInt64Array(Uint8Array.from(all(constant!, 9)[0] as Uint8Array).buffer)]).toEqual([2n, -1n])
  const tensors = inside(graph!, 11).map((info) => parse(all(parse(all(info, 2)[0] as Uint8Array), 1)[0] as Uint8Array))
  expect(tensors.map((tensor) => [all(tensor, 1)[0], inside(parse(all(tensor, 2)[0] as Uint8Array), 1).map((extent) => all(extent, 1)[0])])).toEqual([[1, [3, 1000]], [6, [1000]]])
})

it('names operators that ONNX Runtime adds, and the inputs in the order of the node', () => {
  const x = { shape: [3], type: 'float32' } as const
  const model = parse(onnxModel({ type: 'QuickGelu', domain: 'com.microsoft', inputs: [1, 0] }, [x, x], x))
  const [node] = inside(inside(model, 7)[0]!, 1)
  expect([all(node!, 1).map(text), text(all(node!, 7)[0])]).toEqual([['x1', 'x0'], 'com.microsoft'])
  expect(inside(model, 8).map((set) => [text(all(set, 1)[0]), all(set, 2)[0]])).toEqual([['', 21], ['com.microsoft', 1]])
})
