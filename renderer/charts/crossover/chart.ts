import type { ChartUnit } from '../unit'
import { variantsOf } from '../variants'
import { findCrossovers } from './find'
import { crossoverCsv, crossoverHeight, crossoverOption, MOST_CROSSOVERS } from './option'

const METHOD = 'Times are interpolated between neighbouring sizes as power laws (straight lines of log time over log size). The interval is where the 95 % band of the difference holds zero.'

export default {
  id: 'crossover',
  title: 'Crossover',
  about: 'From which size one implementation beats another, with its interval',
  order: 70,
  controls({ all }) {
    const { variants } = variantsOf(all)
    return [{ id: 'against', label: 'Pairs', options: variants.length > 2 ? [{ value: '', title: 'Every pair' }, ...variants.map(({ id, title }) => ({ value: id, title: `with ${title}` }))] : [] }]
  },
  draw({ points, values, theme, selected, size }) {
    const { found, pairs } = findCrossovers(points, values['against'] || undefined)
    return {
      option: crossoverOption(found, theme, selected, size.width),
      height: crossoverHeight(Math.min(MOST_CROSSOVERS, found.length)),
      empty: pairs
        ? `None of ${pairs === 1 ? 'the one pair' : `the ${pairs} pairs`} changes places: whichever is faster stays so over all sizes that both measured.`
        : 'A crossover needs two implementations or backends that measured the same operation at two or more sizes.',
      ...(found.length ? { note: { text: found.length > MOST_CROSSOVERS ? `First ${MOST_CROSSOVERS} of ${found.length} crossovers` : `${found.length} ${found.length === 1 ? 'crossover' : 'crossovers'} in ${pairs} ${pairs === 1 ? 'pair' : 'pairs'}`, about: METHOD } } : {}),
      csv: () => crossoverCsv(found),
    }
  },
} satisfies ChartUnit
