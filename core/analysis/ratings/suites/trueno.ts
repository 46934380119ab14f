import type { RatingScale } from '../types'
import { missing, selfRated } from '../words'

/** Slower by at most this counts as within 20 %. */
const MOST_TIMES = 1.2

/** Share of a suite that must be within it. */
const LEAST_SHARE = 0.8

/** Trueno's success rule for an operation: within 20 % of NumPy. (For the suite: at least 80 % of the operations.) */
const scale: RatingScale = {
  id: 'trueno',
  title: 'Trueno rule',
  about: 'Time against NumPy in this session: faster, within 20 %, or slower than that',
  rate(subject) {
    if (selfRated(subject, 'NumPy')) return { ok: false, reason: 'This is NumPy, which others are rated against.' }
    const numpyNs = subject.fastestNs('NumPy')
    if (numpyNs === undefined) return missing('NumPy')
    const times = subject.medianNs / numpyNs
    return { ok: true, text: times < 1 ? 'faster' : times <= MOST_TIMES ? 'within 20 %' : 'slower', score: 1 / times }
  },
  summarize(ratings) {
    const near = ratings.filter(({ text }) => text !== 'slower').length
    return `${near} of ${ratings.length} within 20 % of NumPy: rule of ${LEAST_SHARE * 100} % ${near >= LEAST_SHARE * ratings.length ? 'met' : 'missed'}`
  },
}
export default scale
