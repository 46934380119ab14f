import type { RatingScale } from '../types'
import { missing, selfRated } from '../words'

/** Least speedup over PyTorch of each word, best first. */
const LEVELS = [[0.8, 'excellent'], [0.5, 'good'], [0.2, 'fair']] as const

/** Genesis rates the speedup over PyTorch on the same work: PyTorch's median divided by this one. */
const scale: RatingScale = {
  id: 'genesis',
  title: 'Genesis rating',
  about: 'Speedup over PyTorch in this session: excellent from 0.8, good from 0.5, fair from 0.2, else needs work',
  rate(subject) {
    if (selfRated(subject, 'PyTorch')) return { ok: false, reason: 'This is PyTorch, which others are rated against.' }
    const pytorchNs = subject.fastestNs('PyTorch')
    if (pytorchNs === undefined) return missing('PyTorch')
    const score = pytorchNs / subject.medianNs
    return { ok: true, text: LEVELS.find(([least]) => score >= least)?.[1] ?? 'needs work', score }
  },
}
export default scale
