import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { COMPARE_AXES, type CompareAxis, type Comparison, type CompareRequest } from '@core/compare'
import { call, listen } from '../lib/api'
import { useNotices } from './notices'
import { useRun } from './run'

/** Cases of one session that differ in one axis. */
export interface Within {
  sessionId: string
  axis: CompareAxis
  /** Value that the others are compared with; the first where absent. */
  baseline?: string
}

/** At most this many pairs are measured by one press (core/ipc.ts). */
const MOST_PAIRS = 2000

/** The comparison on show: sessions, of which the first is the baseline, or one session along an axis; and what main made of it. */
export const useComparison = defineStore('comparison', () => {
  const notices = useNotices()
  const run = useRun()
  const kind = ref<'sessions' | 'within'>('sessions')
  const ids = ref<readonly string[]>([])
  const within = ref<Within>()
  const result = shallowRef<Comparison>()
  const loading = ref(false)
  const problem = shallowRef<unknown>()
  /** The session that measures ambiguous pairs of this comparison by turns, while it runs. */
  const measuring = ref<string>()
  const ready = computed(() => (kind.value === 'sessions' ? ids.value.length >= 2 : within.value !== undefined))
  let turn = 0

  const request = (): CompareRequest => (kind.value === 'within' && within.value ? { ...within.value } : { sessionIds: [...ids.value] })

  /** Asks anew; what is on show stays until the answer comes. */
  async function load(asked: readonly CompareRequest[] = [request()]): Promise<void> {
    const mine = ++turn
    problem.value = undefined
    if (!ready.value) {
      result.value = undefined
      loading.value = false
      return
    }
    loading.value = true
    try {
      for (const one of asked) {
        const comparison = await call('compare:run', one)
        if (mine !== turn) return
        result.value = comparison
        if ('axis' in one) within.value = { ...one, ...(one.baseline === undefined ? {} : { baseline: one.baseline }) } as Within
        if (comparison.rows.length > 0) return
      }
    } catch (error) {
      if (mine !== turn) return
      problem.value = error
      result.value = undefined
    } finally {
      if (mine === turn) loading.value = false
    }
  }

  function show(next: readonly string[]): Promise<void> {
    const before = kind.value === 'sessions' ? ids.value.join() : undefined
    kind.value = 'sessions'
    ids.value = [...new Set(next)]
    if (ids.value.join() !== before) result.value = undefined
    return load()
  }

  /** Without an axis the first along which the session has something to compare. */
  function showWithin(sessionId: string, axis?: CompareAxis, baseline?: string): Promise<void> {
    if (kind.value !== 'within' || within.value?.sessionId !== sessionId || (axis && within.value.axis !== axis)) result.value = undefined
    kind.value = 'within'
    within.value = { sessionId, axis: axis ?? 'impl', ...(baseline === undefined ? {} : { baseline }) }
    return load(axis ? undefined : [...COMPARE_AXES, COMPARE_AXES[0]].map((each) => ({ sessionId, axis: each })))
  }

  function showKind(next: 'sessions' | 'within'): void {
    if (next === kind.value) return
    kind.value = next
    result.value = undefined
    void load()
  }

  const pin = (id: string) => show([id, ...ids.value.filter((other) => other !== id)])
  const add = (id: string) => show([...ids.value, id])
  const drop = (id: string) => show(ids.value.filter((other) => other !== id))

  /** Cells without a clear verdict, as result ids of the baseline and the side. */
  const ambiguous = computed(() => (result.value?.rows ?? []).flatMap(({ cells }) => cells.flatMap((cell) => (cell?.verdict === 'ambiguous' && cells[0] ? [{ baseline: cells[0].resultId, side: cell.resultId }] : []))))

  async function measureMore(): Promise<void> {
    if (kind.value !== 'within' || !within.value) return
    try {
      measuring.value = (await call('compare:more', { sessionId: within.value.sessionId, pairs: ambiguous.value.slice(0, MOST_PAIRS) })).sessionId
      finish()
    } catch (error) {
      notices.fail(error, 'measure more')
    }
  }

  /** Once pairs have been measured their verdicts may be clear. */
  function finish(): void {
    if (measuring.value === undefined || run.ended?.sessionId !== measuring.value) return
    measuring.value = undefined
    void load()
  }
  watch(() => run.ended, finish)
  listen('noise:changed', () => void load())

  return { kind, ids, within, result, loading, problem, ready, ambiguous, measuring, show, showWithin, showKind, reload: () => load(), pin, add, drop, measureMore }
})
