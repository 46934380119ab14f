import type { RatingScale } from '../types'
import { missing, selfRated } from '../words'

/** At most so many times the time of PyTorch, and at least such a share of the bandwidth. */
const MOST_TIMES = 2
const LEAST_BANDWIDTH = 0.9

/** The two targets of the TenfloweRS tools: within 2x of PyTorch, 90 % of the bandwidth (here the measured one). What is not known is not judged. */
const scale: RatingScale = {
  id: 'tenflowers',
  title: 'TenfloweRS target',
  about: 'Within twice the time of PyTorch in this session, or 90 % of the measured copy bandwidth of the device',
  rate(subject) {
    if (selfRated(subject, 'PyTorch')) return { ok: false, reason: 'This is PyTorch, which others are rated against.' }
    const pytorchNs = subject.fastestNs('PyTorch')
    const times = pytorchNs === undefined ? undefined : subject.medianNs / pytorchNs
    const bandwidth = (subject.bandwidthShare ?? 0) >= LEAST_BANDWIDTH
    if (times === undefined && !bandwidth) return missing('PyTorch')
    const near = times !== undefined && times <= MOST_TIMES
    const met = [...(near ? [`within ${MOST_TIMES}x`] : []), ...(bandwidth ? [`${LEAST_BANDWIDTH * 100} % of bandwidth`] : [])]
    return { ok: true, text: met.join(', ') || 'missed', score: met.length }
  },
}
export default scale
