import { describe, expect, it } from 'vitest'
import { OPS } from './registry'
import { searchOps } from './search'

const found = (search: string) => searchOps(search).flatMap(({ ops }) => ops.map(({ id }) => id))

describe('the search for operations', () => {
  it('finds every operation for nothing, by family', () => {
    expect(found('')).toEqual(OPS.map(({ id }) => id))
    expect(found('normalization')).toEqual(OPS.filter(({ family }) => family === 'normalization').map(({ id }) => id))
  })

  it.each([
    ['nn.functional.softmax', 'softmax'], ['F.layer_norm', 'layer_norm'], ['torch.nn.functional.gelu', 'gelu'], ['nn.functional.log_softmax', 'log_softmax'],
    ['torch.softmax', 'softmax'], ['linalg.vector_norm', 'norm_l2'], ['layer norm', 'layer_norm'], ['SCALED dot', 'scaled_dot_product_attention'],
  ])('finds %j', (search, op) => {
    expect(found(search)).toContain(op)
  })

  it('needs every word, and finds nothing rather than something else', () => {
    expect(found('norm backward')).not.toContain('layer_norm')
    expect(found('norm backward')).toContain('layer_norm_backward')
    expect(found('zebra')).toEqual([])
  })
})
