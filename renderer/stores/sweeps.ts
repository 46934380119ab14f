import { defineStore } from 'pinia'
import { computed } from 'vue'
import { renameSweep, sameSweep, withRecent, withSweep, type SavedSweep } from '@core/session/saved-sweeps'
import type { SweepSpec } from '@core/session/sweep-spec'
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

  const saved = computed<readonly SavedSweep[]>(() => settings.values.savedSweeps ?? [])
  /** Sweeps run last that have no name. */
  const recent = computed<readonly SweepSpec[]>(() => (settings.values.recentSweeps ?? []).filter((spec) => !saved.value.some((one) => sameSweep(one.spec, spec))))
  /** Name of the saved sweep that the picks are; undefined where they are none. */
  const current = computed(() => (picks.spec ? saved.value.find(({ spec }) => sameSweep(spec, picks.spec!))?.name : undefined))

  /** Keeps a list, and says why where it cannot. Returns whether it could. */
  function keep(make: () => SavedSweep[]): boolean {
    try {
      settings.set({ savedSweeps: make() })
      return true
    } catch (error) {
      notices.show({ level: 'error', message: error instanceof Error ? error.message : String(error) })
      return false
    }
  }

  /** Shows what was done; Undo brings the list back as it was. */
  function tell(message: string, before: readonly SavedSweep[]): void {
    notices.show({ level: 'info', message, undo: () => Promise.resolve(settings.set({ savedSweeps: [...before] })) })
  }

  /** Saves the picks under a name; one of that name is replaced. */
  function save(name: string): boolean {
    if (!picks.spec) return false
    const before = saved.value
    const replaces = before.some((one) => one.name === name.trim())
    const { suite: _, ...spec } = copyOf(picks.spec)
    if (!keep(() => withSweep(before, name, spec))) return false
    tell(replaces ? `Replaced the saved sweep “${name.trim()}”.` : `Saved the sweep “${name.trim()}”.`, before)
    return true
  }

  function rename(from: string, to: string): boolean {
    return keep(() => renameSweep(saved.value, from, to))
  }

  function remove(name: string): void {
    const before = saved.value
    if (keep(() => before.filter((one) => one.name !== name))) tell(`Deleted the saved sweep “${name}”.`, before)
  }

  /** Makes these the picks; Undo brings the picks before them back. */
  function load(spec: SweepSpec, title: string): void {
    const before = picks.spec && copyOf(picks.spec)
    picks.load(copyOf(spec))
    notices.show({ level: 'info', message: `Loaded ${title}.`, ...(before ? { undo: () => Promise.resolve(picks.load(before)) } : {}) })
  }

  /** Notes a sweep that is run. */
  const ran = (spec: SweepSpec) => settings.set({ recentSweeps: withRecent(settings.values.recentSweeps ?? [], copyOf(spec)) })

  return { saved, recent, current, save, rename, remove, load, ran }
})
