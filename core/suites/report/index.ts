import type { SweepSpec } from '../../session/sweep-spec'
import type { Ceiling } from '../../session/types'
import { FACETS, matchesFacets, type FacetFilter } from '../facets'
import type { Suite, SuiteSection } from '../types'
import { blocksParts } from './blocks'
import { launchesPart, memoryPart, occupancyPart, ratesPart } from './costs'
import { axesPart, boundsPart, classesPart, flagsPart } from './limits'
import { Material, type SuitePart, type SuiteResult } from './material'
import { crossoversPart, fastestPart, publishedPart, summaryPart, timesPart } from './speedups'

const PARTS: Readonly<Record<Exclude<SuiteSection, 'blocks'>, (material: Material) => SuitePart | undefined>> = {
  summary: summaryPart, times: timesPart, fastest: fastestPart, memory: memoryPart, crossovers: crossoversPart, classes: classesPart, axes: axesPart, bounds: boundsPart, rates: ratesPart, launches: launchesPart, occupancy: occupancyPart, flags: flagsPart,
}

/** What a report is made of besides the results. */
export interface SuiteContext {
  /** Of the machine that measured them. */
  ceilings: readonly Ceiling[]
  /** The sweep that measured them: it says which composite operations have parts among them. */
  spec?: SweepSpec
  /** Narrows the results of a suite that has a grid. */
  filter?: FacetFilter
}

/** The suite's own tables and verdicts over the results of a session. */
export function suiteReport(suite: Suite, results: readonly SuiteResult[], { ceilings, spec, filter = {} }: SuiteContext): SuitePart[] {
  const grid = spec?.grid ?? suite.full.grid
  const shown = grid && FACETS.some((facet) => filter[facet]) ? results.filter(({ case: c }) => matchesFacets(c, grid, filter)) : results
  const material = new Material(suite, shown, ceilings)
  const published = publishedPart(material)
  const parts = suite.sections.flatMap((section): (SuitePart | undefined)[] => {
    if (section === 'blocks') return blocksParts(material, spec)
    const part = PARTS[section](material)
    const about = suite.publishedAbout?.[section]
    const told = part && about !== undefined ? { ...part, text: [part.text, about].filter(Boolean).join(' ') } : part
    // Whether the published figures hold is the first question.
    return section === 'summary' ? [told, published] : [told]
  })
  return (suite.sections.includes('summary') ? parts : [published, ...parts]).filter((part) => part !== undefined)
}

export { suiteResults, type SuiteCell, type SuiteHead, type SuitePart, type SuiteResult } from './material'
export { timelineName } from './blocks'
