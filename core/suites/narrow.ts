import { dtypeSchema } from '../case'
import { FACETS, type Facet } from './facets'
import type { SuiteSelection } from './index'
import type { Suite, SuiteExtent } from './types'

/** Something of a suite that can be left out before it is run. */
export interface SuiteChoice {
  id: 'processor' | 'classes' | 'dtypes' | Facet | 'ops'
  title: string
  /** `value` identifies it; `text` is shown. */
  values: readonly { value: string; text: string }[]
}

/** What the user leaves out, by the id of a choice. */
export type LeftOut = Readonly<Partial<Record<SuiteChoice['id'], readonly string[]>>>

const plain = (values: readonly (string | number)[]): SuiteChoice['values'] => values.map((value) => ({ value: String(value), text: String(value) }))
const PROCESSORS = [{ value: 'cpu', text: 'CPU' }, { value: 'gpu', text: 'GPU' }] as const

/** What of a suite can be left out; a choice with one value is none. */
export function choicesOf({ processors }: Pick<Suite, 'processors'>, extent: SuiteExtent): SuiteChoice[] {
  const choices: SuiteChoice[] = [
    { id: 'processor', title: 'Processor', values: processors === 'both' ? PROCESSORS : [] },
    { id: 'classes', title: 'Size class', values: plain(Object.keys(extent.classes ?? {})) },
    { id: 'dtypes', title: 'Dtype', values: plain(extent.dtypes) },
    ...FACETS.map((facet): SuiteChoice => ({ id: facet, title: `${facet[0]!.toUpperCase()}${facet.slice(1)}`, values: plain(extent.grid?.[facet] ?? []) })),
    { id: 'ops', title: 'Operation', values: plain([...new Set(extent.ops.map(({ op }) => op))]) },
  ]
  return choices.filter(({ values }) => values.length > 1)
}

/** The part of a suite that stays, or what is wrong with the choice; an empty selection where nothing is left out. */
export function selectionWithout(choices: readonly SuiteChoice[], leftOut: LeftOut): { selection: SuiteSelection; problem?: string } {
  const kept = (id: SuiteChoice['id']): string[] | undefined => {
    const { values } = choices.find((choice) => choice.id === id) ?? { values: [] }
    const stay = values.filter(({ value }) => !leftOut[id]?.includes(value)).map(({ value }) => value)
    return stay.length === values.length ? undefined : stay
  }
  const empty = choices.find(({ id }) => kept(id)?.length === 0)
  if (empty) return { selection: {}, problem: `${empty.title}: pick at least one` }
  const [processor, classes, dtypes, ops] = [kept('processor')?.[0], kept('classes'), kept('dtypes'), kept('ops')]
  const facets = Object.fromEntries(FACETS.flatMap((facet) => {
    const values = kept(facet)
    return values ? [[facet, values.map(Number)]] : []
  }))
  return {
    selection: {
      ...(processor === 'cpu' || processor === 'gpu' ? { processor } : {}),
      ...(classes ? { classes } : {}), ...(dtypes ? { dtypes: dtypes.map((dtype) => dtypeSchema.parse(dtype)) } : {}), ...(ops ? { ops } : {}),
      ...(Object.keys(facets).length > 0 ? { facets } : {}),
    },
  }
}

/** What stays of the choices that were narrowed, in words: `batch 16, 32; dtype f16`; empty where nothing is left out. */
export const narrowingText = (choices: readonly SuiteChoice[], leftOut: LeftOut): string =>
  choices.flatMap(({ id, title, values }) => {
    const stay = values.filter(({ value }) => !leftOut[id]?.includes(value))
    return stay.length === values.length ? [] : [`${title.toLowerCase()} ${stay.map(({ text }) => text).join(', ') || 'none'}`]
  }).join('; ')
