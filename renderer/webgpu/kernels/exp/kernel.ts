import { elementwise } from '../../wgsl/elementwise'

export default elementwise({ inputs: 1, expression: 'exp(a)' })
