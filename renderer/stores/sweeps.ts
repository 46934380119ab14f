import { defineStore } from 'pinia'
import { computed } from 'vue'
import { renameSweep, sameSweep, withRecent, withSweep } from '@core/session/saved/sweeps'
import type { SweepSpec } from '@core/session/sweep-spec'
import { useNamedList } from '../lib/named-list'
import { useNotices } from './notices'
import { usePicks } from './picks'
import { useSettings } from './settings'

/** Plain data: what is kept must not change with the picks. */
const copyOf = (spec: SweepSpec): SweepSpec => JSON.parse(JSON.stringify(spec)) as SweepSpec

/** Sweeps under names and those run last, kept by main in the settings; `opscope run --sweep NAME` runs one. */
export const useSweeps = defineStore('sweeps', () => {
  const settings = useSettings()
  const notices = useNotices()
  const picks = usePicks()

  const list = useNamedList('savedSweeps', { word: 'sweep', renamed: renameSweep })
  const saved = list.all
  /** Sweeps run last that have no name. */
  const recent = computed<readonly SweepSpec[]>(() => (settings.values.recentSweeps ?? []).filter((spec) => !saved.value.some((one) => sameSweep(one.spec, spec))))
  /** Name of the saved sweep that the picks are; undefined where they are none. */
  const current = computed(() => (picks.spec ? saved.value.find(({ spec }) => sameSweep(spec, picks.spec!))?.name : undefined))

  /** Saves the picks under a name; one of that name is replaced. */
  function save(name: string): boolean {
    if (!picks.spec) return false
    const { suite: _, ...spec } = copyOf(picks.spec)
    return list.save(name, (before) => withSweep(before, name, spec))
  }

  /** Makes these the picks; Undo brings the picks before them back. */
  function load(spec: SweepSpec, title: string): void {
    const before = picks.spec && copyOf(picks.spec)
    picks.load(copyOf(spec))
    notices.show({ level: 'info', message: `Loaded ${title}.`, ...(before ? { undo: () => Promise.resolve(picks.load(before)) } : {}) })
  }

  /** Notes a sweep that is run. */
  const ran = (spec: SweepSpec) => settings.set({ recentSweeps: withRecent(settings.values.recentSweeps ?? [], copyOf(spec)) })

  return { saved, recent, current, save, rename: list.rename, remove: list.remove, load, ran }
})
