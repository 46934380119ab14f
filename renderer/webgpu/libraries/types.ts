import type { KernelShape } from '../kernels/types'

/** A tensor of TensorFlow.js: what is used of it here. */
export interface TfTensor {
  readonly dataId: object
  dispose(): void
}

/** The functions of TensorFlow.js that the table calls, by name. */
export type Tf = Readonly<Record<string, (...values: unknown[]) => TfTensor>>

/** One node of an ONNX graph. */
export interface OnnxNode {
  type: string
  /** Of operators that ONNX Runtime adds to those of ONNX. */
  domain?: 'com.microsoft'
  /** Its inputs among those of the op, by number; all in order where absent. */
  inputs?: readonly number[]
  /** Whole numbers and lists of them become INT and INTS, other numbers (`{ float }`) FLOAT, texts STRING. */
  attributes?: Readonly<Record<string, number | readonly number[] | string | { float: number }>>
  /** Constant inputs behind those of the op. */
  constants?: readonly ({ int64: readonly number[] } | { float: number })[]
}

/** How web libraries compute an op of ours; undefined from a function where they have no such variant. */
export interface LibraryOp {
  /** Shapes of the inputs and of the output, as views of our tensors. */
  shapes(shape: KernelShape): { inputs: readonly (readonly number[])[]; output: readonly number[] } | undefined
  /** The node of ONNX's operator set 21. */
  onnx?: (shape: KernelShape) => OnnxNode | undefined
  /** The call of TensorFlow.js, its results being the outputs of the op in order; undefined where it has no such variant. */
  tf?: (tf: Tf, inputs: readonly TfTensor[], shape: KernelShape) => TfTensor | readonly TfTensor[] | undefined
}

/** A case of a library: its call, whatever that takes beside the kernels. */
export interface LibraryCase {
  /** One call through the library's interface; resolves once its commands are in the queue. */
  call(): Promise<void>
  /** The buffers that the last call wrote, where the library does not write to the one it was given. */
  outputs?: () => readonly GPUBuffer[]
  /** Frees what the library holds, except those buffers. */
  dispose(): Promise<void>
}

/** What a library is given: buffers of the inputs and the output, each with its shape and type. */
export interface LibraryProblem {
  shape: KernelShape
  op: LibraryOp
  inputs: readonly { buffer: GPUBuffer; shape: readonly number[]; type: 'float32' | 'int32' }[]
  output: { buffer: GPUBuffer; shape: readonly number[]; type: 'float32' | 'int32' }
}

/** A web library that computes on WebGPU, installed by the user beside the app. */
export interface Library {
  /** `impl` of its cases. */
  id: string
  title: string
  /** npm packages that it is made of. */
  packages: readonly string[]
  /** Whether it computes this op. */
  has(op: LibraryOp): boolean
  /** Prepares a case on this device. `address` is the folder of a package as a URL. */
  open(device: GPUDevice, problem: LibraryProblem, address: (name: string) => string): Promise<LibraryCase>
}
