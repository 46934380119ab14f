const DECLARED = /@group\(0\) @binding\((\d+)\)\s+var<(storage, read_write|storage, read|uniform)>/g

const TYPES: Readonly<Record<string, GPUBufferBindingType>> = { 'storage, read_write': 'storage', 'storage, read': 'read-only-storage', uniform: 'uniform' }

/**
 * How the bindings 0.. of a module are used, in order. A layout made from the text keeps bindings that the code does not
 * use and can have more of them, which an automatic one cannot. Throws when the numbers leave a gap.
 */
export function bindingTypes(wgsl: string): GPUBufferBindingType[] {
  return [...wgsl.matchAll(DECLARED)].map(([, number, use], i) => {
    const type = TYPES[use ?? '']
    if (Number(number) !== i || !type) throw new Error(`the module declares binding ${number} as its ${i + 1}. one; bindings are expected in order from 0`)
    return type
  })
}
