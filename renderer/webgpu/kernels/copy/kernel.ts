import { elementwise } from '../../wgsl/elementwise'

export default elementwise({ inputs: 1, expression: 'a', raw: true })
