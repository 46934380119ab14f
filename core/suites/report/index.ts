import type { Ceiling } from '../../session/types'
import { FACETS, matchesFacets, type FacetFilter } from '../facets'
import type { Suite, SuiteSection } from '../types'
import { axesPart, boundsPart, classesPart, flagsPart } from './limits'
import { Material, type SuitePart, type SuiteResult } from './material'
import { crossoversPart, fastestPart, publishedPart, summaryPart, timesPart } from './speedups'

const PARTS: Readonly<Record<SuiteSection, (material: Material) => SuitePart | undefined>> = {
  summary: summaryPart, times: timesPart, fastest: fastestPart, crossovers: crossoversPart, classes: classesPart, axes: axesPart, bounds: boundsPart, flags: flagsPart,
}

/**
 * The suite's own tables and verdicts over the results of a session. `ceilings` are those of the machine that measured it;
 * `filter` narrows the results of a suite that has a grid.
 */
export function suiteReport(suite: Suite, results: readonly SuiteResult[], ceilings: readonly Ceiling[], filter: FacetFilter = {}): SuitePart[] {
  const { grid } = suite.full
  const shown = grid && FACETS.some((facet) => filter[facet]) ? results.filter(({ case: c }) => matchesFacets(c, grid, filter)) : results
  const material = new Material(suite, shown, ceilings)
  return [...suite.sections.map((section) => PARTS[section](material)), publishedPart(material)].filter((part) => part !== undefined)
}

export { suiteResults, type SuiteCell, type SuiteHead, type SuitePart, type SuiteResult } from './material'
