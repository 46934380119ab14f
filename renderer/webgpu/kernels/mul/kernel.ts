import { elementwise } from '../../wgsl/elementwise'

export default elementwise({ inputs: 2, expression: 'a * b' })
