import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { COMPARE_AXES, type CaseFilter, type CompareAxis, type Comparison, type CompareRequest, type Facets, type FileSide, type Progress } from '@core/compare'
import type { Reply } from '@core/ipc'
import { MAX_DROPPED_BYTES } from '@core/ipc/names'
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

/** At most this many pairs are measured by one press (core/ipc/index.ts). */
const MAX_PAIRS = 2000

/** The comparison on show: sessions or open files, of which the first is the baseline, or one along an axis; and what main made of it. */
export const useComparison = defineStore('comparison', () => {
  const notices = useNotices()
  const run = useRun()
  const kind = ref<'sessions' | 'within'>('sessions')
  const ids = ref<readonly string[]>([])
  const within = ref<Within>()
  /** Files held open in main for comparing. */
  const files = ref<readonly FileSide[]>([])
  /** The subset of cases that is compared; empty: all. */
  const filter = ref<CaseFilter>({})
  /** What a subset can be made of, of the last answer: it stays while the next is on its way. */
  const facets = shallowRef<Facets>()
  const result = shallowRef<Comparison>()
  const loading = ref(false)
  const progress = ref<Progress>()
  const problem = shallowRef<unknown>()
  /** The session that resolves ambiguous pairs of this comparison, while it runs. */
  const measuring = ref<string>()
  const ready = computed(() => (kind.value === 'sessions' ? ids.value.length >= 2 : within.value !== undefined))
  let turn = 0

  const subset = () => (Object.keys(filter.value).length > 0 ? { filter: { ...filter.value } } : {})
  const request = (): CompareRequest => (kind.value === 'within' && within.value ? { ...within.value, ...subset() } : { sessionIds: [...ids.value], ...subset() })

  /** Asks anew; what is on show stays until the answer comes. */
  async function load(asked: readonly CompareRequest[] = [request()]): Promise<void> {
    const mine = ++turn
    problem.value = undefined
    progress.value = undefined
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
        facets.value = comparison.facets
        if ('axis' in one) within.value = { sessionId: one.sessionId, axis: one.axis, ...(one.baseline === undefined ? {} : { baseline: one.baseline }) }
        if (comparison.rows.length > 0) return
      }
    } catch (error) {
      if (mine !== turn) return
      problem.value = error
      result.value = undefined
    } finally {
      if (mine === turn) {
        loading.value = false
        progress.value = undefined
      }
    }
  }

  /** Gives up the comparison in progress; what was on show before stays. */
  async function cancel(): Promise<void> {
    if (!loading.value) return
    turn++
    loading.value = false
    progress.value = undefined
    if (!result.value) problem.value = new Error('The comparison was stopped.')
    await call('compare:cancel', undefined)
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
    if (within.value?.sessionId !== sessionId) filter.value = {}
    kind.value = 'within'
    within.value = { sessionId, axis: axis ?? 'impl', ...(baseline === undefined ? {} : { baseline }) }
    return load(axis ? undefined : [...COMPARE_AXES, COMPARE_AXES[0]].map((each) => ({ sessionId, axis: each, ...subset() })))
  }

  function showKind(next: 'sessions' | 'within'): void {
    if (next === kind.value) return
    kind.value = next
    filter.value = {}
    result.value = undefined
    void load()
  }

  function narrow(next: CaseFilter): Promise<void> {
    filter.value = next
    return load()
  }

  const pin = (id: string) => show([id, ...ids.value.filter((other) => other !== id)])
  const add = (id: string) => show([...ids.value, id])

  function drop(id: string): Promise<void> {
    if (files.value.some((file) => file.id === id)) {
      files.value = files.value.filter((file) => file.id !== id)
      void call('compare:forget-files', { ids: [id] })
    }
    return show(ids.value.filter((other) => other !== id))
  }

  /** Takes files that main has opened into the comparison. */
  async function take(opening: () => Promise<Reply<'compare:open-files'>>): Promise<void> {
    try {
      const { sides, problems, warnings } = await opening()
      notices.contradictions(warnings)
      if (problems.length) notices.show({ level: 'error', message: problems.length === 1 ? problems[0]! : `${problems.length} files cannot be compared.`, detail: problems.join('\n') })
      if (sides.length === 0) return
      files.value = [...files.value, ...sides]
      await show([...ids.value, ...sides.map(({ id }) => id)])
    } catch (error) {
      notices.fail(error, 'open the files')
    }
  }

  const openFiles = () => take(() => call('compare:open-files', undefined))

  /** Compares files dropped on the window without importing them. */
  async function dropFiles(dropped: readonly File[]): Promise<void> {
    const tooLarge = dropped.find((file) => file.size > MAX_DROPPED_BYTES)
    if (tooLarge) return void notices.show({ level: 'error', message: `${tooLarge.name}: larger than ${MAX_DROPPED_BYTES / 2 ** 20} MiB. Use “Open files” instead.` })
    await take(async () => call('compare:drop-files', { dropped: await Promise.all(dropped.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }))) }))
  }

  /** Cells without a clear verdict, as result ids of the baseline and the side. */
  const ambiguous = computed(() => (result.value?.rows ?? []).flatMap(({ cells }) => cells.flatMap((cell) => (cell?.verdict === 'ambiguous' && cells[0] ? [{ baseline: cells[0].resultId, side: cell.resultId }] : []))))

  const toResolve = () => (kind.value === 'within' && within.value ? { sessionId: within.value.sessionId, pairs: ambiguous.value.slice(0, MAX_PAIRS) } : undefined)

  async function resolveUnclear(): Promise<void> {
    const request = toResolve()
    if (!request) return
    try {
      measuring.value = (await call('compare:resolve', request)).sessionId
      finish()
    } catch (error) {
      notices.fail(error, 'resolve unclear cases')
    }
  }

  /** Why the ambiguous pairs cannot be measured here, in one sentence; undefined where they can. */
  async function whyNotResolved(): Promise<string | undefined> {
    const request = toResolve()
    if (!request || request.pairs.length === 0) return undefined
    try {
      return (await call('compare:can-resolve', request)).reason
    } catch {
      // What is wrong then is told when it is tried.
      return undefined
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
  listen('compare:progress', (next) => {
    if (loading.value) progress.value = next
  })

  return { kind, ids, within, files, filter, facets, result, loading, progress, problem, ready, ambiguous, measuring, show, showWithin, showKind, narrow, cancel, reload: () => load(), pin, add, drop, openFiles, dropFiles, resolveUnclear, whyNotResolved }
})
