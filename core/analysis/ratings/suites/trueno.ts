import type { RatingScale } from '../types'
import { missing, selfRated } from '../words'

/** Slower by at most this counts as within 20 %. */
const MOST_TIMES = 1.2

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
}
export default scale
