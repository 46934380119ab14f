import type { RatingScale } from '../types'
import { NO_CEILINGS } from '../words'

/** gpu_efficiency of the comprehensive CUDA/Triton suite, 0 to 100; here from measured ceilings, where the suite only estimates. */
const scale: RatingScale = {
  id: 'comprehensive',
  title: 'GPU efficiency',
  about: 'Share of the binding measured ceiling from 0 to 100, on GPUs: what the CUDA/Triton suite calls gpu_efficiency',
  rate({ case: c, efficiency }) {
    if (c.device === 'cpu') return { ok: false, reason: 'This ran on the processor; the figure is of GPUs.' }
    if (efficiency === undefined) return NO_CEILINGS
    const score = Math.min(100, efficiency * 100)
    return { ok: true, text: score.toFixed(score < 10 ? 1 : 0), score }
  },
  summarize: (ratings) => `mean ${(ratings.reduce((sum, { score }) => sum + score, 0) / ratings.length).toFixed(0)} of 100 over ${ratings.length}`,
}
export default scale
